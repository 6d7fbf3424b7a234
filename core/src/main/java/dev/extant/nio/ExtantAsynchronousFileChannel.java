package dev.extant.nio;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/// A channel to an [OpenFile] whose reads and writes run on an executor.
///
/// What runs when the channel is closed ends as it would have, except waits for durability; what
/// has not begun fails with [AsynchronousCloseException]. Handlers run on the executor. Cancelling
/// a future with `true` closes the channel.
final class ExtantAsynchronousFileChannel extends AsynchronousFileChannel {
  private final OpenFile file;
  private final Executor executor;

  ExtantAsynchronousFileChannel(OpenFile file, Executor executor) {
    this.file = file;
    this.executor = executor;
  }

  /// What an operation will have given.
  private final class Pending<V> extends CompletableFuture<V> {
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = !isDone() && super.cancel(mayInterruptIfRunning);
      if (cancelled && mayInterruptIfRunning) {
        close();
      }
      return cancelled;
    }
  }

  private <V> Future<V> start(Action<V> action) {
    Pending<V> pending = new Pending<>();
    if (isOpen()) {
      executor.execute(() -> run(action, pending));
    } else {
      pending.completeExceptionally(new ClosedChannelException());
    }
    return pending;
  }

  /// Whatever goes wrong is for who waits.
  private static <V> void run(Action<V> action, CompletableFuture<V> pending) {
    if (pending.isDone()) {
      return;
    }
    try {
      pending.complete(action.run());
    } catch (IOException | RuntimeException | Error e) {
      pending.completeExceptionally(
          e instanceof ClosedChannelException ? new AsynchronousCloseException() : e);
    }
  }

  private <V, A> void start(
      Action<V> action, A attachment, CompletionHandler<V, ? super A> handler) {
    boolean open = isOpen();
    executor.execute(
        () -> {
          CompletableFuture<V> result = new CompletableFuture<>();
          if (open) {
            run(action, result);
          } else {
            result.completeExceptionally(new ClosedChannelException());
          }
          if (result.isCompletedExceptionally()) {
            handler.failed(result.exceptionNow(), attachment);
          } else {
            handler.completed(result.resultNow(), attachment);
          }
        });
  }

  /// Checks the arguments of a read, and gives what is to be run.
  private Action<Integer> reading(ByteBuffer target, long offset) {
    OpenFile.requireNotNegative("position", offset);
    OpenFile.requireModifiable(target);
    file.requireReadable();
    return () -> (int) file.operate(() -> file.read(target, offset));
  }

  @Override
  public Future<Integer> read(ByteBuffer target, long offset) {
    return start(reading(target, offset));
  }

  @Override
  public <A> void read(
      ByteBuffer target, long offset, A attachment, CompletionHandler<Integer, ? super A> handler) {
    Objects.requireNonNull(handler);
    start(reading(target, offset), attachment, handler);
  }

  private Action<Integer> writing(ByteBuffer source, long offset) {
    OpenFile.requireNotNegative("position", offset);
    Objects.requireNonNull(source);
    file.requireWritable();
    return () ->
        (int)
            file.operate(
                () -> {
                  int count = file.write(source, offset);
                  if (count > 0) {
                    await(file::awaitDurableIfSync);
                  }
                  return count;
                });
  }

  /// An interrupt of the executor's thread ends the wait, not the channel.
  private void await(OpenFile.Wait wait) throws IOException {
    try {
      wait.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for durability of " + file);
    }
  }

  @Override
  public Future<Integer> write(ByteBuffer source, long offset) {
    return start(writing(source, offset));
  }

  @Override
  public <A> void write(
      ByteBuffer source, long offset, A attachment, CompletionHandler<Integer, ? super A> handler) {
    Objects.requireNonNull(handler);
    start(writing(source, offset), attachment, handler);
  }

  /// A lock is had at once or not at all, see [LockTable]; only its news is asynchronous.
  private Action<FileLock> locking(long offset, long size, boolean shared) {
    if (!isOpen()) {
      return () -> {
        throw new ClosedChannelException();
      };
    }
    FileLock lock;
    try {
      lock = file.lock(this, offset, size, shared);
    } catch (IOException e) {
      return () -> {
        throw e;
      };
    }
    return () -> {
      file.requireOpen();
      return lock;
    };
  }

  @Override
  public Future<FileLock> lock(long offset, long size, boolean shared) {
    return start(locking(offset, size, shared));
  }

  @Override
  public <A> void lock(
      long offset,
      long size,
      boolean shared,
      A attachment,
      CompletionHandler<FileLock, ? super A> handler) {
    Objects.requireNonNull(handler);
    start(locking(offset, size, shared), attachment, handler);
  }

  @Override
  public FileLock tryLock(long offset, long size, boolean shared) throws IOException {
    return file.lock(this, offset, size, shared);
  }

  @Override
  public long size() throws IOException {
    return file.operate(file::size);
  }

  @Override
  public AsynchronousFileChannel truncate(long size) throws IOException {
    file.requireOpen();
    OpenFile.requireNotNegative("size", size);
    file.requireWritable();
    file.operate(
        () -> {
          if (file.truncate(size)) {
            await(file::awaitDurableIfSync);
          }
          return size;
        });
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    file.operate(
        () -> {
          await(() -> file.awaitDurable(!metaData));
          return 0;
        });
  }

  @Override
  public boolean isOpen() {
    return file.isOpen();
  }

  @Override
  public void close() {
    file.close(this);
  }

  @Override
  public String toString() {
    return "asynchronous channel to " + file;
  }
}
