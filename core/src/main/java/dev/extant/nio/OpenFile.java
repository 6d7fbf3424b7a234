package dev.extant.nio;

import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.util.function.Supplier;

/// The file under a channel: what all kinds of channels do with one.
///
/// Definitions: an *operation* is inside the file system's gate and the file's own, so that neither
/// the volume nor the node is closed under it. A *wait* is an operation's wait for durability.
///
/// 1. The node is closed once, after [#close] and the last operation.
/// 2. Closing ends every wait with [AsynchronousCloseException]; the commit waited for goes on.
///
/// In append mode positional writes append too, as pwrite(2) does in Linux. On a directory only
/// `force` and `size` work.
final class OpenFile {
  private final ExtantFileSystem fileSystem;
  private final ExtantPath path;
  private final Volume volume;
  private final Node node;
  private final OpenOptions options;
  private final Gate gate;
  private final Waits waits;

  /// Takes the node over.
  OpenFile(ExtantFileSystem fileSystem, ExtantPath path, Node node, OpenOptions options) {
    this.fileSystem = fileSystem;
    this.path = path;
    this.volume = fileSystem.volume();
    this.node = node;
    this.options = options;
    this.gate = new Gate(node::close);
    this.waits = new Waits(gate::isOpen);
  }

  @FunctionalInterface
  interface LongAction {
    long run() throws IOException;
  }

  /// A wait for durability; what an interrupt means is for the kind of channel to say.
  @FunctionalInterface
  interface Wait {
    void run() throws InterruptedException, IOException;
  }

  boolean isOpen() {
    return gate.isOpen();
  }

  OpenOptions options() {
    return options;
  }

  /// Runs an operation, in which all below that has no check of its own is allowed.
  ///
  /// @throws ClosedChannelException if the file or its file system is closed
  long operate(LongAction action) throws IOException {
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

  void requireOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  void requireReadable() {
    if (!options.read()) {
      throw new NonReadableChannelException();
    }
  }

  void requireWritable() {
    if (!options.write()) {
      throw new NonWritableChannelException();
    }
  }

  static void requireNotNegative(String what, long value) {
    if (value < 0) {
      throw new IllegalArgumentException("negative " + what + ": " + value);
    }
  }

  static void requireModifiable(ByteBuffer target) {
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("a read-only buffer cannot be read into");
    }
  }

  /// Reads into the buffer from an offset; -1 at or behind the end of the file.
  int read(ByteBuffer target, long offset) throws FsException {
    if (!target.hasRemaining()) {
      return 0;
    }
    int count = volume.read(node, offset, MemorySegment.ofBuffer(target));
    target.position(target.position() + count);
    return count == 0 ? -1 : count;
  }

  /// Fills the segment, as far as the file has bytes.
  void read(MemorySegment target, long offset) throws FsException {
    long done = 0;
    int count = 1;
    while (done < target.byteSize() && count > 0) {
      MemorySegment rest = target.asSlice(done, Math.min(target.byteSize() - done, 1 << 30));
      count = volume.read(node, offset + done, rest);
      done += count;
    }
  }

  int write(ByteBuffer source, long offset) throws FsException {
    int count = source.remaining();
    if (count > 0 && options.append()) {
      append(source);
    } else if (count > 0) {
      count = volume.write(node, offset, MemorySegment.ofBuffer(source));
      source.position(source.position() + count);
    }
    return count;
  }

  /// Returns the offset that the bytes got.
  long append(ByteBuffer source) throws FsException {
    long offset = volume.append(node, MemorySegment.ofBuffer(source));
    source.position(source.limit());
    return offset;
  }

  long size() throws FsException {
    return volume.attributes(node).sizeBytes();
  }

  /// Cuts the file; false if it was not longer.
  boolean truncate(long size) throws FsException {
    boolean longer = size < size();
    if (longer) {
      volume.truncate(node, size);
    }
    return longer;
  }

  /// After a change: waits until it is durable where the file was opened so.
  void awaitDurableIfSync() throws InterruptedException, AsynchronousCloseException, FsException {
    if (options.sync()) {
      awaitDurable(false);
    } else if (options.dsync()) {
      awaitDurable(true);
    }
  }

  void awaitDurable(boolean dataOnly)
      throws InterruptedException, AsynchronousCloseException, FsException {
    waits.await(volume.fsync(node, dataOnly));
  }

  FileLock lock(FileChannel channel, long offset, long size, boolean shared) throws IOException {
    return locked(channel, shared, () -> locks().lock(channel, node.ino(), offset, size, shared));
  }

  FileLock lock(AsynchronousFileChannel channel, long offset, long size, boolean shared)
      throws IOException {
    return locked(channel, shared, () -> locks().lock(channel, node.ino(), offset, size, shared));
  }

  private LockTable locks() {
    return fileSystem.locks();
  }

  private FileLock locked(Channel channel, boolean shared, Supplier<FileLock> locking)
      throws IOException {
    requireOpen();
    if (shared) {
      requireReadable();
    } else {
      requireWritable();
    }
    if (!gate.enter()) {
      throw new ClosedChannelException();
    }
    try {
      FileLock lock = locking.get();
      if (!isOpen()) {
        // Whoever closed may have released the locks before this one came.
        locks().releaseAll(channel, node.ino());
        throw new AsynchronousCloseException();
      }
      return lock;
    } finally {
      gate.exit();
    }
  }

  /// Ends what the channel has here: its waits and its locks; the locks before the node, whose
  /// number may have a new owner afterwards.
  void close(Channel channel) {
    if (gate.enter()) {
      try {
        gate.close();
        waits.cancelAll();
        locks().releaseAll(channel, node.ino());
        fileSystem.closed(channel);
      } finally {
        gate.exit();
      }
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
