package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.FileDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.PowerCutSweep.Aftermath;
import dev.extant.testkit.PowerCutSweep.Workload;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Power cuts in the middle of work on ext4. How to make more of them: see [PowerCutSweep].
class PowerCutSweepTest {
  private static final DeviceOpener EXT4 =
      (device, options) -> Extant.open(device, options).volume();

  /// Of each variant.
  private static final int CUTS = Integer.getInteger("extant.cuts", 85);

  /// More operations than a mount takes.
  private static final int FIRST_FAULT = 20;

  @TempDir(factory = MemoryTempDir.class)
  Path directory;

  @ParameterizedTest
  @CsvSource({
    // workers, operations of each, MiB, block size, journal in MiB, features, data=, seed
    "1, 1500, 24, 4096, 4, extent, ordered, 1",
    "1, 1500, 16, 1024, 1, extent, ordered, 2",
    "1, 800, 16, 1024, 1, '^orphan_file,^metadata_csum', ordered, 3",
    "8, 250, 32, 4096, 4, ^64bit, ordered, 4",
    "8, 250, 16, 1024, 1, ^orphan_file, ordered, 5",
    "2, 400, 24, 2048, 4, extent, journal, 6",
    "2, 400, 16, 1024, 1, extent, 'ordered,discard', 12",
  })
  void keepsWhatWasAcknowledged(
      int workers,
      int operations,
      int mebibytes,
      int blockSize,
      int journalMebibytes,
      String features,
      String data,
      long defaultSeed)
      throws IOException {
    long seed = Seeds.fixed(defaultSeed);
    try (RamDevice device = device(mebibytes, blockSize, journalMebibytes, features)) {
      PowerCutSweep sweep =
          new PowerCutSweep(EXT4, device, workload(workers, operations, data, seed));
      sweep.record();
      for (int i = 0; i < CUTS; i++) {
        long tick = 1 + i * sweep.lastTick() / CUTS;
        cut(sweep, tick, seed + i, i);
      }
    }
  }

  private static Workload workload(int workers, int operations, String data, long seed) {
    return new Workload(workers, operations, "commit=1,noatime,data=" + data, seed);
  }

  private static RamDevice device(
      int mebibytes, int blockSize, int journalMebibytes, String features) throws IOException {
    RamDevice device = new RamDevice("image", (long) mebibytes << 20);
    MkfsOptions options =
        MkfsOptions.builder()
            .blockSizeBytes(blockSize)
            .journalMebibytes(journalMebibytes)
            .inodesCount(2048)
            .features(features)
            .zeroed(true)
            .build();
    Mkfs.make(device, options);
    return device;
  }

  @ParameterizedTest
  @CsvSource({"1, 600, 24, 4096, 4, extent, 6", "4, 200, 16, 1024, 1, ^orphan_file, 7"})
  void othersRecoverItToo(
      int workers,
      int operations,
      int mebibytes,
      int blockSize,
      int journalMebibytes,
      String features,
      long defaultSeed)
      throws IOException {
    Oracles.requireRoot();
    long seed = Seeds.fixed(defaultSeed);
    try (RamDevice device = device(mebibytes, blockSize, journalMebibytes, features)) {
      PowerCutSweep sweep =
          new PowerCutSweep(EXT4, device, workload(workers, operations, "ordered", seed));
      sweep.record();
      int cuts = Math.max(8, CUTS / 12);
      for (int i = 0; i < cuts; i++) {
        long tick = 1 + i * sweep.lastTick() / cuts;
        recoverByOthers(sweep, tick, seed + i);
      }
    }
  }

  private void recoverByOthers(PowerCutSweep sweep, long tick, long stateSeed) throws IOException {
    Path image = directory.resolve("image");
    try (BlockDevice state = sweep.materialise(tick, stateSeed)) {
      Images.copy(state, image);
      try (KernelMount mount = KernelMount.of(image, "noatime")) {
        sweep.check(TreeSnapshot.of(mount.root()), tick);
      }
      Oracles.run("e2fsck", "-fn", image).expect(0);
      Images.copy(state, image);
      Oracles.run("e2fsck", "-fy", image).expect(0, 1);
      Oracles.run("e2fsck", "-fn", image).expect(0);
      try (FileDevice device = FileDevice.open(image, true);
          Volume volume = EXT4.open(device, MountOptions.defaults().withReadOnly(true))) {
        sweep.check(TreeSnapshot.of(volume), tick);
      }
    } catch (AssertionError | IOException | RuntimeException e) {
      throw failure(sweep, tick, stateSeed, "by others", e);
    }
  }

  @ParameterizedTest
  @CsvSource({"WRITE, 1, 8", "FLUSH, 1, 9", "WRITE, 4, 10", "FLUSH, 4, 11"})
  void aFailingDeviceLosesNothingAcknowledged(
      DeviceException.Operation operation, int workers, long defaultSeed) throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fixed(defaultSeed));
    int failures = 0;
    for (int i = 0; i < Math.max(5, CUTS / 8); i++) {
      long seed = random.nextLong(1L << 32);
      long nth =
          FIRST_FAULT + random.nextLong(operation == DeviceException.Operation.WRITE ? 250 : 120);
      failures += fail(operation, workers, nth, seed) ? 1 : 0;
    }
    assertThat(failures).isPositive();
  }

  /// False if the device was not asked often enough to fail.
  private boolean fail(DeviceException.Operation operation, int workers, long nth, long seed)
      throws IOException {
    try (RamDevice device = device(16, 1024, 1, "extent")) {
      PowerCutSweep sweep =
          new PowerCutSweep(EXT4, device, workload(workers, 200, "ordered", seed));
      FaultyDevice[] faulty = new FaultyDevice[1];
      Aftermath aftermath =
          sweep.record(
              recording -> {
                faulty[0] = new FaultyDevice(recording, seed);
                return faulty[0].failNth(operation, nth, DeviceException.Kind.UNKNOWN);
              });
      String failure = operation + " " + nth + " failed, seed " + seed;
      if (faulty[0].nrFailures() == 0) {
        assertThat(aftermath).as(failure).isEqualTo(new Aftermath(null, false, null, null));
        return false;
      }
      assertThat(aftermath.close()).as(failure).isInstanceOf(FsException.class);
      if (aftermath.work() != null) {
        assertThat(aftermath.readOnly()).as(failure).isTrue();
        assertThat(aftermath.refusal().errno()).as(failure).isEqualTo(Errno.EROFS);
        assertThat(aftermath.refusal()).as(failure).hasMessageContaining("planned failure");
      }
      cut(sweep, sweep.lastTick(), seed, 0);
      cut(sweep, sweep.lastTick(), seed + 1, 1);
      return true;
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
      PowerCutSweep sweep = new PowerCutSweep(careless, device, workload(1, 300, "ordered", 1));
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
      throw failure(sweep, tick, stateSeed, again ? "and again in recovery" : "", e);
    }
  }

  private static AssertionError failure(
      PowerCutSweep sweep, long tick, long stateSeed, String how, Throwable cause) {
    String cut = "cut at tick " + tick + " of " + sweep.lastTick() + " " + how;
    String message = cut + ", state seed " + stateSeed + ": " + cause.getMessage();
    return new AssertionError(message, cause);
  }

  private void e2fsck(BlockDevice state) throws IOException {
    Path image = directory.resolve("image");
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
