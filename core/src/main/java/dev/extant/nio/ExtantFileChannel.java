package dev.extant.nio;

import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/// A channel to an [OpenFile] with a position.
///
/// 1. An interrupt closes this channel only, never another.
/// 2. Operations with the position are one after the other; their waits for durability are not.
final class ExtantFileChannel extends FileChannel {
  private final OpenFile file;

  private final ReentrantLock positionLock = new ReentrantLock();

  /// Guarded by `positionLock`.
  private long position;

  ExtantFileChannel(OpenFile file) {
    this.file = file;
  }

  private long operate(OpenFile.LongAction action) throws IOException {
    boolean completed = false;
    try {
      begin();
      long result = file.operate(action);
      completed = true;
      return result;
    } catch (ClosedByInterruptException e) {
      // end() would call it AsynchronousCloseException.
      completed = true;
      throw e;
    } finally {
      end(completed);
    }
  }

  /// An operation with the position. If it changed the file the change is made durable where the
  /// channel was opened so.
  private long operateAtPosition(boolean writes, OpenFile.LongAction action) throws IOException {
    return operate(
        () -> {
          long result;
          positionLock.lock();
          try {
            result = action.run();
          } finally {
            positionLock.unlock();
          }
          if (writes && result > 0) {
            await(file::awaitDurableIfSync);
          }
          return result;
        });
  }

  private void await(OpenFile.Wait wait) throws IOException {
    try {
      wait.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new ClosedByInterruptException();
    }
  }

  void requireReadable() throws ClosedChannelException {
    requireOpen();
    file.requireReadable();
  }

  void requireWritable() throws ClosedChannelException {
    requireOpen();
    file.requireWritable();
  }

  private void requireOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return (int) read(new ByteBuffer[] {target}, 0, 1);
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, targets.length);
    requireReadable();
    for (int i = offset; i < offset + length; i++) {
      OpenFile.requireModifiable(targets[i]);
    }
    return operateAtPosition(
        false,
        () -> {
          long total = 0;
          for (int i = offset; i < offset + length; i++) {
            int wanted = targets[i].remaining();
            int count = file.read(targets[i], position);
            if (count < 0) {
              return total == 0 ? -1 : total;
            }
            position += count;
            total += count;
            if (count < wanted) {
              return total;
            }
          }
          return total;
        });
  }

  @Override
  public int read(ByteBuffer target, long offset) throws IOException {
    OpenFile.requireNotNegative("position", offset);
    requireReadable();
    OpenFile.requireModifiable(target);
    return (int) operate(() -> file.read(target, offset));
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    requireWritable();
    Objects.requireNonNull(source);
    return (int) operateAtPosition(true, () -> writeAtPosition(source));
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    requireWritable();
    for (int i = offset; i < offset + length; i++) {
      Objects.requireNonNull(sources[i]);
    }
    return operateAtPosition(
        true, () -> appends() ? append(sources, offset, length) : gather(sources, offset, length));
  }

  /// Caller holds `positionLock`.
  private long gather(ByteBuffer[] sources, int offset, int length) throws FsException {
    long total = 0;
    for (int i = offset; i < offset + length; i++) {
      int wanted = sources[i].remaining();
      int count;
      try {
        count = writeAtPosition(sources[i]);
      } catch (FsException e) {
        if (total > 0) {
          return total;
        }
        throw e;
      }
      total += count;
      if (count < wanted) {
        return total;
      }
    }
    return total;
  }

  /// Appends all buffers as one. Caller holds `positionLock`.
  private long append(ByteBuffer[] sources, int offset, int length) throws FsException {
    long total = 0;
    for (int i = offset; i < offset + length; i++) {
      total += sources[i].remaining();
    }
    ByteBuffer joined = ByteBuffer.allocate((int) Math.min(total, Integer.MAX_VALUE - 8));
    for (int i = offset; i < offset + length; i++) {
      int count = Math.min(sources[i].remaining(), joined.remaining());
      joined.put(sources[i].slice(sources[i].position(), count));
    }
    int written = writeAtPosition(joined.flip());
    int left = written;
    for (int i = offset; i < offset + length; i++) {
      int count = Math.min(sources[i].remaining(), left);
      sources[i].position(sources[i].position() + count);
      left -= count;
    }
    return written;
  }

  /// Caller holds `positionLock`.
  private int writeAtPosition(ByteBuffer source) throws FsException {
    int count;
    if (appends() && source.hasRemaining()) {
      count = source.remaining();
      position = file.append(source);
    } else {
      count = file.write(source, position);
    }
    position += count;
    return count;
  }

  @Override
  public int write(ByteBuffer source, long offset) throws IOException {
    OpenFile.requireNotNegative("position", offset);
    requireWritable();
    Objects.requireNonNull(source);
    return (int)
        operate(
            () -> {
              int count = file.write(source, offset);
              if (count > 0) {
                await(file::awaitDurableIfSync);
              }
              return count;
            });
  }

  @Override
  public long position() throws IOException {
    requireOpen();
    return operateAtPosition(false, () -> appends() ? file.size() : position);
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    requireOpen();
    OpenFile.requireNotNegative("position", newPosition);
    operateAtPosition(false, () -> position = newPosition);
    return this;
  }

  @Override
  public long size() throws IOException {
    requireOpen();
    return operate(file::size);
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    requireOpen();
    OpenFile.requireNotNegative("size", size);
    requireWritable();
    operateAtPosition(
        true,
        () -> {
          boolean cut = file.truncate(size);
          position = Math.min(position, size);
          return cut ? 1 : 0;
        });
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    requireOpen();
    operate(
        () -> {
          await(() -> file.awaitDurable(!metaData));
          return 0;
        });
  }

  @Override
  public long transferTo(long offset, long count, WritableByteChannel target) throws IOException {
    OpenFile.requireNotNegative("position", offset);
    OpenFile.requireNotNegative("count", count);
    requireReadable();
    return ChannelTransfer.to(this, offset, count, target);
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long offset, long count) throws IOException {
    OpenFile.requireNotNegative("position", offset);
    OpenFile.requireNotNegative("count", count);
    requireWritable();
    return ChannelTransfer.from(source, this, offset, count);
  }

  /// @throws UnsupportedOperationException always: a [MappedByteBuffer] maps a file of the
  ///   operating system; [#map(MapMode, long, long, Arena)] copies
  @Override
  public MappedByteBuffer map(MapMode mode, long offset, long size) {
    throw new UnsupportedOperationException(
        "a file in an image cannot be mapped; map it with an Arena, or read it");
  }

  /// A copy of a part of the file, up to its end at most.
  ///
  /// @throws UnsupportedOperationException for READ_WRITE
  @Override
  public MemorySegment map(MapMode mode, long offset, long size, Arena arena) throws IOException {
    OpenFile.requireNotNegative("offset", offset);
    OpenFile.requireNotNegative("size", size);
    if (mode != MapMode.READ_ONLY && mode != MapMode.PRIVATE) {
      throw new UnsupportedOperationException("a file in an image cannot be mapped " + mode);
    }
    requireReadable();
    if (offset > size() - size) {
      throw new IOException(
          file + ": cannot map " + size + " bytes at " + offset + " behind the end of the file");
    }
    MemorySegment copy = arena.allocate(size);
    operate(
        () -> {
          file.read(copy, offset);
          return size;
        });
    return mode == MapMode.READ_ONLY ? copy.asReadOnly() : copy;
  }

  /// Locks are held on behalf of the JVM, so this never waits: an overlap is an
  /// [java.nio.channels.OverlappingFileLockException].
  @Override
  public FileLock lock(long offset, long size, boolean shared) throws IOException {
    return tryLock(offset, size, shared);
  }

  @Override
  public FileLock tryLock(long offset, long size, boolean shared) throws IOException {
    requireOpen();
    return file.lock(this, offset, size, shared);
  }

  @Override
  protected void implCloseChannel() {
    file.close(this);
  }

  @Override
  public String toString() {
    return "channel to " + file;
  }

  private boolean appends() {
    return file.options().append();
  }
}
