package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Power cuts while a file of many extents is cut off or deleted, which takes several transactions.
class LongTruncationTest {
  private static final FileName NAME = FileName.of("fragmented");
  private static final int EXTENTS = 4_000;
  private static final long STRIDE_BYTES = 2048;
  private static final long KEPT_BYTES = 5_000;
  private static final int CUTS = 30;
  private static final int MOST_ROUNDS = 20;

  @TempDir(factory = MemoryTempDir.class)
  Path directory;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isFinishedAfterTheCut(boolean delete) throws IOException {
    long seed = Seeds.fixed(1);
    try (RamDevice device = new RamDevice("image", 24L << 20)) {
      MkfsOptions options =
          MkfsOptions.builder().blockSizeBytes(1024).journalMebibytes(1).zeroed(true).build();
      Mkfs.make(device, options);
      makeFile(device);
      int unfinished = 0;
      for (int round = 0; unfinished == 0 && round < MOST_ROUNDS; round++) {
        unfinished = cutEverywhere(device, delete, seed + round * CUTS);
      }
      assertThat(unfinished).as("cuts in the middle").isPositive();
    }
  }

  /// Returns how many of the cuts hit the work in its middle; that none does can happen when the
  /// threads do not meet.
  private int cutEverywhere(RamDevice device, boolean delete, long seed) throws IOException {
    RecordingDevice recording =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(device)));
    cutOff(recording, delete);
    CutStates states = new CutStates(device, recording.log());
    int unfinished = 0;
    for (int i = 1; i <= CUTS; i++) {
      long tick = i * states.lastTick() / CUTS;
      try (BlockDevice state = states.materialise(tick, seed + i)) {
        unfinished += recover(state, delete, "tick " + tick + ", state seed " + (seed + i));
      }
    }
    return unfinished;
  }

  private static void makeFile(BlockDevice device) throws IOException {
    MemorySegment one = MemorySegment.ofArray(new byte[] {1});
    try (Volume volume = open(device);
        Node root = volume.root();
        Node file = volume.create(root, NAME, new NewFile(0644, 0, 0))) {
      for (int i = 0; i < EXTENTS; i++) {
        volume.write(file, i * STRIDE_BYTES, one);
      }
    }
  }

  /// Somebody else's syncs commit what was done so far again and again.
  private static void cutOff(BlockDevice device, boolean delete) throws IOException {
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch syncing = new CountDownLatch(1);
    try (Volume volume = open(device);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Node root = volume.root()) {
      threads.submit(
          () -> {
            while (!done.get()) {
              volume.sync();
              syncing.countDown();
            }
            return null;
          });
      try {
        assertThat(syncing.await(1, TimeUnit.MINUTES)).isTrue();
        cutOff(volume, root, delete);
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted", e);
      } finally {
        done.set(true);
      }
    }
  }

  private static void cutOff(Volume volume, Node root, boolean delete) throws FsException {
    if (delete) {
      volume.unlink(root, NAME);
    } else {
      try (Node file = volume.lookup(root, NAME)) {
        volume.truncate(file, KEPT_BYTES);
      }
    }
  }

  private static Volume open(BlockDevice device) throws FsException {
    return Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults()).volume();
  }

  /// Returns 1 if the mount had an orphan to finish, else 0.
  private int recover(BlockDevice state, boolean delete, String cut) throws IOException {
    int orphans;
    try (Extant mount =
        Extant.open(DelegatingDevice.withoutClose(state), MountOptions.defaults())) {
      orphans = mount.mountReport().orphansFinished();
      check(mount.volume(), delete, orphans > 0, cut);
    }
    Path image = directory.resolve("image");
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    return orphans;
  }

  private static void check(Volume volume, boolean delete, boolean begun, String cut)
      throws FsException {
    try (Node root = volume.root();
        Node file = volume.lookup(root, NAME)) {
      long size = volume.attributes(file).sizeBytes();
      assertThat(size).as(cut).isIn(KEPT_BYTES, (EXTENTS - 1) * STRIDE_BYTES + 1);
      assertThat(begun && size > KEPT_BYTES).as(cut).isFalse();
      assertThat(delete && size == KEPT_BYTES).as(cut).isFalse();
    } catch (FsException e) {
      assertThat(delete).as(cut + ": " + e.getMessage()).isTrue();
    }
  }
}
