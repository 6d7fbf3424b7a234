package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.PowerCutSweep.Workload;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Power cuts in the middle of work on ext4. How to make more of them: see [PowerCutSweep].
class PowerCutSweepTest {
  private static final DeviceOpener EXT4 =
      (device, options) -> Extant.open(device, options).volume();

  /// Of each variant.
  private static final int CUTS = Integer.getInteger("extant.cuts", 100);

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    // workers, operations of each, MiB, block size, journal in MiB, features, seed
    "1, 1500, 24, 4096, 4, extent, 1",
    "1, 1500, 16, 1024, 1, extent, 2",
    "1, 800, 16, 1024, 1, '^orphan_file,^metadata_csum', 3",
    "8, 250, 32, 4096, 4, ^64bit, 4",
    "8, 250, 16, 1024, 1, ^orphan_file, 5",
  })
  void keepsWhatWasAcknowledged(
      int workers,
      int operations,
      int mebibytes,
      int blockSize,
      int journalMebibytes,
      String features,
      long defaultSeed)
      throws IOException {
    long seed = Seeds.fixed(defaultSeed);
    try (RamDevice device = new RamDevice("image", (long) mebibytes << 20)) {
      MkfsOptions options =
          MkfsOptions.builder()
              .blockSizeBytes(blockSize)
              .journalMebibytes(journalMebibytes)
              .inodesCount(2048)
              .features(features)
              .zeroed(true)
              .build();
      Mkfs.make(device, options);
      PowerCutSweep sweep =
          new PowerCutSweep(EXT4, device, new Workload(workers, operations, seed));
      sweep.record();
      for (int i = 0; i < CUTS; i++) {
        long tick = 1 + i * sweep.lastTick() / CUTS;
        cut(sweep, tick, seed + i, i);
      }
    }
  }

  /// A volume that does not flush where it must loses what it acknowledged: the sweep can fail.
  @Test
  void aVolumeThatNeverFlushesIsFound() throws IOException {
    DeviceOpener careless =
        (device, options) ->
            EXT4.open(
                new DelegatingDevice(device) {
                  @Override
                  public void write(long offset, List<MemorySegment> sources, boolean fua)
                      throws DeviceException {
                    super.write(offset, sources, false);
                  }

                  @Override
                  public void flush() {}
                },
                options);
    try (RamDevice device = new RamDevice("image", 16L << 20)) {
      Mkfs.make(device, MkfsOptions.builder().zeroed(true).build());
      PowerCutSweep sweep = new PowerCutSweep(careless, device, new Workload(1, 300, 1));
      sweep.record();
      assertThatThrownBy(
              () -> {
                for (long tick = sweep.lastTick() / 2; tick < sweep.lastTick(); tick++) {
                  cut(sweep, tick, tick, 1);
                }
              })
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("state seed");
    }
  }

  private void cut(PowerCutSweep sweep, long tick, long stateSeed, int nr) throws IOException {
    boolean again = nr % 5 == 0;
    try (BlockDevice first = sweep.materialise(tick, stateSeed);
        BlockDevice state = again ? sweep.cutAgain(first, stateSeed) : first) {
      sweep.recover(state, tick);
      e2fsck(state);
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError(
          "cut at tick "
              + tick
              + " of "
              + sweep.lastTick()
              + (again ? " and again in recovery" : "")
              + ", state seed "
              + stateSeed
              + ": "
              + e.getMessage(),
          e);
    }
  }

  private void e2fsck(BlockDevice state) throws IOException {
    Path image = directory.resolve("image");
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
