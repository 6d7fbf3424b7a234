package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.FsType;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.PowerCutSweep.Workload;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Random operations and power cuts on ext2 and ext3, and on ext4 whose files have block pointers.
/// How to run more of them: see [ModelCheck] and [PowerCutSweep].
class OldTypesTest {
  private static final DeviceOpener OPENER =
      (device, options) -> Extant.open(device, options).volume();

  private static final long OPERATIONS = Long.getLong("extant.operations", 30_000);
  private static final int CUTS = Integer.getInteger("extant.cuts", 20);

  /// The largest file with block pointers.
  private static final Map<Integer, Long> MAX_FILE_BYTES =
      Map.of(1024, 17_247_252_480L, 2048, 275_415_851_008L, 4096, 2_196_875_759_616L);

  private static final UUID SOME_UUID = UUID.fromString("6d6f6465-6c20-6368-6563-6b206f6c6400");

  @TempDir(factory = MemoryTempDir.class)
  Path directory;

  private static RamDevice device(
      FsType type, int mebibytes, int blockSize, int inodeSize, String features)
      throws IOException {
    RamDevice device = new RamDevice(type.spelling() + ", " + features, (long) mebibytes << 20);
    MkfsOptions options =
        MkfsOptions.builder()
            .type(type)
            .blockSizeBytes(blockSize)
            .inodeSizeBytes(inodeSize)
            .inodesCount(2048)
            .features(features)
            .reservedPercent(0)
            .uuid(SOME_UUID)
            .hashSeed(SOME_UUID)
            .time(Instant.parse("2025-01-01T00:00:00Z"))
            .zeroed(true)
            .build();
    Mkfs.make(device, options);
    return device;
  }

  @ParameterizedTest
  @CsvSource({
    // type, MiB, block size, inode size, changes of features, share of the operations in percent
    "EXT2, 16, 1024, 128, ext_attr, 20",
    "EXT2, 24, 4096, 256, '^dir_index,^filetype', 15",
    "EXT3, 24, 1024, 128, ext_attr, 20",
    "EXT3, 48, 4096, 256, '^sparse_super,^resize_inode,^large_file', 15",
    "EXT3, 24, 2048, 128, '^dir_index,^filetype', 10",
    "EXT4, 32, 1024, 256, '^extent,^64bit', 20",
  })
  void doesWhatTheModelDoes(
      FsType type, int mebibytes, int blockSize, int inodeSize, String features, int percent)
      throws IOException {
    try (RamDevice device = device(type, mebibytes, blockSize, inodeSize, features)) {
      ModelCheck check =
          new ModelCheck(OPENER, device, Seeds.fixed(mebibytes))
              .withMaxFileBytes(MAX_FILE_BYTES.get(blockSize));
      ModelCheck.Report report = check.run(OPERATIONS * percent / 100);
      assertThat(report.refused()).isPositive();
      e2fsck(device);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // type, workers, operations of each, MiB, block size, features, data=, seed
    "EXT3, 1, 900, 16, 1024, ext_attr, ordered, 1",
    "EXT3, 2, 300, 16, 1024, ext_attr, journal, 2",
    "EXT3, 1, 900, 16, 1024, ext_attr, writeback, 3",
    "EXT3, 4, 200, 24, 4096, ^dir_index, ordered, 4",
    "EXT4, 2, 400, 16, 1024, '^extent,^64bit', ordered, 5",
  })
  void keepsWhatWasAcknowledged(
      FsType type,
      int workers,
      int operations,
      int mebibytes,
      int blockSize,
      String features,
      String data,
      long defaultSeed)
      throws IOException {
    long seed = Seeds.fixed(defaultSeed);
    try (RamDevice device = device(type, mebibytes, blockSize, 128, features)) {
      Workload workload = new Workload(workers, operations, "commit=1,noatime,data=" + data, seed);
      PowerCutSweep sweep = new PowerCutSweep(OPENER, device, workload);
      sweep.record();
      for (int i = 0; i < CUTS; i++) {
        long tick = 1 + i * sweep.lastTick() / CUTS;
        cut(sweep, tick, seed + i, i);
      }
    }
  }

  /// By us, twice where the power is cut in recovery too; every tenth time also by others.
  private void cut(PowerCutSweep sweep, long tick, long stateSeed, int nr) throws IOException {
    boolean again = nr % 5 == 0;
    try (BlockDevice first = sweep.materialise(tick, stateSeed);
        BlockDevice state = again ? sweep.cutAgain(first, stateSeed) : first) {
      if (nr % 10 == 0) {
        recoverByOthers(sweep, state, tick);
      }
      sweep.recover(state, tick);
      e2fsck(state);
    } catch (AssertionError | IOException | RuntimeException e) {
      String cut = "cut at tick " + tick + " of " + sweep.lastTick() + (again ? ", twice" : "");
      throw new AssertionError(cut + ", state seed " + stateSeed + ": " + e.getMessage(), e);
    }
  }

  private void recoverByOthers(PowerCutSweep sweep, BlockDevice state, long tick)
      throws IOException {
    Oracles.requireRoot();
    Path image = directory.resolve("image");
    Images.copy(state, image);
    try (KernelMount mount = KernelMount.of(image, "noatime")) {
      sweep.check(TreeSnapshot.of(mount.root()), tick);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fy", image).expect(0, 1);
    try (FileDevice device = FileDevice.open(image, true);
        Volume volume = OPENER.open(device, MountOptions.defaults().withReadOnly(true))) {
      sweep.check(TreeSnapshot.of(volume), tick);
    }
  }

  private void e2fsck(BlockDevice state) throws IOException {
    Path image = directory.resolve("image");
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
