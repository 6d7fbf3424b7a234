package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.BlockDevice;
import dev.extant.block.RamDevice;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.MmpBlock;
import dev.extant.ext4.format.Superblock;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PowerCutSweep;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.TuneOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Multiple mount protection, with time that passes when the test says so.
class MultiMountProtectionTest {
  private static final MountOptions DEFAULTS = MountOptions.defaults();

  @TempDir Path folder;
  private RamDevice device;

  @BeforeEach
  void make() throws IOException {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
    device = Mke2fs.load(Mke2fs.make(folder.resolve("fs.img"), "-b 1024 -O mmp", "16M"));
  }

  @AfterEach
  void close() {
    device.close();
  }

  /// Time for one mount: the waits of the mounting thread are noted, those of the updating thread
  /// end one by one.
  private static class Time implements MultiMountProtection.Sleeper {
    final List<Duration> waits = new ArrayList<>();
    private final Semaphore rounds = new Semaphore(0);
    private final Semaphore asleep = new Semaphore(0);

    @Override
    public void sleep(Duration duration) throws InterruptedException {
      if (Thread.currentThread().getName().startsWith("extant-mmp-")) {
        asleep.release();
        rounds.acquire();
      } else {
        waits.add(duration);
        elapse();
      }
    }

    /// What happens while a mount waits.
    void elapse() throws InterruptedException {}

    /// The updating thread has gone to sleep once more.
    void awaitSleep() {
      asleep.acquireUninterruptibly();
    }

    void wakeUpdater() {
      rounds.release();
    }
  }

  private Ext4Volume mount(MultiMountProtection.Sleeper time) throws FsException {
    return mount(time, DEFAULTS);
  }

  private Ext4Volume mount(MultiMountProtection.Sleeper time, MountOptions options)
      throws FsException {
    return Ext4.mount(new Mounter(DelegatingDevice.withoutClose(device), options, time));
  }

  private MemorySegment superblock() {
    return device.memory().asSlice(Superblock.OFFSET, Superblock.SIZE);
  }

  private MemorySegment block() {
    return device.memory().asSlice(Superblock.mmpBlock(superblock()) * 1024, MmpBlock.SIZE);
  }

  /// As if another machine had written it.
  private void putSequence(long sequence) {
    MmpBlock.sequence(block(), sequence);
    MmpBlock.nodeName(block(), "other-machine");
    MmpBlock.deviceName(block(), "sdz9");
    new Checksums(superblock()).sealMmpBlock(block());
  }

  private byte[] bytes() {
    return device.memory().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
  }

  private void assertBusy(Time time, String... words) {
    byte[] before = bytes();
    assertThatThrownBy(() -> mount(time))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
        .hasMessageContainingAll(words);
    assertThat(block().mismatch(MemorySegment.ofArray(before).asSlice(offset(), MmpBlock.SIZE)))
        .isEqualTo(-1);
  }

  private long offset() {
    return Superblock.mmpBlock(superblock()) * 1024;
  }

  private static void write(Ext4Volume volume, String name) throws FsException {
    try (Node root = volume.root();
        Node file = volume.create(root, FileName.of(name), new NewFile(0644, 0, 0))) {
      volume.append(file, MemorySegment.ofArray(new byte[5000]));
      volume.fsync(file, false).join();
    }
  }

  private void assertClean() throws IOException {
    assertThat(MmpBlock.sequence(block())).isEqualTo(MmpBlock.SEQUENCE_CLEAN);
    Path image = folder.resolve("check.img");
    Images.copy(device, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    assertThat(Oracles.run("debugfs", "-R", "dump_mmp", image).output())
        .contains("sequence: ff4d4d50");
  }

  @Test
  void aMountKeepsItsSequenceAndEndsClean() throws IOException {
    Time time = new Time();
    try (Ext4Volume volume = mount(time)) {
      time.awaitSleep();
      assertThat(time.waits).isEmpty();
      long first = MmpBlock.sequence(block());
      assertThat(first).isBetween(1L, MmpBlock.SEQUENCE_MAX);
      assertThat(MmpBlock.nodeName(block())).isNotEmpty();
      assertThat(MmpBlock.checkInterval(block())).isBetween(5, 300);
      for (int i = 1; i <= 3; i++) {
        time.wakeUpdater();
        time.awaitSleep();
        long expected = (first + i - 1) % MmpBlock.SEQUENCE_MAX + 1;
        assertThat(MmpBlock.sequence(block())).isEqualTo(expected);
        assertThat(new Checksums(superblock()).mmpBlockValid(block())).isTrue();
      }
      write(volume, "file");
    }
    assertClean();
  }

  @Test
  void aFileSystemThatIsBeingCheckedIsRefused() {
    putSequence(MmpBlock.SEQUENCE_FSCK);
    assertBusy(new Time(), "being checked", "other-machine", "sdz9");
  }

  @Test
  void anotherMountThatLivesIsFound() {
    putSequence(77);
    Time time =
        new Time() {
          @Override
          void elapse() {
            putSequence(78);
          }
        };
    assertThatThrownBy(() -> mount(time))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
        .hasMessageContainingAll("is in use by", "other-machine", "sdz9");
    assertThat(MmpBlock.sequence(block())).isEqualTo(78);
  }

  @Test
  void twoThatComeAtOnceDoNotBothGetIt() {
    putSequence(77);
    Time time =
        new Time() {
          @Override
          void elapse() {
            if (waits.size() == 2) {
              putSequence(99);
            }
          }
        };
    assertThatThrownBy(() -> mount(time)).hasMessageContaining("is in use by");
    assertThat(MmpBlock.sequence(block())).isEqualTo(99);
  }

  @Test
  void theSequenceOfADeadMountIsTakenOver() throws IOException {
    putSequence(77);
    MmpBlock.checkInterval(block(), 100);
    new Checksums(superblock()).sealMmpBlock(block());
    Time time = new Time();
    try (Ext4Volume volume = mount(time)) {
      assertThat(time.waits).containsExactly(Duration.ofSeconds(160), Duration.ofSeconds(160));
      write(volume, "file");
    }
    assertClean();
  }

  @Test
  void aTornBlockThatStandsStillIsTakenOver() throws IOException {
    putSequence(77);
    MmpBlock.sequence(block(), 78);
    Time time = new Time();
    mount(time).close();
    assertThat(time.waits).containsExactly(Duration.ofSeconds(21), Duration.ofSeconds(21));
    assertClean();
  }

  @Test
  void anInterruptEndsTheWait() {
    putSequence(77);
    Time time =
        new Time() {
          @Override
          void elapse() throws InterruptedException {
            throw new InterruptedException();
          }
        };
    assertThatThrownBy(() -> mount(time))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINTR))
        .hasMessageContaining("other-machine");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(MmpBlock.sequence(block())).isEqualTo(77);
  }

  @Test
  void aBlockWithoutMagicIsCorrupt() {
    block().fill((byte) 0);
    assertThatThrownBy(() -> mount(new Time()))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
        .hasMessageContaining("MMP block");
  }

  @Test
  void aReaderAsksNobody() throws IOException {
    putSequence(MmpBlock.SEQUENCE_FSCK);
    byte[] before = bytes();
    try (Ext4Volume volume = mount(new Time(), MountOptions.parse("ro"))) {
      volume.statistics();
    }
    assertThat(bytes()).isEqualTo(before);
  }

  @Test
  void theSecondOfTwoMountsIsRefusedAndTheFirstGoesOn() throws IOException {
    Time firstTime = new Time();
    try (Ext4Volume first = mount(firstTime)) {
      firstTime.awaitSleep();
      Time secondTime =
          new Time() {
            @Override
            void elapse() {
              firstTime.wakeUpdater();
              firstTime.awaitSleep();
            }
          };
      assertThatThrownBy(() -> mount(secondTime)).hasMessageContaining("is in use by");
      firstTime.wakeUpdater();
      firstTime.awaitSleep();
      write(first, "file");
    }
    assertClean();
  }

  @Test
  void tuningTakesPartInIt() throws IOException {
    TuneOptions label = TuneOptions.builder().label("tuned").build();
    Ext4.tune(device, label);
    assertThat(Superblock.label(superblock())).isEqualTo("tuned");
    assertClean();
    putSequence(MmpBlock.SEQUENCE_FSCK);
    assertThatThrownBy(() -> Ext4.tune(device, label)).hasMessageContaining("being checked");
  }

  @Test
  void whoLosesTheFileSystemWritesNothingMore() throws Exception {
    Time time = new Time();
    Ext4Volume volume = mount(time, MountOptions.parse("errors=continue"));
    write(volume, "before");
    time.awaitSleep();
    byte[] before;
    try (Node root = volume.root();
        Node file = volume.create(root, FileName.of("open"), new NewFile(0644, 0, 0))) {
      volume.append(file, MemorySegment.ofArray(new byte[100_000]));
      putSequence(12_345);
      before = bytes();
      time.wakeUpdater();
      while (!volume.readOnly()) {
        Thread.sleep(1);
      }
      assertThatThrownBy(() -> write(volume, "after"))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EROFS))
          .hasMessageContainingAll("taken over", "other-machine");
      assertThatThrownBy(() -> volume.fsync(file, false).join()).hasMessageContaining("taken over");
    }
    assertThatThrownBy(volume::close).hasMessageContaining("taken over");
    assertThat(bytes()).isEqualTo(before);
  }

  /// The sequence is that of a dead mount then, and the block is whole.
  @Test
  void aPowerCutLeavesItUsable() throws IOException {
    MultiMountProtection.Sleeper noWaiting =
        duration -> {
          if (Thread.currentThread().getName().startsWith("extant-mmp-")) {
            Thread.sleep(20);
          }
        };
    long seed = Seeds.fixed(21);
    PowerCutSweep sweep =
        new PowerCutSweep(
            (under, options) -> Ext4.mount(new Mounter(under, options, noWaiting)),
            device,
            new PowerCutSweep.Workload(1, 300, "commit=1,noatime", seed));
    sweep.record();
    int cuts = Integer.getInteger("extant.cuts", 20);
    Path image = folder.resolve("cut.img");
    for (int i = 0; i < cuts; i++) {
      long tick = 1 + i * sweep.lastTick() / cuts;
      try (BlockDevice state = sweep.materialise(tick, seed + i)) {
        MemorySegment left = MemorySegment.ofArray(new byte[MmpBlock.SIZE]);
        state.read(offset(), left);
        assertThat(new Checksums(superblock()).mmpBlockValid(left)).isTrue();
        sweep.recover(state, tick);
        Images.copy(state, image);
        Oracles.run("e2fsck", "-fn", image).expect(0);
      }
    }
  }
}
