package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PowerCutDevice;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Operations that meet others at the worst moment.
@Timeout(60)
class MeetingsTest {
  private static final int BLOCK = 4096;
  private static final NewFile OWNER = new NewFile(0755, 0, 0);
  private static final FileName X = FileName.of("x");
  private static final FileName Y = FileName.of("y");

  private final RamDevice ram = new RamDevice("ram", 16 << 20);
  @TempDir Path folder;

  @BeforeEach
  void make() throws IOException {
    make("orphan_file");
  }

  private void make(String features) throws IOException {
    MkfsOptions.Builder options = MkfsOptions.builder().blockSizeBytes(BLOCK).features(features);
    Mkfs.make(ram, options.build());
  }

  @AfterEach
  void close() {
    ram.close();
  }

  private Ext4Volume mount(BlockDevice device) throws FsException {
    return Ext4.mount(DelegatingDevice.withoutClose(device), MountOptions.defaults());
  }

  private void assertClean() throws IOException {
    Path image = folder.resolve("image");
    Images.copy(ram, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  /// Stops a write with FUA, which is how a commit block is written, while it is shut.
  private static final class FuaGate extends DelegatingDevice {
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);
    volatile boolean shut;

    FuaGate(BlockDevice base) {
      super(base);
    }

    @Override
    public void write(long offset, List<MemorySegment> sources, boolean fua)
        throws DeviceException {
      if (fua && shut) {
        reached.countDown();
        try {
          open.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      super.write(offset, sources, fua);
    }
  }

  private static MemorySegment bytes(char content, int count) {
    byte[] bytes = new byte[count];
    Arrays.fill(bytes, (byte) content);
    return MemorySegment.ofArray(bytes);
  }

  @Test
  void anFsyncDuringACommitThatHasFlushedFlushesAgain() throws Exception {
    PowerCutDevice disk = new PowerCutDevice(ram);
    FuaGate gate = new FuaGate(disk);
    Ext4Volume volume = mount(gate);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Node root = volume.root();
        Node file = volume.create(root, X, OWNER)) {
      volume.write(file, 0, bytes('a', BLOCK));
      volume.fsync(file, false).join();
      gate.shut = true;
      volume.append(file, bytes('b', BLOCK));
      CompletableFuture<Void> first = volume.fsync(file, false);
      assertThat(gate.reached.await(30, TimeUnit.SECONDS)).isTrue();
      volume.write(file, 0, bytes('c', BLOCK));
      Future<?> second = threads.submit(() -> volume.fsync(file, true).join());
      Thread.sleep(100);
      assertThat(second.isDone()).isFalse();
      gate.open.countDown();
      first.join();
      second.get();
      disk.cutPowerAndLoseAll();
    }
    assertThatCode(volume::close).isInstanceOf(FsException.class);
    try (Ext4Volume after = mount(ram);
        Node root = after.root();
        Node file = after.lookup(root, X)) {
      byte[] found = new byte[1];
      after.read(file, 100, MemorySegment.ofArray(found));
      assertThat((char) found[0]).isEqualTo('c');
    }
  }

  @Test
  void renamesWithinAndBetweenTheSameDirectoriesDoNotWaitForEachOther() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(3);
        Ext4Volume volume = mount(ram);
        Node root = volume.root();
        Node low = volume.mkdir(root, X, OWNER);
        Node high = volume.mkdir(root, Y, OWNER)) {
      Future<?> within =
          threads.submit(
              () -> {
                for (int i = 0; i < 5_000; i++) {
                  volume.rename(root, X, root, Y, RenameMode.EXCHANGE);
                }
                return null;
              });
      Future<?> downwards = threads.submit(() -> renameNothing(volume, high, low));
      Future<?> upwards = threads.submit(() -> renameNothing(volume, low, high));
      within.get();
      downwards.get();
      upwards.get();
    }
    assertClean();
  }

  /// Each time the directories are locked before it shows that there is nothing to rename.
  private static Void renameNothing(Ext4Volume volume, Node from, Node to) {
    for (int i = 0; i < 20_000; i++) {
      assertThatThrownBy(() -> volume.rename(from, X, to, X, RenameMode.REPLACE))
          .hasMessageContaining("no such file");
    }
    return null;
  }

  @ParameterizedTest
  @ValueSource(strings = {"orphan_file", "^orphan_file", "^has_journal"})
  void whatIsOpenWithoutANameIsFreedWhenTheVolumeIsClosed(String features) throws IOException {
    make(features);
    Ext4Volume volume = mount(ram);
    Node root = volume.root();
    Node file = volume.create(root, X, OWNER);
    volume.write(file, 0, bytes('a', 100 * BLOCK));
    Node directory = volume.mkdir(root, Y, OWNER);
    volume.unlink(root, X);
    volume.rmdir(root, Y);
    volume.write(file, 0, bytes('b', BLOCK));
    volume.close();
    assertClean();
    for (Node node : List.of(file, directory, root)) {
      assertThatCode(node::close).doesNotThrowAnyException();
    }
    assertClean();
  }
}
