package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RamDevice;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckProgress;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.TreeSnapshot;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Every kind of change on a disk with so few free blocks or inodes that it may just not fit: it
/// works, or it says ENOSPC and has changed nothing; removing always works and gives the space
/// back.
///
/// `extant.free` is the most free blocks that are tried one by one.
class FullDiskTest {
  private static final int MOST_FREE = Integer.getInteger("extant.free", 3);
  private static final int BLOCK_BYTES = 1024;
  private static final NewFile OWNER = new NewFile(0644, 0, 0);
  private static final UUID HASH_SEED = new UUID(1, 2);

  @ParameterizedTest
  @CsvSource({
    // MiB, inode size, features, mount options, how many kinds must have been refused
    "4, 256, extent, defaults, 16",
    "4, 128, '^extent,^64bit,^metadata_csum', defaults, 13",
    "4, 256, '^has_journal', defaults, 16",
    "4, 256, '^flex_bg,^orphan_file', 'data=journal', 15",
    "4, 256, inline_data, defaults, 12",
    "6, 256, bigalloc, defaults, 8"
  })
  void everyChangeFitsOrChangesNothing(
      int mebibytes, int inodeBytes, String features, String mountOptions, int kindsRefused)
      throws IOException {
    MountOptions options = MountOptions.parse(mountOptions);
    try (RamDevice device = new RamDevice("ram", (long) mebibytes << 20)) {
      Mkfs.make(device, mkfsOptions(inodeBytes, features));
      Sweep sweep = new Sweep(device, options);
      sweep.prepare();
      int cases = 0;
      for (int free : free(sweep.unitBlocks)) {
        BlockDevice full = sweep.filled(free);
        for (FullDiskChange change : FullDiskChange.values()) {
          sweep.attempt(full, free, change, cases++ % 40 == 0);
        }
      }
      assertThat(sweep.refused).as("what did not fit").hasSizeGreaterThanOrEqualTo(kindsRefused);
      assertThat(sweep.done).as("what fitted").containsAll(EnumSet.allOf(FullDiskChange.class));
    }
  }

  private static MkfsOptions mkfsOptions(int inodeBytes, String features) {
    MkfsOptions.Builder options = MkfsOptions.builder();
    if (!features.contains("^has_journal")) {
      options.journalMebibytes(1);
    }
    return options
        .blockSizeBytes(BLOCK_BYTES)
        .inodeSizeBytes(inodeBytes)
        .inodesCount(512)
        .reservedPercent(0)
        .hashSeed(HASH_SEED)
        .features(features)
        .build();
  }

  private static int[] free(int unitBlocks) {
    return IntStream.concat(IntStream.rangeClosed(0, MOST_FREE), IntStream.of(20))
        .map(units -> units * unitBlocks)
        .toArray();
  }

  /// A prepared file system, and the same filled up.
  private static final class Sweep {
    private final BlockDevice base;
    private final MountOptions options;
    private VolumeStatistics empty;
    int unitBlocks = 1;
    final Set<FullDiskChange> refused = EnumSet.noneOf(FullDiskChange.class);
    final Set<FullDiskChange> done = EnumSet.noneOf(FullDiskChange.class);

    Sweep(BlockDevice device, MountOptions options) {
      this.base = device;
      this.options = options;
    }

    private Ext4Volume mount(BlockDevice device) throws FsException {
      return Ext4.mount(DelegatingDevice.withoutClose(device), options);
    }

    private static BlockDevice over(BlockDevice device) {
      return new OverlayDevice(DelegatingDevice.withoutClose(device));
    }

    void prepare() throws IOException {
      int names;
      try (Ext4Volume volume = mount(over(base))) {
        names = FullDiskChange.namesBeforeSplit(volume);
      }
      try (Ext4Volume volume = mount(base)) {
        empty = volume.statistics();
        FullDiskChange.prepare(volume, names);
        unitBlocks = unitBlocks(volume);
      }
    }

    /// How many blocks one more block costs that has no neighbours.
    private static int unitBlocks(Volume volume) throws FsException {
      long before = volume.statistics().freeBlocks();
      try (Node root = volume.root();
          Node file = volume.create(root, FileName.of("unit"), OWNER)) {
        volume.append(file, MemorySegment.ofArray(new byte[1024]));
        int unit = (int) (before - volume.statistics().freeBlocks());
        volume.unlink(root, FileName.of("unit"));
        return unit;
      }
    }

    BlockDevice filled(int freeBlocks) throws IOException {
      BlockDevice device = over(base);
      try (Ext4Volume volume = mount(device);
          Node root = volume.root();
          Node filler = volume.create(root, FileName.of("filler"), OWNER)) {
        long at = 0;
        long left = volume.statistics().freeBlocks() - freeBlocks;
        while (left > 0) {
          // Blocks for the map of the filler come on top, so that the end needs small steps.
          int blocks = (int) Math.max(1, Math.min(256, left - 40L * unitBlocks));
          byte[] bytes = new byte[blocks * BLOCK_BYTES];
          Arrays.fill(bytes, (byte) 'f');
          at += volume.write(filler, at, MemorySegment.ofArray(bytes));
          left = volume.statistics().freeBlocks() - freeBlocks;
        }
      }
      return device;
    }

    void attempt(BlockDevice full, int freeBlocks, FullDiskChange change, boolean byE2fsck)
        throws IOException {
      String what = change + " with " + freeBlocks + " free blocks";
      BlockDevice device = over(full);
      try (Ext4Volume volume = mount(device);
          Node root = volume.root()) {
        TreeSnapshot before = TreeSnapshot.of(volume);
        long freeBefore = volume.statistics().freeBlocks();
        boolean fits = change.fits(volume, root);
        volume.sync();
        if (fits) {
          done.add(change);
          change.check(volume, root, what);
        } else {
          refused.add(change);
          requireSame(what, before, TreeSnapshot.of(volume));
          if (!change.keepsPart()) {
            assertThat(volume.statistics().freeBlocks()).as(what).isEqualTo(freeBefore);
          }
        }
        long freeNow = volume.statistics().freeBlocks();
        volume.unlink(root, FileName.of("victim"));
        volume.sync();
        assertThat(volume.statistics().freeBlocks()).as(what).isGreaterThanOrEqualTo(freeNow + 5);
        volume.unlink(root, FileName.of("filler"));
        if (!fits) {
          assertThat(change.fits(volume, root)).as(what + ", with room").isTrue();
          change.check(volume, root, what);
        }
        FullDiskChange.removeAll(volume, root);
        volume.sync();
        assertThat(volume.statistics().freeBlocks()).as(what).isEqualTo(empty.freeBlocks());
        assertThat(volume.statistics().freeInodes()).as(what).isEqualTo(empty.freeInodes());
        if (volume.journalStatistics() != null) {
          assertThat(volume.journalStatistics().overdrafts()).as(what).isZero();
        }
      } catch (IOException | RuntimeException e) {
        throw new AssertionError(what, e);
      }
      assertThat(Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE).findings())
          .as(what)
          .isEmpty();
      if (byE2fsck) {
        Images.requireClean(device);
      }
    }
  }

  private static void requireSame(String what, TreeSnapshot before, TreeSnapshot after) {
    assertThat(after.entries().keySet()).as(what).isEqualTo(before.entries().keySet());
    before
        .entries()
        .forEach(
            (path, entry) -> {
              TreeSnapshot.Entry now = after.entries().get(path);
              assertThat(now.nlink()).as(what + ": " + path).isEqualTo(entry.nlink());
              assertThat(now.content()).as(what + ": " + path).isEqualTo(entry.content());
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void theLastInodes(int free) throws IOException {
    try (RamDevice device = new RamDevice("ram", 8 << 20)) {
      Mkfs.make(device, mkfsOptions(256, "extent"));
      try (Ext4Volume volume =
              Ext4.mount(DelegatingDevice.withoutClose(device), MountOptions.defaults());
          Node root = volume.root()) {
        final VolumeStatistics empty = volume.statistics();
        fillInodes(volume, root, free);
        int names = TreeSnapshot.of(volume).entries().size();
        int made = 0;
        for (FullDiskChange change : FullDiskChange.MAKING) {
          if (change.fits(volume, root)) {
            made++;
          }
        }
        assertThat(made).isEqualTo(free);
        assertThat(TreeSnapshot.of(volume).entries()).hasSize(names + free);
        try (Node many = volume.lookup(root, FileName.of("many"))) {
          volume.unlink(many, FileName.of("n0"));
          volume.create(many, FileName.of("other"), OWNER).close();
          assertThat(FullDiskChange.CREATE_AGAIN.fits(volume, many)).isFalse();
        }
        FullDiskChange.removeAll(volume, root);
        volume.sync();
        assertThat(volume.statistics()).isEqualTo(empty);
      }
      Images.requireClean(device);
    }
  }

  private static void fillInodes(Volume volume, Node root, int free) throws FsException {
    try (Node many = volume.mkdir(root, FileName.of("many"), OWNER)) {
      for (int i = 0; volume.statistics().freeInodes() > free; i++) {
        volume.create(many, FileName.of("n" + i), OWNER).close();
      }
    }
  }

  /// Together they use exactly what they may.
  @ParameterizedTest
  @ValueSource(strings = {"extent", "bigalloc"})
  void theReserveIsForRoot(String features) throws IOException, InterruptedException {
    try (RamDevice device = new RamDevice("ram", 24 << 20)) {
      MkfsOptions.Builder mkfs = mkfsOptions(256, features).toBuilder();
      Mkfs.make(device, mkfs.reservedPercent(10).build());
      BlockDevice open = DelegatingDevice.withoutClose(device);
      try (Ext4Volume volume = Ext4.mount(open, MountOptions.parse("noreserve"))) {
        long reserve = volume.statistics().freeBlocks() - volume.statistics().availableBlocks();
        assertThat(reserve).isGreaterThan(1000);
        fillTogether(volume);
        long unit = features.equals("bigalloc") ? 16 : 1;
        assertThat(volume.statistics().freeBlocks()).isBetween(reserve, reserve + 2 * unit);
        assertThat(volume.statistics().availableBlocks()).isLessThan(2 * unit);
      }
      try (Ext4Volume volume = Ext4.mount(open, MountOptions.defaults())) {
        fillTogether(volume);
        assertThat(volume.statistics().freeBlocks()).isLessThan(32);
      }
      Images.requireClean(device);
    }
  }

  private static void fillTogether(Volume volume) throws IOException, InterruptedException {
    List<Future<Long>> writers;
    try (ExecutorService threads = Executors.newFixedThreadPool(6);
        Node root = volume.root()) {
      writers =
          IntStream.range(0, 6).mapToObj(i -> threads.submit(() -> fill(volume, root, i))).toList();
    }
    for (Future<Long> writer : writers) {
      try {
        assertThat(writer.get()).isNotNegative();
      } catch (ExecutionException e) {
        throw new IOException(e.getCause());
      }
    }
  }

  /// Appends until the disk is full; returns how much was there then, byte by byte.
  private static long fill(Volume volume, Node root, int writer) throws FsException {
    byte[] bytes = new byte[3000];
    Arrays.fill(bytes, (byte) writer);
    FileName name = FileName.of("fill" + writer + "-" + volume.statistics().freeInodes());
    try (Node file = volume.create(root, name, OWNER)) {
      long at = 0;
      try {
        while (true) {
          assertThat(volume.append(file, MemorySegment.ofArray(bytes))).isEqualTo(at);
          at += bytes.length;
        }
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
      }
      assertThat(volume.attributes(file).sizeBytes()).isEqualTo(at);
      byte[] found = new byte[(int) at];
      int read = volume.read(file, 0, MemorySegment.ofArray(found));
      assertThat(read).isEqualTo((int) at);
      for (byte b : found) {
        if (b != writer) {
          throw new AssertionError("writer " + writer + " finds " + b);
        }
      }
      return at;
    }
  }
}
