package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.FileDevice;
import dev.extant.ext4.format.Superblock;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.FaultyDevice;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordingDevice;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// `errors=`: what follows a failure of the device and a corruption that was found.
@Timeout(60)
class ErrorPoliciesTest {
  private static final int WAITERS = 40;
  private static final String LOST = "a-name-that-is-damaged-on-the-device";

  @TempDir Path folder;
  private Path image;

  @BeforeEach
  void make() throws IOException {
    image = folder.resolve("fs.img");
    Extant.mkfs(image, 16 << 20, MkfsOptions.builder().blockSizeBytes(1024).build());
  }

  private static FileName name(int i) {
    return FileName.of("file-" + i);
  }

  private static List<Node> createFiles(Volume volume) throws FsException {
    List<Node> files = new ArrayList<>();
    try (Node root = volume.root()) {
      for (int i = 0; i < WAITERS; i++) {
        Node file = volume.create(root, name(i), new NewFile(0600, 0, 0));
        files.add(file);
        volume.append(file, MemorySegment.ofArray(new byte[100]));
      }
    }
    return files;
  }

  private static Throwable rootCause(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static void assertPlanned(Throwable error) {
    assertThat(error).isInstanceOf(FsException.class);
    assertThat(rootCause(error)).hasMessageContaining("planned failure");
  }

  private static void assertFails(CompletableFuture<Void> durable) {
    assertThatThrownBy(durable::join)
        .isInstanceOf(CompletionException.class)
        .satisfies(e -> assertPlanned(e.getCause()));
  }

  /// The error is on the image, which was not marked clean, and recovers.
  private void assertMarkedAndRecoverable(boolean marked) throws IOException {
    byte[] superblock = CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE);
    int state = Superblock.state(MemorySegment.ofArray(superblock));
    assertThat((state & Superblock.STATE_ERRORS) != 0).isEqualTo(marked);
    Oracles.require("e2fsck");
    Oracles.run("e2fsck", "-fy", image).expect(0, 1);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  /// Also with `continue`: a journal that cannot be written to cannot go on.
  @ParameterizedTest
  @CsvSource({"remount-ro, WRITE", "remount-ro, FLUSH", "continue, FLUSH", "panic, FLUSH"})
  void aFailedCommitReachesEveryWaiterAndEndsAllChanges(String policy, Operation operation)
      throws IOException {
    FaultyDevice device = new FaultyDevice(FileDevice.open(image, false), 1);
    Extant mount = Extant.open(device, MountOptions.parse("commit=0,errors=" + policy));
    Volume volume = mount.volume();
    List<Node> files = createFiles(volume);
    device.failNth(operation, 1, Kind.UNKNOWN);
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    for (Node file : files) {
      waiting.add(CompletableFuture.runAsync(() -> volume.fsync(file, false).join()));
    }
    for (CompletableFuture<Void> waiter : waiting) {
      assertThatThrownBy(waiter::join).satisfies(e -> assertThat(rootCause(e)).isNotNull());
    }
    if (policy.equals("panic")) {
      assertClosed(volume);
    } else {
      for (CompletableFuture<Void> waiter : waiting) {
        assertFails(waiter);
      }
      assertFails(volume.fsync(files.getFirst(), false));
      assertThat(volume.readOnly()).isTrue();
      assertThatThrownBy(() -> volume.append(files.getFirst(), MemorySegment.ofArray(new byte[1])))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EROFS))
          .satisfies(ErrorPoliciesTest::assertPlanned);
      assertThatThrownBy(volume::sync).satisfies(ErrorPoliciesTest::assertPlanned);
      assertThat(volume.read(files.getFirst(), 0, MemorySegment.ofArray(new byte[200])))
          .isEqualTo(100);
    }
    assertThatThrownBy(volume::close).satisfies(ErrorPoliciesTest::assertPlanned);
    mount.close();
    FileDevice.open(image, false).close();
    // The device took nothing any more, not even the error.
    assertMarkedAndRecoverable(false);
  }

  private static void assertClosed(Volume volume) {
    long end = System.nanoTime() + 10_000_000_000L;
    while (System.nanoTime() < end) {
      try {
        volume.root().close();
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EBADF);
        return;
      }
      Thread.yield();
    }
    throw new AssertionError("the volume is still open");
  }

  /// A device that reports its failure only once, when told to.
  private static final class FaultyOnce extends DelegatingDevice {
    volatile boolean fail;

    FaultyOnce(BlockDevice base) {
      super(base);
    }

    @Override
    public void flush() throws DeviceException {
      if (fail) {
        fail = false;
        throw new DeviceException(
            Kind.UNKNOWN, Operation.FLUSH, name(), -1, 0, "planned failure", null);
      }
      super.flush();
    }
  }

  /// Nothing is tried again, and nothing but the error is written.
  @Test
  void afterAFailedFlushOnlyTheErrorIsWritten() throws IOException {
    RecordingDevice recording = new RecordingDevice(FileDevice.open(image, false));
    FaultyOnce device = new FaultyOnce(recording);
    Extant mount = Extant.open(device, MountOptions.parse("commit=0"));
    List<Node> files = createFiles(mount.volume());
    device.fail = true;
    assertFails(mount.volume().fsync(files.getFirst(), false));
    long failedAt = recording.ticks();
    assertFails(mount.volume().fsync(files.getFirst(), false));
    assertFails(mount.volume().fsync(files.getLast(), false));
    assertThatThrownBy(mount::close).hasStackTraceContaining("planned failure");
    long journal = Long.parseLong(journalBlock()) * 1024;
    for (RecordingDevice.Entry entry : recording.log().entries()) {
      if (!entry.flush() && entry.beginTick() >= failedAt) {
        assertThat(entry.write().offset()).isIn((long) Superblock.OFFSET, journal);
        assertThat(entry.write().lengthBytes()).isEqualTo(1024);
      }
    }
    assertMarkedAndRecoverable(true);
  }

  /// What is flushed without a commit, since nothing changed.
  @ParameterizedTest
  @CsvSource({"remount-ro", "continue"})
  void afterAFailedFlushOfDataNothingIsCalledDurable(String policy) throws IOException {
    FaultyOnce device = new FaultyOnce(FileDevice.open(image, false));
    Extant mount = Extant.open(device, MountOptions.parse("commit=0,errors=" + policy));
    Volume volume = mount.volume();
    Node file = createFiles(volume).getFirst();
    volume.fsync(file, false).join();
    device.fail = true;
    assertFails(volume.fsync(file, false));
    assertThat(device.fail).isFalse();
    assertFails(volume.fsync(file, false));
    assertThat(volume.readOnly()).isTrue();
    assertThatThrownBy(mount::close).hasStackTraceContaining("planned failure");
    assertMarkedAndRecoverable(true);
  }

  private String journalBlock() throws IOException {
    Oracles.require("debugfs");
    return Oracles.run("debugfs", "-R", "bmap <8> 0", image)
        .expect(0)
        .output()
        .lines()
        .filter(line -> line.matches("\\d+"))
        .findFirst()
        .orElseThrow();
  }

  /// Makes a directory whose block has a wrong checksum.
  private void damageDirectory() throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path directory = Files.createDirectory(mount.fileSystem().getPath("/damaged"));
      Files.writeString(directory.resolve(LOST), "content");
      Files.writeString(mount.fileSystem().getPath("/well"), "content");
    }
    byte[] bytes = Files.readAllBytes(image);
    byte[] pattern = LOST.getBytes(StandardCharsets.US_ASCII);
    int found = 0;
    for (int at = 0; at + pattern.length < bytes.length; at++) {
      if (java.util.Arrays.equals(bytes, at, at + pattern.length, pattern, 0, pattern.length)) {
        CrashedImage.write(image, at, "A".getBytes(StandardCharsets.US_ASCII));
        found++;
      }
    }
    assertThat(found).isPositive();
  }

  private enum Policy {
    REMOUNT_RO,
    CONTINUE,
    PANIC
  }

  @ParameterizedTest
  @EnumSource
  void aCorruptionThatWasFound(Policy policy) throws IOException {
    damageDirectory();
    String option = policy.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    Extant mount = Extant.open(image, MountOptions.parse("errors=" + option));
    Volume volume = mount.volume();
    try (Node root = volume.root();
        Node directory = volume.lookup(root, FileName.of("damaged"))) {
      assertThatThrownBy(() -> volume.lookup(directory, FileName.of(LOST)))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
      switch (policy) {
        case CONTINUE -> {
          assertThat(volume.readOnly()).isFalse();
          Files.writeString(mount.fileSystem().getPath("/new"), "content");
          volume.sync();
        }
        case REMOUNT_RO -> {
          assertThat(volume.readOnly()).isTrue();
          assertThat(Files.readString(mount.fileSystem().getPath("/well"))).isEqualTo("content");
          assertThatThrownBy(() -> volume.create(root, name(1), new NewFile(0600, 0, 0)))
              .isInstanceOfSatisfying(
                  FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EROFS));
        }
        case PANIC -> assertClosed(volume);
      }
    }
    if (policy == Policy.CONTINUE) {
      volume.close();
    } else {
      assertThatThrownBy(volume::close)
          .isInstanceOf(FsException.class)
          .hasStackTraceContaining("directory");
    }
    mount.close();
    assertMarkedAndRecoverable(true);
  }
}
