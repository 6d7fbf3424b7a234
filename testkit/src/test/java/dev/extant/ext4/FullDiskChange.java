package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// A change for [FullDiskTest], most of which need blocks, and the files that they change.
enum FullDiskChange {
  CREATE_IN_A_FULL_DIRECTORY("directory/new" + "x".repeat(200)),
  CREATE_IN_A_FULL_LEAF("index/"),
  CREATE_AGAIN("again"),
  MKDIR("made"),
  MKNOD("fifo"),
  SYMLINK("link"),
  LINK("directory/link" + "x".repeat(200)),
  RENAME("directory/moved" + "x".repeat(200)),
  REPLACE("victim2"),
  WRITE("small"),
  APPEND("small"),
  SPARSE_WRITE("small"),
  WRITE_MANY("small"),
  FOURTH_EXTENT("fragmented"),
  FULL_NODE("deep"),
  XATTR("small"),
  TRUNCATE("deep"),
  GROW("small"),
  PUNCH("deep"),
  ALLOCATE("small"),
  ZERO_RANGE("deep"),
  INSERT("deep"),
  COLLAPSE("deep"),
  CHMOD("small");

  /// Those that need an inode each.
  static final List<FullDiskChange> MAKING = List.of(CREATE_AGAIN, MKDIR, MKNOD, SYMLINK);

  private static final int BLOCK_BYTES = 1024;
  private static final NewFile OWNER = new NewFile(0644, 0, 0);

  /// Extents of a file of which one more does not fit into one block of 1 KiB.
  private static final int DEEP_EXTENTS = 84;

  private final String path;

  FullDiskChange(String path) {
    this.path = path;
  }

  private static String indexed(int number) {
    return "name" + number + "-".repeat(60);
  }

  private static byte[] bytes(int count, char value) {
    byte[] bytes = new byte[count];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private static Node make(Volume volume, Node root, String name, int count) throws FsException {
    Node file = volume.create(root, FileName.of(name), OWNER);
    if (count > 0) {
      volume.append(file, MemorySegment.ofArray(bytes(count, 'o')));
    }
    return file;
  }

  /// How many names there can be in the directory `index` before a leaf is split.
  static int namesBeforeSplit(Volume volume) throws FsException {
    try (Node root = volume.root();
        Node index = volume.mkdir(root, FileName.of("index"), OWNER)) {
      int grown = 0;
      for (int i = 1; ; i++) {
        long size = volume.attributes(index).sizeBytes();
        volume.create(index, FileName.of(indexed(i)), OWNER).close();
        grown += volume.attributes(index).sizeBytes() > size ? 1 : 0;
        if (grown == 3) {
          return i - 1;
        }
      }
    }
  }

  static void prepare(Volume volume, int names) throws FsException {
    try (Node root = volume.root();
        Node directory = volume.mkdir(root, FileName.of("directory"), OWNER);
        Node index = volume.mkdir(root, FileName.of("index"), OWNER)) {
      for (int i = 0; i < 4; i++) {
        volume.mknod(directory, FileName.of(i + "x".repeat(200)), FileType.FIFO, 0, OWNER).close();
      }
      for (int i = 1; i <= names; i++) {
        volume.mknod(index, FileName.of(indexed(i)), FileType.FIFO, 0, OWNER).close();
      }
      make(volume, root, "small", 1000).close();
      make(volume, root, "victim", 6 * BLOCK_BYTES).close();
      make(volume, root, "victim2", 3 * BLOCK_BYTES).close();
      try (Node fragmented = make(volume, root, "fragmented", BLOCK_BYTES);
          Node deep = make(volume, root, "deep", 5 * BLOCK_BYTES)) {
        byte[] block = bytes(BLOCK_BYTES, 'o');
        for (int i = 1; i < 4; i++) {
          volume.write(fragmented, 20L * i * BLOCK_BYTES, MemorySegment.ofArray(block));
        }
        for (int i = 1; i < DEEP_EXTENTS; i++) {
          volume.write(deep, 20L * i * BLOCK_BYTES, MemorySegment.ofArray(block));
        }
      }
    }
  }

  static void removeAll(Volume volume, Node directory) throws FsException {
    List<FileName> names = new ArrayList<>();
    volume.readDirectory(directory, 0, (name, ino, type, cookie) -> names.add(name));
    for (FileName name : names) {
      if (name.isDot() || name.isDotDot() || name.toString().equals("lost+found")) {
        continue;
      }
      try (Node node = volume.lookup(directory, name)) {
        if (node.type() == FileType.DIRECTORY) {
          removeAll(volume, node);
          volume.rmdir(directory, name);
        } else {
          volume.unlink(directory, name);
        }
      }
    }
  }

  /// What does not fit may have given the file a part of the blocks.
  boolean keepsPart() {
    return this == ALLOCATE || this == ZERO_RANGE;
  }

  /// Does it; false if it was refused for want of space. A part of a write counts as refused, after
  /// which the file is cut off where it was.
  boolean fits(Volume volume, Node root) throws FsException {
    try {
      return run(volume, root);
    } catch (FsException e) {
      if (e.errno() == Errno.EOPNOTSUPP && ranges()) {
        // The file has block pointers.
        return true;
      }
      assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.ENOSPC);
      return false;
    }
  }

  private boolean ranges() {
    return this == ALLOCATE || this == ZERO_RANGE || this == INSERT || this == COLLAPSE;
  }

  private boolean run(Volume volume, Node root) throws FsException {
    try (Node directory = directory(volume, root)) {
      FileName name = name(volume, directory, 1);
      switch (this) {
        case CREATE_IN_A_FULL_DIRECTORY, CREATE_IN_A_FULL_LEAF, CREATE_AGAIN ->
            volume.create(directory, name, OWNER).close();
        case MKDIR -> volume.mkdir(directory, name, OWNER).close();
        case MKNOD -> volume.mknod(directory, name, FileType.FIFO, 0, OWNER).close();
        case SYMLINK -> volume.symlink(directory, name, bytes(300, 't'), OWNER).close();
        case LINK -> {
          try (Node target = volume.lookup(root, FileName.of("small"))) {
            volume.link(target, directory, name);
          }
        }
        case RENAME ->
            volume.rename(root, FileName.of("small"), directory, name, RenameMode.NO_REPLACE);
        case REPLACE ->
            volume.rename(root, FileName.of("small"), directory, name, RenameMode.REPLACE);
        default -> {
          try (Node file = volume.lookup(directory, name)) {
            return change(volume, file);
          }
        }
      }
    }
    return true;
  }

  /// In the indexed directory the `next` one behind those that are there.
  private FileName name(Volume volume, Node directory, int next) throws FsException {
    if (this != CREATE_IN_A_FULL_LEAF) {
      return FileName.of(path.substring(path.indexOf('/') + 1));
    }
    int[] entries = {0};
    volume.readDirectory(
        directory,
        0,
        (name, ino, type, cookie) -> {
          entries[0]++;
          return true;
        });
    return FileName.of(indexed(entries[0] - 2 + next));
  }

  private Node directory(Volume volume, Node root) throws FsException {
    int slash = path.indexOf('/');
    return slash < 0 ? root.retain() : volume.lookup(root, FileName.of(path.substring(0, slash)));
  }

  private boolean change(Volume volume, Node file) throws FsException {
    // Inside the deep file's first extent, of whole clusters.
    long inside = BLOCK_BYTES;
    switch (this) {
      case WRITE -> {
        return write(volume, file, 1000, bytes(2 * BLOCK_BYTES, 'n'));
      }
      case APPEND ->
          assertThat(volume.append(file, MemorySegment.ofArray(bytes(2 * BLOCK_BYTES, 'n'))))
              .isEqualTo(1000);
      case SPARSE_WRITE -> {
        return write(volume, file, 300L * BLOCK_BYTES, bytes(10, 'n'));
      }
      case WRITE_MANY -> {
        return write(volume, file, 1000, bytes(12 * BLOCK_BYTES, 'n'));
      }
      case FOURTH_EXTENT -> {
        return write(volume, file, 100L * BLOCK_BYTES, bytes(BLOCK_BYTES, 'n'));
      }
      case FULL_NODE -> {
        return write(volume, file, 20L * DEEP_EXTENTS * BLOCK_BYTES, bytes(BLOCK_BYTES, 'n'));
      }
      case XATTR ->
          volume.setXattr(file, XattrName.of("user.note"), bytes(400, 'v'), XattrMode.SET);
      case TRUNCATE -> volume.truncate(file, 3L * BLOCK_BYTES - 100);
      case GROW -> volume.truncate(file, 100L * BLOCK_BYTES);
      case PUNCH -> volume.allocate(file, AllocateMode.PUNCH_HOLE, inside, BLOCK_BYTES);
      case ALLOCATE -> volume.allocate(file, AllocateMode.ALLOCATE, 0, 10L * BLOCK_BYTES);
      case ZERO_RANGE -> volume.allocate(file, AllocateMode.ZERO_RANGE, inside, BLOCK_BYTES);
      case INSERT ->
          volume.allocate(file, AllocateMode.INSERT_RANGE, 16L * BLOCK_BYTES, 16L * BLOCK_BYTES);
      case COLLAPSE ->
          volume.allocate(file, AllocateMode.COLLAPSE_RANGE, 16L * BLOCK_BYTES, 16L * BLOCK_BYTES);
      case CHMOD -> volume.setAttributes(file, AttributeChange.permissions(0600));
      default -> throw new AssertionError(this);
    }
    return true;
  }

  private static boolean write(Volume volume, Node file, long offset, byte[] bytes)
      throws FsException {
    long size = volume.attributes(file).sizeBytes();
    int written = volume.write(file, offset, MemorySegment.ofArray(bytes));
    assertThat(written).isBetween(1, bytes.length);
    if (written < bytes.length) {
      byte[] found = new byte[written];
      volume.read(file, offset, MemorySegment.ofArray(found));
      assertThat(found).isEqualTo(Arrays.copyOf(bytes, written));
      volume.truncate(file, size);
    }
    return written == bytes.length;
  }

  /// That it was done.
  void check(Volume volume, Node root, String what) throws FsException {
    try (Node directory = directory(volume, root);
        Node node = volume.lookup(directory, name(volume, directory, 0))) {
      if (this == APPEND || this == WRITE || this == WRITE_MANY) {
        byte[] found = new byte[1001];
        assertThat(volume.read(node, 0, MemorySegment.ofArray(found))).as(what).isEqualTo(1001);
        assertThat(found[999]).as(what).isEqualTo((byte) 'o');
        assertThat(found[1000]).as(what).isEqualTo((byte) 'n');
      }
      if (this == XATTR) {
        assertThat(volume.xattr(node, XattrName.of("user.note"))).as(what).hasSize(400);
      }
    }
  }
}
