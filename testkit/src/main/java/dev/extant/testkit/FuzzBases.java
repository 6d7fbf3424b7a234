package dev.extant.testkit;

import dev.extant.block.RamDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/// Small images of many layouts, each with a tree that has something of everything, in memory: made
/// by a formatter, and by mke2fs where that is. Those with a journal are as a crash leaves them,
/// with transactions to replay and with orphans.
public final class FuzzBases {
  /// An undamaged image.
  public record Base(String name, RamDevice device) {}

  private record Layout(String options, String size, int names) {}

  private static final Instant TIME = Instant.ofEpochSecond(1_750_000_000);
  private static final MountOptions OPTIONS =
      MountOptions.builder()
          .clock(InstantSource.fixed(TIME))
          .commitIntervalSeconds(0)
          .cacheBytes(4 << 20)
          .build();

  private static final List<Layout> MKE2FS =
      List.of(
          new Layout("-t ext2 -b 1024 -I 128", "2M", 40),
          new Layout("-t ext3 -b 1024 -I 128 -J size=1", "4M", 40),
          new Layout("-t ext4 -b 1024 -J size=1", "4M", 60),
          new Layout("-t ext4 -b 1024 -O ^metadata_csum,^64bit -J size=1", "4M", 60),
          new Layout("-t ext4 -b 1024 -O ^metadata_csum,uninit_bg,^has_journal -g 1024", "3M", 40),
          new Layout("-t ext4 -b 1024 -O inline_data,^has_journal -I 256", "2M", 40),
          new Layout("-t ext4 -b 1024 -O bigalloc,^has_journal -C 4096", "3M", 40),
          new Layout("-t ext4 -b 1024 -O meta_bg,^resize_inode,^has_journal -g 512", "3M", 40),
          new Layout("-t ext4 -b 1024 -O ea_inode,^has_journal", "2M", 40),
          new Layout("-t ext4 -b 1024 -O orphan_file -J size=1", "4M", 40),
          new Layout("-t ext4 -b 1024 -O mmp,^has_journal", "2M", 10),
          new Layout("-t ext4 -b 1024 -O large_dir,^has_journal -N 1024", "3M", 450),
          new Layout("-t ext4 -b 4096 -O ^has_journal -I 1024", "4M", 60));

  private final DeviceFormatter formatter;
  private final DeviceOpener opener;

  public FuzzBases(DeviceFormatter formatter, DeviceOpener opener) {
    this.formatter = formatter;
    this.opener = opener;
  }

  /// Makes them all; `folder` is for images of mke2fs.
  public List<Base> make(Path folder) throws IOException {
    List<Base> bases = new ArrayList<>();
    bases.add(made("ext2", "dir_index"));
    for (String type : List.of("ext3", "ext4")) {
      bases.add(made(type, "dir_index"));
      bases.add(made(type, "^metadata_csum,^64bit"));
    }
    if (Oracles.find("mke2fs").isPresent()) {
      for (Layout layout : MKE2FS) {
        Path image = folder.resolve("base.img");
        Mke2fs.make(image, layout.options + " -E hash_seed=" + new UUID(5, 6), layout.size);
        bases.add(new Base(layout.options, filled(Mke2fs.load(image), layout.names)));
        Files.delete(image);
      }
    }
    return bases;
  }

  /// One made by the formatter, in two groups.
  Base made(String type, String features) throws IOException {
    RamDevice device = new RamDevice("fuzz", 4 << 20);
    formatter.format(device, type, features);
    return new Base("formatted " + type + " " + features, filled(device, 50));
  }

  /// Fills the file system on the device. With a journal, more changes are in its log only.
  private RamDevice filled(RamDevice device, int names) throws IOException {
    try (Volume volume = mount(device);
        Node root = volume.root()) {
      new Tree(volume).fill(root, names);
    }
    if (!hasJournal(device)) {
      return device;
    }
    RamDevice crashed = new RamDevice("fuzz", device.sizeBytes());
    try (Volume volume = mount(device);
        Node root = volume.root()) {
      new Tree(volume).change(root);
      crashed.memory().copyFrom(device.memory());
    }
    device.close();
    return crashed;
  }

  private Volume mount(RamDevice device) throws IOException {
    return opener.open(DelegatingDevice.withoutClose(device), OPTIONS);
  }

  private static boolean hasJournal(RamDevice device) {
    MemorySegment superblock = device.memory().asSlice(Superblock.OFFSET, Superblock.SIZE);
    return Superblock.features(superblock).has(Feature.HAS_JOURNAL);
  }

  /// Puts something of everything into a volume.
  private static final class Tree {
    private static final NewFile FILE = new NewFile(0644, 1000, 1000);
    private static final String LONG = "x".repeat(150);

    private final Volume volume;

    Tree(Volume volume) {
      this.volume = volume;
    }

    void fill(Node root, int names) throws FsException {
      try (Node many = volume.mkdir(root, FileName.of("many"), FILE)) {
        for (int i = 0; i < names; i++) {
          volume.create(many, FileName.of("name-" + i + "-" + LONG), FILE).close();
        }
      }
      try (Node deep = volume.mkdir(root, FileName.of("deep"), FILE);
          Node deeper = volume.mkdir(deep, FileName.of("er"), FILE);
          Node hello = file(deeper, "hello", 20)) {
        volume.link(hello, root, FileName.of("hard"));
        attribute(deep, "user.small", 20);
      }
      try (Node large = file(root, "large", 60_000);
          Node sparse = file(root, "sparse", 10)) {
        attribute(large, "user.big", 600);
        attribute(sparse, "user.big", 600);
        attribute(sparse, "user.small", 30);
        for (int i = 1; i < 40; i++) {
          volume.write(sparse, i * 9000L, MemorySegment.ofArray(new byte[] {1, 2, 3}));
        }
        volume.write(sparse, 70_000_000L, MemorySegment.ofArray(new byte[] {4}));
      }
      volume
          .symlink(root, FileName.of("short"), "large".getBytes(StandardCharsets.US_ASCII), FILE)
          .close();
      volume
          .symlink(root, FileName.of("long"), LONG.getBytes(StandardCharsets.US_ASCII), FILE)
          .close();
      volume.mknod(root, FileName.of("pipe"), FileType.FIFO, 0, FILE).close();
    }

    /// Several transactions, one of which revokes blocks, and two orphans.
    void change(Node root) throws FsException {
      volume.mkdir(root, FileName.of("freed"), FILE).close();
      orphan(root, "gone", 30_000);
      volume.sync();
      volume.rmdir(root, FileName.of("freed"));
      orphan(root, "gone-too", 2000);
      file(root, "new", 3000).close();
      volume.sync();
      volume.unlink(root, FileName.of("short"));
      volume.sync();
    }

    private Node file(Node directory, String name, int sizeBytes) throws FsException {
      Node file = volume.create(directory, FileName.of(name), FILE);
      byte[] bytes = new byte[sizeBytes];
      Arrays.fill(bytes, (byte) 'a');
      volume.write(file, 0, MemorySegment.ofArray(bytes));
      return file;
    }

    /// The node is left open, so that the image has an orphan until the volume is closed.
    private void orphan(Node root, String name, int sizeBytes) throws FsException {
      file(root, name, sizeBytes);
      volume.unlink(root, FileName.of(name));
    }

    private void attribute(Node node, String name, int sizeBytes) throws FsException {
      try {
        volume.setXattr(node, XattrName.of(name), new byte[sizeBytes], XattrMode.SET);
      } catch (FsException e) {
        if (e.errno() != Errno.ENOSPC && e.errno() != Errno.EOPNOTSUPP) {
          throw e;
        }
      }
    }
  }
}
