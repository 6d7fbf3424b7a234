package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.FileDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.FaultyDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Node;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The device fails, or the volume is closed, under hundreds of threads: each is told, and none
/// waits for ever.
@Timeout(60)
class EndOfMountStressTest {
  private static final int THREADS = 200;

  @TempDir Path folder;

  /// Closing says what happened, and the journal that is left recovers.
  @ParameterizedTest
  @CsvSource({"WRITE, 50", "WRITE, 500", "FLUSH, 3", "FLUSH, 20"})
  void everybodyIsToldOfAFailure(DeviceException.Operation operation, int nth) throws Exception {
    long seed = Seeds.fixed(nth);
    try (RamDevice ram = new RamDevice("ram", 24 << 20)) {
      make(ram, "has_journal");
      FaultyDevice device = new FaultyDevice(DelegatingDevice.withoutClose(ram), seed);
      Ext4Volume volume = Ext4.mount(device, MountOptions.parse("commit=1,cache=512K"));
      device.failNth(operation, nth, DeviceException.Kind.UNKNOWN);
      List<Future<FsException>> ends = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        startWorkers(threads, volume, seed, ends);
        for (Future<FsException> end : ends) {
          assertThat(end.get(30, TimeUnit.SECONDS).errno()).isIn(Errno.EIO, Errno.EROFS);
        }
      }
      assertThatThrownBy(volume::close).isInstanceOf(FsException.class);
      Path image = folder.resolve("image");
      Images.copy(ram, image);
      // 1: what it mended is what the journal and the orphan list are for.
      Oracles.run("e2fsck", "-fy", image).expect(0, 1);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }

  @ParameterizedTest
  @CsvSource({"orphan_file", "^orphan_file", "^has_journal"})
  void everybodyIsToldOfTheEnd(String features) throws Exception {
    Path image = folder.resolve("image");
    FileDevice.create(image, 24 << 20).close();
    try (FileDevice device = FileDevice.open(image, false)) {
      make(device, features);
    }
    for (int round = 0; round < 3; round++) {
      Ext4Volume volume = Ext4.mount(image, MountOptions.parse("commit=1,cache=512K"));
      List<Future<FsException>> ends = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        startWorkers(threads, volume, round, ends);
        Thread.sleep(250);
        volume.close();
        for (Future<FsException> end : ends) {
          assertThat(end.get(30, TimeUnit.SECONDS).errno()).isEqualTo(Errno.EBADF);
        }
      }
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }

  private static void make(BlockDevice device, String features) throws IOException {
    MkfsOptions.Builder options =
        MkfsOptions.builder().blockSizeBytes(1024).inodesCount(4096).features(features);
    if (!features.equals("^has_journal")) {
      options.journalMebibytes(1);
    }
    Mkfs.make(device, options.build());
  }

  private static void startWorkers(
      ExecutorService threads, Ext4Volume volume, long seed, List<Future<FsException>> ends) {
    for (int i = 0; i < THREADS; i++) {
      SplittableRandom random = new SplittableRandom(seed * 31 + i);
      ends.add(threads.submit(() -> workUntilTold(volume, random)));
    }
  }

  private static FsException workUntilTold(Ext4Volume volume, SplittableRandom random)
      throws IOException {
    StressTree tree = new StressTree(volume);
    while (true) {
      try {
        tree.operate(random);
        if (random.nextInt(4) == 0) {
          try (Node directory = tree.directory(random)) {
            volume.fsync(directory, false).join();
          }
        }
      } catch (FsException e) {
        return e;
      } catch (CompletionException e) {
        return (FsException) e.getCause();
      }
    }
  }
}
