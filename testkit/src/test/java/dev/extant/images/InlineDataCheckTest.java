package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.RamDevice;
import dev.extant.ext4.Ext4Volume;
import dev.extant.testkit.DeviceOpener;
import dev.extant.testkit.Images;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.ModelCheck;
import dev.extant.testkit.PowerCutSweep;
import dev.extant.testkit.PowerCutSweep.Workload;
import dev.extant.testkit.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Random operations beside the model, and power cuts, where files and directories begin in their
class InlineDataCheckTest {
  private static final long OPERATIONS = Long.getLong("extant.operations", 40_000);

  /// Of each variant.
  private static final int CUTS = Integer.getInteger("extant.cuts", 50);

  private final List<Ext4Volume> mounts = new ArrayList<>();

  private final DeviceOpener ext4 =
      (device, options) -> {
        Ext4Volume volume = (Ext4Volume) Extant.open(device, options).volume();
        mounts.add(volume);
        return volume;
      };

  @TempDir Path directory;

  @AfterEach
  void noHandleNeededMoreThanItHad() {
    assertThat(mounts).allMatch(mount -> mount.journalStatistics().overdrafts() == 0);
  }

  /// A file system that mke2fs made, in memory.
  private RamDevice made(int mebibytes, int blockSize, int inodeSize, int inodes, String features)
      throws IOException {
    String options =
        String.join(
            " ",
            "-m 0 -b " + blockSize,
            "-I " + inodeSize,
            "-N " + inodes,
            "-J size=" + blockSize / 1024,
            "-O inline_data," + features);
    Path image = Mke2fs.make(directory.resolve("made"), options, mebibytes + "M");
    return Mke2fs.load(image);
  }

  private void e2fsck(BlockDevice device) throws IOException {
    Path image = directory.resolve("image");
    Images.copy(device, image);
    BothChecks.pass(image);
  }

  @ParameterizedTest
  @CsvSource({
    // MiB, block size, inode size, inodes, features, bytes of most writes, share in percent
    "32, 4096, 256, 4096, extent, 200, 30",
    "32, 1024, 1024, 2048, extent, 900, 30",
    "16, 1024, 256, 2048, '^dir_index,^metadata_csum', 120, 20",
    "8, 2048, 512, 400, ^64bit, 500, 20",
  })
  void doesWhatTheModelDoes(
      int mebibytes,
      int blockSize,
      int inodeSize,
      int inodes,
      String features,
      int typicalBytes,
      int percent)
      throws IOException {
    try (RamDevice device = made(mebibytes, blockSize, inodeSize, inodes, features)) {
      ModelCheck check = new ModelCheck(ext4, device, Seeds.fixed(inodeSize), typicalBytes);
      ModelCheck.Report report = check.run(OPERATIONS * percent / 100);
      assertThat(report.refused()).isPositive();
      e2fsck(device);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // workers, operations of each, MiB, block size, inode size, features, bytes, data=, seed
    "1, 1200, 24, 4096, 256, extent, 120, ordered, 1",
    "1, 1000, 16, 1024, 512, ^orphan_file, 400, ordered, 2",
    "4, 250, 16, 1024, 256, ^dir_index, 120, ordered, 3",
    "2, 400, 16, 1024, 256, extent, 120, journal, 4",
  })
  void keepsWhatWasAcknowledged(
      int workers,
      int operations,
      int mebibytes,
      int blockSize,
      int inodeSize,
      String features,
      int typicalBytes,
      String data,
      long defaultSeed)
      throws IOException {
    long seed = Seeds.fixed(defaultSeed);
    String options = "commit=1,noatime,data=" + data;
    Workload workload = new Workload(workers, operations, options, seed, typicalBytes);
    try (RamDevice device = made(mebibytes, blockSize, inodeSize, 2048, features)) {
      PowerCutSweep sweep = new PowerCutSweep(ext4, device, workload);
      sweep.record();
      for (int i = 0; i < CUTS; i++) {
        long tick = 1 + i * sweep.lastTick() / CUTS;
        try (BlockDevice state = sweep.materialise(tick, seed + i)) {
          sweep.recover(state, tick);
          e2fsck(state);
        } catch (AssertionError | IOException | RuntimeException e) {
          String cut = "cut at tick " + tick + ", state seed " + (seed + i);
          throw new AssertionError(cut + ": " + e.getMessage(), e);
        }
      }
    }
  }
}
