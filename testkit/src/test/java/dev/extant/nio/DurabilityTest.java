package dev.extant.nio;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DSYNC;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// When durable operations return, with a volume that is told when to be done.
@Timeout(10)
class DurabilityTest {
  private final ControlledVolume controlled = new ControlledVolume();
  private final ExtantFileSystem fileSystem = ExtantFileSystem.over(controlled.volume());
  private final Path file = fileSystem.getPath("/file");

  @AfterEach
  void closeAndCountReferences() throws IOException {
    controlled.syncs.forEach(sync -> sync.future().complete(null));
    fileSystem.close();
    assertThat(controlled.memory.openReferences()).isZero();
  }

  private FileChannel open(OpenOption... more) throws IOException {
    OpenOption[] options = java.util.Arrays.copyOf(more, more.length + 2);
    options[more.length] = WRITE;
    options[more.length + 1] = CREATE;
    return FileChannel.open(file, options);
  }

  /// A task, and the thread that runs it.
  private record Running<T>(FutureTask<T> task, Thread thread) {}

  private static <T> Running<T> start(Callable<T> callable, boolean virtual) {
    FutureTask<T> task = new FutureTask<>(callable);
    Thread thread = virtual ? Thread.ofVirtual().start(task) : Thread.ofPlatform().start(task);
    return new Running<>(task, thread);
  }

  private static Callable<Object> forcing(FileChannel channel) {
    return () -> {
      channel.force(true);
      return null;
    };
  }

  private static ByteBuffer bytes() {
    return ByteBuffer.wrap(new byte[] {1, 2, 3});
  }

  @Test
  void forceReturnsWhenTheVolumeIsDone() throws Exception {
    try (FileChannel channel = open()) {
      Running<Object> forcer = start(forcing(channel), true);
      ControlledVolume.Sync sync = controlled.awaitSync(0);
      Thread.sleep(20);
      assertThat(forcer.task().isDone()).isFalse();
      sync.future().complete(null);
      forcer.task().get();
      assertThat(sync.dataOnly()).isFalse();
    }
  }

  @Test
  void eachOperationAsksForWhatItNeeds() throws Exception {
    try (FileChannel sync = open(SYNC);
        FileChannel dsync = open(DSYNC);
        FileChannel plain = open()) {
      plain.write(bytes());
      plain.truncate(2);
      sync.write(ByteBuffer.allocate(0));
      sync.truncate(100);
      assertThat(controlled.syncs).isEmpty();
      start(() -> sync.write(bytes()), true);
      assertThat(controlled.awaitSync(0).dataOnly()).isFalse();
      start(() -> dsync.write(bytes(), 7), true);
      assertThat(controlled.awaitSync(1).dataOnly()).isTrue();
      start(() -> dsync.write(new ByteBuffer[] {bytes(), bytes()}), true);
      assertThat(controlled.awaitSync(2).dataOnly()).isTrue();
      Running<FileChannel> cutter = start(() -> sync.truncate(0), true);
      assertThat(controlled.awaitSync(3).dataOnly()).isFalse();
      controlled.syncs.forEach(each -> each.future().complete(null));
      cutter.task().get();
      Running<Object> forcer =
          start(
              () -> {
                plain.force(false);
                return null;
              },
              true);
      assertThat(controlled.awaitSync(4).dataOnly()).isTrue();
      controlled.awaitSync(4).future().complete(null);
      forcer.task().get();
    }
  }

  @Test
  void aSynchronousWriterDoesNotHoldTheNextOneUp() throws Exception {
    try (FileChannel channel = open(SYNC)) {
      Running<Integer> first = start(() -> channel.write(bytes()), true);
      controlled.awaitSync(0);
      Running<Integer> second = start(() -> channel.write(bytes()), true);
      controlled.awaitSync(1);
      assertThat(Files.size(file)).isEqualTo(6);
      controlled.syncs.forEach(sync -> sync.future().complete(null));
      assertThat(first.task().get() + second.task().get()).isEqualTo(6);
    }
  }

  @Test
  void aFailureReachesTheCaller() throws Exception {
    try (FileChannel channel = open()) {
      Running<Object> forcer = start(forcing(channel), true);
      FsException failure = new FsException(Errno.EIO, "the disk is gone");
      controlled.awaitSync(0).future().completeExceptionally(failure);
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(forcer.task()::get)
          .havingCause()
          .isInstanceOf(FileSystemException.class)
          .withMessageContaining("/file")
          .withMessageContaining("the disk is gone");
      assertThat(channel.isOpen()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anInterruptEndsTheWaitAndClosesThisChannelOnly(boolean virtual) throws Exception {
    for (int i = 0; i < 50; i++) {
      try (FileChannel waiting = open();
          FileChannel other = open()) {
        Running<Boolean> forcer =
            start(
                () -> {
                  assertThatExceptionOfType(ClosedByInterruptException.class)
                      .isThrownBy(() -> waiting.force(true));
                  return Thread.interrupted();
                },
                virtual);
        CompletableFuture<Void> promise = controlled.awaitSync(i).future();
        forcer.thread().interrupt();
        assertThat(forcer.task().get()).as("interrupt status").isTrue();
        assertThat(waiting.isOpen()).isFalse();
        assertThat(other.isOpen()).isTrue();
        assertThat(promise.isDone()).as("the commit goes on").isFalse();
      }
    }
  }

  @Test
  void closingEndsTheWait() throws Exception {
    FileChannel channel = open();
    Running<Object> forcer = start(forcing(channel), true);
    CompletableFuture<Void> promise = controlled.awaitSync(0).future();
    channel.close();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(forcer.task()::get)
        .withCauseInstanceOf(AsynchronousCloseException.class);
    assertThat(promise.isDone()).isFalse();
  }

  @Test
  void closingTheFileSystemWaitsForOperations() throws Exception {
    FileChannel channel = open();
    Running<Object> forcer = start(forcing(channel), true);
    ControlledVolume.Sync sync = controlled.awaitSync(0);
    Running<Object> closer =
        start(
            () -> {
              fileSystem.close();
              return null;
            },
            true);
    Thread.sleep(20);
    assertThat(closer.task().isDone()).isFalse();
    sync.future().complete(null);
    forcer.task().get();
    closer.task().get();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void fsyncOfAPath() throws Exception {
    Files.createFile(file);
    CompletableFuture<Void> durable = ExtantFiles.fsync(file);
    assertThat(durable).isNotDone();
    controlled.awaitSync(0).future().complete(null);
    assertThat(durable).isCompleted();
    CompletableFuture<Void> directory = ExtantFiles.fsync(fileSystem.getPath("/"));
    FsException failure = new FsException(Errno.EIO, "the disk is gone");
    controlled.awaitSync(1).future().completeExceptionally(failure);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(directory::get)
        .withCauseInstanceOf(FileSystemException.class);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> ExtantFiles.fsync(fileSystem.getPath("/missing")).get())
        .withCauseInstanceOf(NoSuchFileException.class);
    assertThatExceptionOfType(ProviderMismatchException.class)
        .isThrownBy(() -> ExtantFiles.fsync(Path.of("x")));
  }

  @Test
  void syncOfAFileSystem() throws IOException {
    ExtantFiles.sync(fileSystem);
    assertThatExceptionOfType(ProviderMismatchException.class)
        .isThrownBy(() -> ExtantFiles.sync(FileSystems.getDefault()));
  }

  @Test
  void rangesOfAFile() throws IOException {
    Files.writeString(file, "abc");
    Path link = Files.createSymbolicLink(fileSystem.getPath("/link"), file);
    ExtantFiles.allocate(link, AllocateMode.PUNCH_HOLE, 1, 2);
    assertThat(controlled.allocations).containsExactly("PUNCH_HOLE 1 2");
    assertThat(ExtantFiles.seekData(link, 1)).isEqualTo(1);
    assertThat(ExtantFiles.seekHole(link, 1)).isEqualTo(3);
    assertThat(ExtantFiles.seekData(link, 3)).isEqualTo(-1);
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(
            () ->
                ExtantFiles.allocate(fileSystem.getPath("/missing"), AllocateMode.ALLOCATE, 0, 1));
    assertThatExceptionOfType(ProviderMismatchException.class)
        .isThrownBy(() -> ExtantFiles.seekData(Path.of("x"), 0));
  }

  @Test
  void closingAnAsynchronousChannelEndsItsWaits() throws Exception {
    AsynchronousFileChannel channel = AsynchronousFileChannel.open(file, WRITE, CREATE, SYNC);
    Future<Integer> write = channel.write(bytes(), 0);
    CompletableFuture<Void> promise = controlled.awaitSync(0).future();
    assertThat(write.isDone()).isFalse();
    channel.close();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(write::get)
        .withCauseInstanceOf(AsynchronousCloseException.class);
    assertThat(promise.isDone()).isFalse();
    assertThat(Files.size(file)).isEqualTo(3);
  }

  @Test
  void asynchronousWritersDoNotHoldEachOtherUp() throws Exception {
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(file, WRITE, CREATE, DSYNC)) {
      List<Future<Integer>> writes = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        writes.add(channel.write(bytes(), 3L * i));
      }
      controlled.awaitSync(19);
      assertThat(writes).noneMatch(Future::isDone);
      controlled.syncs.forEach(sync -> sync.future().complete(null));
      for (Future<Integer> write : writes) {
        assertThat(write.get()).isEqualTo(3);
      }
      assertThat(controlled.syncs).allMatch(ControlledVolume.Sync::dataOnly);
    }
  }
}
