package dev.extant.nio;

import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/// A channel to an open file.
///
/// Definitions: an *operation* is inside the file system's gate and the channel's own, so that
/// neither the volume nor the node is closed under it. A *wait* is an operation's wait for
/// durability.
///
/// 1. The node is closed once, after [#close()] and the last operation.
/// 2. Closing ends every wait with [AsynchronousCloseException]; the commit waited for goes on.
/// 3. An interrupt closes this channel only, never another.
/// 4. Operations with the channel's position are one after the other; their waits are not.
///
/// In append mode positional writes append too, as pwrite(2) does in Linux. On a directory only
/// `force` and `size` work.
final class ExtantFileChannel extends FileChannel {
  private static final int TRANSFER_BYTES = 64 << 10;

  private final ExtantFileSystem fileSystem;
  private final ExtantPath path;
  private final Volume volume;
  private final Node node;
  private final OpenOptions options;
  private final Gate gate;

  private final ReentrantLock positionLock = new ReentrantLock();

  /// Guarded by `positionLock`.
  private long position;

  private final Waits waits = new Waits(this::isOpen);

  /// Takes the node over.
  ExtantFileChannel(ExtantFileSystem fileSystem, ExtantPath path, Node node, OpenOptions options) {
    this.fileSystem = fileSystem;
    this.path = path;
    this.volume = fileSystem.volume();
    this.node = node;
    this.options = options;
    this.gate = new Gate(node::close);
  }

  @FunctionalInterface
  private interface LongAction {
    long run() throws IOException;
  }

  private long operate(LongAction action) throws IOException {
    boolean completed = false;
    try {
      begin();
      long result = entered(action);
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

  private long entered(LongAction action) throws IOException {
    if (!fileSystem.enter()) {
      throw new ClosedChannelException();
    }
    try {
      if (!gate.enter()) {
        throw new ClosedChannelException();
      }
      try {
        return action.run();
      } catch (FsException e) {
        throw Errors.inChannel(e, path);
      } finally {
        gate.exit();
      }
    } finally {
      fileSystem.exit();
    }
  }

  /// An operation with the position. If it changed the file the change is made durable where the
  /// channel was opened so.
  private long operateAtPosition(boolean writes, LongAction action) throws IOException {
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
            awaitDurableIfSync();
          }
          return result;
        });
  }

  private void awaitDurableIfSync() throws IOException {
    if (options.sync()) {
      awaitDurable(false);
    } else if (options.dsync()) {
      awaitDurable(true);
    }
  }

  private void awaitDurable(boolean dataOnly) throws IOException {
    try {
      waits.await(volume.fsync(node, dataOnly));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new ClosedByInterruptException();
    }
  }

  private void requireReadable() throws ClosedChannelException {
    requireOpen();
    if (!options.read()) {
      throw new NonReadableChannelException();
    }
  }

  private void requireWritable() throws ClosedChannelException {
    requireOpen();
    if (!options.write()) {
      throw new NonWritableChannelException();
    }
  }

  private void requireOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  private static void requireNotNegative(String what, long value) {
    if (value < 0) {
      throw new IllegalArgumentException("negative " + what + ": " + value);
    }
  }

  /// Fills the buffer from an offset; -1 at or behind the end of the file.
  private int readAt(ByteBuffer target, long offset) throws FsException {
    if (!target.hasRemaining()) {
      return 0;
    }
    int count = volume.read(node, offset, MemorySegment.ofBuffer(target));
    target.position(target.position() + count);
    return count == 0 ? -1 : count;
  }

  private int writeAt(ByteBuffer source, long offset) throws FsException {
    if (!source.hasRemaining()) {
      return 0;
    }
    int count = source.remaining();
    if (options.append()) {
      append(source);
    } else {
      count = volume.write(node, offset, MemorySegment.ofBuffer(source));
      source.position(source.position() + count);
    }
    return count;
  }

  /// Returns the offset that the bytes got.
  private long append(ByteBuffer source) throws FsException {
    long offset = volume.append(node, MemorySegment.ofBuffer(source));
    source.position(source.limit());
    return offset;
  }

  private long sizeNow() throws FsException {
    return volume.attributes(node).sizeBytes();
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
      requireModifiable(targets[i]);
    }
    return operateAtPosition(
        false,
        () -> {
          long total = 0;
          for (int i = offset; i < offset + length; i++) {
            int wanted = targets[i].remaining();
            int count = readAt(targets[i], position);
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
    requireNotNegative("position", offset);
    requireReadable();
    requireModifiable(target);
    return (int) operate(() -> readAt(target, offset));
  }

  private static void requireModifiable(ByteBuffer target) {
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("a read-only buffer cannot be read into");
    }
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
        true,
        () -> options.append() ? append(sources, offset, length) : gather(sources, offset, length));
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
    if (options.append() && source.hasRemaining()) {
      count = source.remaining();
      position = append(source);
    } else {
      count = writeAt(source, position);
    }
    position += count;
    return count;
  }

  @Override
  public int write(ByteBuffer source, long offset) throws IOException {
    requireNotNegative("position", offset);
    requireWritable();
    Objects.requireNonNull(source);
    return (int)
        operate(
            () -> {
              int count = writeAt(source, offset);
              if (count > 0) {
                awaitDurableIfSync();
              }
              return count;
            });
  }

  @Override
  public long position() throws IOException {
    requireOpen();
    return operateAtPosition(false, () -> options.append() ? sizeNow() : position);
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    requireOpen();
    requireNotNegative("position", newPosition);
    operateAtPosition(false, () -> position = newPosition);
    return this;
  }

  @Override
  public long size() throws IOException {
    requireOpen();
    return operate(this::sizeNow);
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    requireOpen();
    requireNotNegative("size", size);
    requireWritable();
    operateAtPosition(
        true,
        () -> {
          boolean shorter = size < sizeNow();
          if (shorter) {
            volume.truncate(node, size);
          }
          position = Math.min(position, size);
          return shorter ? 1 : 0;
        });
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    requireOpen();
    operate(
        () -> {
          awaitDurable(!metaData);
          return 0;
        });
  }

  @Override
  public long transferTo(long offset, long count, WritableByteChannel target) throws IOException {
    requireNotNegative("position", offset);
    requireNotNegative("count", count);
    requireReadable();
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    if (target instanceof ExtantFileChannel channel) {
      channel.requireWritable();
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(count, TRANSFER_BYTES));
    long done = 0;
    while (done < count) {
      buffer.clear().limit((int) Math.min(count - done, buffer.capacity()));
      int read = read(buffer, offset + done);
      if (read < 0) {
        break;
      }
      int written = target.write(buffer.flip());
      done += written;
      if (written < read) {
        break;
      }
    }
    return done;
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long offset, long count) throws IOException {
    requireNotNegative("position", offset);
    requireNotNegative("count", count);
    requireWritable();
    if (!source.isOpen()) {
      throw new ClosedChannelException();
    }
    if (source instanceof ExtantFileChannel channel) {
      channel.requireReadable();
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(count, TRANSFER_BYTES));
    long done = 0;
    while (done < count) {
      buffer.clear().limit((int) Math.min(count - done, buffer.capacity()));
      int read = source.read(buffer);
      if (read <= 0) {
        break;
      }
      buffer.flip();
      while (buffer.hasRemaining()) {
        done += write(buffer, offset + done);
      }
    }
    return done;
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
    requireNotNegative("offset", offset);
    requireNotNegative("size", size);
    if (mode != MapMode.READ_ONLY && mode != MapMode.PRIVATE) {
      throw new UnsupportedOperationException("a file in an image cannot be mapped " + mode);
    }
    requireReadable();
    if (offset > size() - size) {
      throw new IOException(
          path + ": cannot map " + size + " bytes at " + offset + " behind the end of the file");
    }
    MemorySegment copy = arena.allocate(size);
    operate(
        () -> {
          long done = 0;
          int count = 1;
          while (done < size && count > 0) {
            MemorySegment rest = copy.asSlice(done, Math.min(size - done, 1 << 30));
            count = volume.read(node, offset + done, rest);
            done += count;
          }
          return done;
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
    if (shared) {
      requireReadable();
    } else {
      requireWritable();
    }
    long effective = size == 0 && offset >= 0 ? Long.MAX_VALUE - offset : size;
    LockTable locks = fileSystem.locks();
    FileLock lock = locks.lock(this, node.ino(), offset, effective, shared);
    if (!isOpen()) {
      locks.releaseAll(this, node.ino());
      throw new AsynchronousCloseException();
    }
    return lock;
  }

  @Override
  protected void implCloseChannel() {
    waits.cancelAll();
    fileSystem.locks().releaseAll(this, node.ino());
    fileSystem.closed(this);
    gate.close();
  }

  @Override
  public String toString() {
    return "channel to " + path;
  }
}
