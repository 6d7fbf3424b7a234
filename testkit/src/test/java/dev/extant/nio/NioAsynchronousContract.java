package dev.extant.nio;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Asynchronous file channels.
@Timeout(30)
interface NioAsynchronousContract extends NioFixture {
  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  private AsynchronousFileChannel open(OpenOption... options) throws IOException {
    return AsynchronousFileChannel.open(path("file"), options);
  }

  /// The result of an operation with a handler, and the thread that told it.
  final class Told<V> implements CompletionHandler<V, String> {
    final CompletableFuture<V> result = new CompletableFuture<>();
    volatile String attachment;
    volatile Thread thread;

    @Override
    public void completed(V value, String given) {
      attachment = given;
      thread = Thread.currentThread();
      result.complete(value);
    }

    @Override
    public void failed(Throwable failure, String given) {
      attachment = given;
      thread = Thread.currentThread();
      result.completeExceptionally(failure);
    }
  }

  @Test
  default void futuresOfReadsAndWrites() throws Exception {
    try (AsynchronousFileChannel channel = open(READ, WRITE, CREATE)) {
      ByteBuffer source = bytes("xxabcxx").position(2).limit(5);
      assertThat(channel.write(source, 4).get()).isEqualTo(3);
      assertThat(source.position()).isEqualTo(5);
      assertThat(channel.size()).isEqualTo(7);
      ByteBuffer target = ByteBuffer.allocate(10);
      assertThat(channel.read(target, 3).get()).isEqualTo(4);
      assertThat(target.flip()).isEqualTo(bytes("\0abc"));
      assertThat(channel.read(ByteBuffer.allocate(1), 7).get()).isEqualTo(-1);
      assertThat(channel.read(ByteBuffer.allocateDirect(1), 700).get()).isEqualTo(-1);
      assertThat(channel.read(ByteBuffer.allocate(0), 0).get()).isZero();
      assertThat(channel.write(bytes(""), 100).get()).isZero();
      assertThat(channel.size()).isEqualTo(7);
    }
  }

  @Test
  default void handlersOfReadsAndWrites() throws Exception {
    try (AsynchronousFileChannel channel = open(READ, WRITE, CREATE, SYNC)) {
      Told<Integer> written = new Told<>();
      channel.write(bytes("abc"), 0, "first", written);
      assertThat(written.result.get()).isEqualTo(3);
      assertThat(written.attachment).isEqualTo("first");
      Told<Integer> read = new Told<>();
      ByteBuffer target = ByteBuffer.allocateDirect(2);
      channel.read(target, 1, null, read);
      assertThat(read.result.get()).isEqualTo(2);
      assertThat(read.attachment).isNull();
      assertThat(target.flip()).isEqualTo(bytes("bc"));
    }
  }

  @Test
  default void argumentsAreChecked() throws IOException {
    try (AsynchronousFileChannel channel = open(READ, WRITE, CREATE)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> channel.read(ByteBuffer.allocate(1), -1));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.write(bytes("x"), -1));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> channel.read(bytes("x").asReadOnlyBuffer(), 0));
      assertThatIllegalArgumentException().isThrownBy(() -> channel.truncate(-1));
      assertThatExceptionOfType(NullPointerException.class)
          .isThrownBy(() -> channel.read(ByteBuffer.allocate(1), 0, null, null));
      assertThatExceptionOfType(NullPointerException.class)
          .isThrownBy(() -> channel.write(bytes("x"), 0, null, null));
      assertThatExceptionOfType(NullPointerException.class)
          .isThrownBy(() -> channel.lock(0, 1, false, null, null));
    }
    try (AsynchronousFileChannel reader = open(READ);
        AsynchronousFileChannel writer = open(WRITE)) {
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.write(bytes("x"), 0));
      assertThatExceptionOfType(NonWritableChannelException.class)
          .isThrownBy(() -> reader.truncate(0));
      assertThatExceptionOfType(NonReadableChannelException.class)
          .isThrownBy(() -> writer.read(ByteBuffer.allocate(1), 0));
    }
  }

  @Test
  default void openingLikeOtherChannels() throws Exception {
    assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> open(READ));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> open(WRITE, CREATE, APPEND));
    var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    try (AsynchronousFileChannel channel =
        AsynchronousFileChannel.open(
            path("file"), Set.of(WRITE, CREATE_NEW, DELETE_ON_CLOSE), null, mode)) {
      assertThat(channel.write(bytes("abc"), 0).get()).isEqualTo(3);
    }
    assertThat(path("file")).doesNotExist();
    Files.createFile(path("file"));
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> open(WRITE, CREATE_NEW));
  }

  @Test
  default void truncatingAndForcing() throws Exception {
    Files.writeString(path("file"), "abcdef");
    try (AsynchronousFileChannel channel = open(WRITE)) {
      assertThat(channel.truncate(3)).isSameAs(channel);
      channel.truncate(100);
      channel.force(true);
      channel.force(false);
      assertThat(channel.size()).isEqualTo(3);
    }
    assertThat(path("file")).hasContent("abc");
  }

  @Test
  default void anExecutorOfTheUsers() throws Exception {
    try (ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "the user's"))) {
      try (AsynchronousFileChannel channel =
          AsynchronousFileChannel.open(path("file"), Set.of(READ, WRITE, CREATE), executor)) {
        Told<Integer> told = new Told<>();
        channel.write(bytes("abc"), 0, "", told);
        assertThat(told.result.get()).isEqualTo(3);
        assertThat(told.thread.getName()).isEqualTo("the user's");
      }
      assertThat(executor.isShutdown()).as("it is the user's").isFalse();
    }
  }

  @Test
  default void aClosedAsynchronousChannelSaysSo() throws Exception {
    AsynchronousFileChannel channel = open(READ, WRITE, CREATE);
    channel.close();
    channel.close();
    assertThat(channel.isOpen()).isFalse();
    List<Future<?>> results =
        List.of(
            channel.read(ByteBuffer.allocate(1), 0), channel.write(bytes("x"), 0), channel.lock());
    for (Future<?> result : results) {
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(result::get)
          .withCauseInstanceOf(ClosedChannelException.class);
    }
    Told<Integer> told = new Told<>();
    channel.read(ByteBuffer.allocate(1), 0, "late", told);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(told.result::get)
        .withCauseInstanceOf(ClosedChannelException.class);
    assertThat(told.attachment).isEqualTo("late");
    List<org.assertj.core.api.ThrowableAssert.ThrowingCallable> uses =
        List.of(
            channel::size, () -> channel.truncate(0), () -> channel.force(true), channel::tryLock);
    for (var use : uses) {
      assertThatExceptionOfType(ClosedChannelException.class).isThrownBy(use);
    }
  }

  /// Makes an executor's only thread wait until the latch is down.
  private static void block(ExecutorService executor, CountDownLatch latch) {
    executor.execute(
        () -> {
          try {
            latch.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  @Test
  default void closingEndsWhatIsPending() throws Exception {
    CountDownLatch latch = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      AsynchronousFileChannel channel =
          AsynchronousFileChannel.open(path("file"), Set.of(READ, WRITE, CREATE), executor);
      block(executor, latch);
      Future<Integer> write = channel.write(bytes("abc"), 0);
      Told<Integer> read = new Told<>();
      channel.read(ByteBuffer.allocate(1), 0, "", read);
      channel.close();
      latch.countDown();
      for (Future<Integer> result : List.of(write, read.result)) {
        assertThatExceptionOfType(ExecutionException.class)
            .isThrownBy(result::get)
            .withCauseInstanceOf(AsynchronousCloseException.class);
      }
    }
    assertThat(path("file")).isEmptyFile();
  }

  @Test
  default void cancelling() throws Exception {
    CountDownLatch latch = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      AsynchronousFileChannel channel =
          AsynchronousFileChannel.open(path("file"), Set.of(READ, WRITE, CREATE), executor);
      block(executor, latch);
      Future<Integer> gentle = channel.write(bytes("abc"), 0);
      Future<Integer> forceful = channel.write(bytes("abc"), 0);
      assertThat(gentle.cancel(false)).isTrue();
      assertThat(channel.isOpen()).isTrue();
      assertThat(forceful.cancel(true)).isTrue();
      assertThat(channel.isOpen()).isFalse();
      latch.countDown();
      for (Future<Integer> result : List.of(gentle, forceful)) {
        assertThat(result.isCancelled()).isTrue();
        assertThat(result.cancel(true)).isFalse();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
      }
    }
  }

  @Test
  default void manyOperationsAtOnce() throws Exception {
    int count = 500;
    try (AsynchronousFileChannel channel = open(READ, WRITE, CREATE)) {
      List<Future<Integer>> writes = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        writes.add(channel.write(bytes(String.format("%07d\n", i)), 8L * i));
      }
      for (Future<Integer> write : writes) {
        assertThat(write.get()).isEqualTo(8);
      }
      List<Told<Integer>> reads = new ArrayList<>();
      List<ByteBuffer> targets = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Told<Integer> told = new Told<>();
        ByteBuffer target = ByteBuffer.allocate(8);
        channel.read(target, 8L * i, Integer.toString(i), told);
        reads.add(told);
        targets.add(target);
      }
      for (int i = 0; i < count; i++) {
        assertThat(reads.get(i).result.get()).isEqualTo(8);
        assertThat(reads.get(i).attachment).isEqualTo(Integer.toString(i));
        assertThat(targets.get(i).flip()).isEqualTo(bytes(String.format("%07d\n", i)));
      }
    }
  }
}
