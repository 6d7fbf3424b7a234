package dev.extant.ext4;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;

/// Random operations on a few names that everybody uses, so that most of them meet others under
/// way. What they find can be anything, but every record in a file is one that somebody wrote.
final class StressTree {
  /// What others may be the cause of at any time.
  private static final Set<Errno> USUAL =
      EnumSet.of(
          Errno.ENOENT,
          Errno.EEXIST,
          Errno.ENOTEMPTY,
          Errno.ENOTDIR,
          Errno.EISDIR,
          Errno.EINVAL,
          Errno.EPERM,
          Errno.ENOSPC,
          Errno.EMLINK);

  private static final int RECORD_BYTES = 32;
  private static final int LARGEST_BYTES = 64 << 10;
  private static final NewFile OWNER = new NewFile(0755, 0, 0);

  private final Volume volume;

  StressTree(Volume volume) {
    this.volume = volume;
  }

  /// A directory that is there, or was a moment ago; the caller closes it.
  Node directory(SplittableRandom random) throws FsException {
    Node at = volume.root();
    for (int depth = random.nextInt(4); depth > 0; depth--) {
      Node next;
      try {
        next = volume.lookup(at, directoryName(random));
      } catch (FsException e) {
        requireUsual(e);
        break;
      }
      at.close();
      at = next;
    }
    return at;
  }

  private static FileName directoryName(SplittableRandom random) {
    return FileName.of("d" + random.nextInt(5));
  }

  private static FileName fileName(SplittableRandom random) {
    int number = random.nextInt(12);
    return FileName.of("f" + number + "-".repeat(number * 20));
  }

  void operate(SplittableRandom random) throws FsException {
    try (Node directory = directory(random)) {
      try {
        switch (random.nextInt(16)) {
          case 0, 1 -> volume.mkdir(directory, directoryName(random), OWNER).close();
          case 2 -> volume.rmdir(directory, directoryName(random));
          case 3, 4, 5 -> moveDirectory(directory, random);
          case 6 -> volume.create(directory, fileName(random), OWNER).close();
          case 7, 8 -> volume.unlink(directory, fileName(random));
          case 9, 10 -> moveFile(directory, random);
          case 11 -> link(directory, random);
          case 12 -> symlink(directory, random);
          case 13 -> list(directory);
          default -> change(directory, random);
        }
      } catch (FsException e) {
        requireUsual(e);
      }
    }
  }

  private static void requireUsual(FsException e) throws FsException {
    if (!USUAL.contains(e.errno())) {
      throw e;
    }
  }

  private void moveDirectory(Node from, SplittableRandom random) throws FsException {
    RenameMode mode = RenameMode.values()[random.nextInt(3)];
    FileName name = directoryName(random);
    if (random.nextInt(3) == 0) {
      volume.rename(from, name, from, directoryName(random), mode);
      return;
    }
    try (Node to = directory(random)) {
      volume.rename(from, name, to, directoryName(random), mode);
    }
  }

  private void moveFile(Node from, SplittableRandom random) throws FsException {
    RenameMode mode = RenameMode.values()[random.nextInt(3)];
    try (Node to = directory(random)) {
      volume.rename(from, fileName(random), to, fileName(random), mode);
    }
  }

  private void link(Node from, SplittableRandom random) throws FsException {
    try (Node file = volume.lookup(from, fileName(random));
        Node to = directory(random)) {
      volume.link(file, to, fileName(random));
    }
  }

  private void symlink(Node directory, SplittableRandom random) throws FsException {
    byte[] target = "t".repeat(1 + random.nextInt(120)).getBytes();
    try (Node link = volume.symlink(directory, fileName(random), target, OWNER)) {
      if (volume.readlink(link).length != target.length) {
        throw new AssertionError("inode " + link.ino() + " has another target");
      }
    }
  }

  private void list(Node directory) throws FsException {
    long[] last = new long[1];
    volume.readDirectory(
        directory,
        0,
        (name, ino, type, cookie) -> {
          if (cookie == last[0]) {
            throw new AssertionError("cookie " + cookie + " comes twice");
          }
          last[0] = cookie;
          return true;
        });
  }

  private void change(Node directory, SplittableRandom random) throws FsException {
    try (Node file = volume.lookup(directory, fileName(random))) {
      if (file.type() != FileType.REGULAR) {
        return;
      }
      switch (random.nextInt(6)) {
        case 0 -> volume.append(file, records(random));
        case 1 -> volume.truncate(file, aligned(random));
        case 2 -> volume.fsync(file, random.nextBoolean()).join();
        case 3 -> check(file);
        default -> volume.write(file, aligned(random), records(random));
      }
      if (volume.attributes(file).sizeBytes() > 2 * LARGEST_BYTES) {
        volume.truncate(file, LARGEST_BYTES);
      }
    }
  }

  private static long aligned(SplittableRandom random) {
    return (long) random.nextInt(LARGEST_BYTES / RECORD_BYTES) * RECORD_BYTES;
  }

  private static MemorySegment records(SplittableRandom random) {
    int count = 1 + random.nextInt(200);
    ByteBuffer bytes = ByteBuffer.allocate(count * RECORD_BYTES);
    for (int i = 0; i < count; i++) {
      long some = random.nextLong();
      bytes.putLong(some).putLong(~some).putLong(mixed(some)).putLong(~mixed(some));
    }
    return MemorySegment.ofArray(bytes.array());
  }

  private static long mixed(long some) {
    return some * 0x9E37_79B9_7F4A_7C15L;
  }

  /// Every record of the file is whole, or a hole.
  void check(Node file) throws FsException {
    byte[] bytes = new byte[4 * LARGEST_BYTES];
    int count = volume.read(file, 0, MemorySegment.ofArray(bytes));
    ByteBuffer records = ByteBuffer.wrap(bytes, 0, count);
    while (records.remaining() >= RECORD_BYTES) {
      int at = records.position();
      long some = records.getLong();
      long complement = records.getLong();
      long mixed = records.getLong();
      long mixedComplement = records.getLong();
      boolean hole = (some | complement | mixed | mixedComplement) == 0;
      if (!hole
          && (complement != ~some || mixed != mixed(some) || mixedComplement != ~mixed(some))) {
        throw new AssertionError("inode " + file.ino() + " has a strange record at " + at);
      }
    }
  }
}
