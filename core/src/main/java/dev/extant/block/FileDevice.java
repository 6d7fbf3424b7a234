package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/// An image file or a block device of the operating system.
///
/// It goes through an [AsynchronousFileChannel] because that, unlike a `FileChannel`, is not closed
/// by an interrupt of the thread that uses it. Its transfers run on the calling thread (see
/// [CallerExecutor]), so nothing is asynchronous about it.
///
/// Small segments of a gathered write are copied together into one staging buffer: a copy costs
/// less than a system call per segment, and the channel has no positional gathered write.
public final class FileDevice implements BlockDevice {
  private static final int SECTOR_SIZE_BYTES = 512;
  private static final int STAGING_BYTES = 256 << 10;

  /// A segment of this size or more is written by itself.
  private static final int LARGE_SEGMENT_BYTES = 64 << 10;

  /// No single system call moves more than this.
  private static final long MAX_TRANSFER_BYTES = 16 << 20;

  private final Path path;
  private final AsynchronousFileChannel channel;
  private final ImageLock imageLock;
  private final boolean readOnly;
  private volatile long sizeBytes;
  private final FailureLatch latch = new FailureLatch();
  private final AtomicBoolean closed = new AtomicBoolean();

  /// Buffers of [#STAGING_BYTES] not in use; as many as there were writers at once.
  private final ConcurrentLinkedQueue<ByteBuffer> staging = new ConcurrentLinkedQueue<>();

  private FileDevice(
      Path path,
      AsynchronousFileChannel channel,
      ImageLock imageLock,
      boolean readOnly,
      long sizeBytes) {
    this.path = path;
    this.channel = channel;
    this.imageLock = imageLock;
    this.readOnly = readOnly;
    this.sizeBytes = sizeBytes;
  }

  /// Opens an existing image or block device. A writer has it alone; readers may be many.
  ///
  /// @throws DeviceException of kind [Kind#REFUSED] if it is in use
  /// @throws java.nio.file.NoSuchFileException and other failures of the file system below, as they
  ///   are
  public static FileDevice open(Path path, boolean readOnly) throws IOException {
    return open(path, readOnly, -1);
  }

  /// Makes an image of the given size that is all zeroes and takes almost no space (where the file
  /// system below has sparse files). An existing file is emptied first, unless it is in use.
  public static FileDevice create(Path path, long sizeBytes) throws IOException {
    if (sizeBytes <= 0) {
      throw new IllegalArgumentException("size " + sizeBytes);
    }
    if (Files.notExists(path)) {
      Files.createFile(path);
    } else if (!Files.isRegularFile(path)) {
      throw refused(path, "it is not a regular file");
    }
    return open(path, false, sizeBytes);
  }

  private static FileDevice open(Path path, boolean readOnly, long newSizeBytes)
      throws IOException {
    if (Files.isDirectory(path)) {
      throw refused(path, "it is a directory");
    }
    Set<OpenOption> options =
        readOnly
            ? Set.of(StandardOpenOption.READ)
            : Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
    ImageLock imageLock = ImageLock.reserve(path, !readOnly);
    boolean opened = false;
    try {
      AsynchronousFileChannel channel = AsynchronousFileChannel.open(path, options, executor());
      try {
        imageLock.lock(channel);
        if (newSizeBytes >= 0) {
          resize(channel, newSizeBytes);
        }
        long sizeBytes = channel.size();
        opened = true;
        return new FileDevice(path, channel, imageLock, readOnly, sizeBytes);
      } finally {
        if (!opened) {
          channel.close();
        }
      }
    } finally {
      if (!opened) {
        imageLock.close();
      }
    }
  }

  /// Windows has real asynchronous files, which must have threads of their own to end on.
  private static ExecutorService executor() {
    return System.getProperty("os.name").startsWith("Windows") ? null : new CallerExecutor();
  }

  private static void resize(AsynchronousFileChannel channel, long sizeBytes) throws IOException {
    channel.truncate(0);
    extend(channel, sizeBytes);
  }

  private static void extend(AsynchronousFileChannel channel, long sizeBytes) throws IOException {
    ByteBuffer last = ByteBuffer.allocate(1);
    while (channel.size() < sizeBytes && last.hasRemaining()) {
      await(channel.write(last, sizeBytes - 1));
    }
  }

  /// Makes a regular file longer, with zeroes, or shorter. Whoever reads or writes behind the new
  /// end meanwhile gets an error.
  public void resize(long newSizeBytes) throws IOException {
    if (!Files.isRegularFile(path)) {
      throw refused(path, "only a file has a size that can be changed");
    }
    channel.truncate(newSizeBytes);
    extend(channel, newSizeBytes);
    sizeBytes = newSizeBytes;
  }

  private static DeviceException refused(Path path, String reason) {
    return new DeviceException(Kind.REFUSED, Operation.OPEN, path.toString(), -1, 0, reason, null);
  }

  @Override
  public String name() {
    return path.toString();
  }

  @Override
  public long sizeBytes() {
    return sizeBytes;
  }

  @Override
  public int sectorSizeBytes() {
    return SECTOR_SIZE_BYTES;
  }

  @Override
  public boolean readOnly() {
    return readOnly;
  }

  @Override
  public boolean stablePagesRequired() {
    return false;
  }

  @Override
  public boolean interruptSafe() {
    return true;
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    Transfers.checkRange(this, Operation.READ, offset, target.byteSize());
    try {
      for (long at = 0; at < target.byteSize(); at += MAX_TRANSFER_BYTES) {
        long length = Math.min(MAX_TRANSFER_BYTES, target.byteSize() - at);
        ByteBuffer buffer = target.asSlice(at, length).asByteBuffer();
        while (buffer.hasRemaining()) {
          if (await(channel.read(buffer, offset + at + buffer.position())) < 0) {
            throw new EOFException("the file became shorter than the device");
          }
        }
      }
    } catch (IOException e) {
      throw failure(Operation.READ, offset, target.byteSize(), e);
    }
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    long lengthBytes = Transfers.lengthBytes(sources);
    Transfers.checkWrite(this, Operation.WRITE, offset, lengthBytes);
    latch.check(Operation.WRITE, name(), offset, lengthBytes);
    try {
      if (sources.size() == 1) {
        writeSegment(offset, sources.getFirst());
      } else {
        writeGathered(offset, sources);
      }
      if (fua) {
        channel.force(false);
      }
    } catch (IOException e) {
      throw latch.trip(failure(Operation.WRITE, offset, lengthBytes, e));
    }
  }

  private void writeGathered(long offset, List<MemorySegment> sources) throws IOException {
    ByteBuffer pooled = staging.poll();
    ByteBuffer buffer = pooled == null ? ByteBuffer.allocateDirect(STAGING_BYTES) : pooled;
    try {
      buffer.clear();
      long at = offset;
      for (MemorySegment source : sources) {
        if (source.byteSize() > buffer.remaining() || source.byteSize() >= LARGE_SEGMENT_BYTES) {
          at += writeFully(at, buffer.flip());
          buffer.clear();
        }
        if (source.byteSize() >= LARGE_SEGMENT_BYTES) {
          writeSegment(at, source);
          at += source.byteSize();
        } else {
          buffer.put(source.asByteBuffer());
        }
      }
      writeFully(at, buffer.flip());
    } finally {
      staging.add(buffer);
    }
  }

  private void writeSegment(long offset, MemorySegment source) throws IOException {
    for (long at = 0; at < source.byteSize(); at += MAX_TRANSFER_BYTES) {
      long length = Math.min(MAX_TRANSFER_BYTES, source.byteSize() - at);
      writeFully(offset + at, source.asSlice(at, length).asByteBuffer());
    }
  }

  private int writeFully(long offset, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      await(channel.write(buffer, offset + buffer.position()));
    }
    return buffer.limit();
  }

  @Override
  public void flush() throws DeviceException {
    latch.check(Operation.FLUSH, name(), -1, 0);
    if (readOnly) {
      return;
    }
    try {
      channel.force(false);
    } catch (IOException e) {
      throw latch.trip(failure(Operation.FLUSH, -1, 0, e));
    }
    latch.check(Operation.FLUSH, name(), -1, 0);
  }

  /// Does nothing: Java has no way to give the space of a part of a file back.
  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkWrite(this, Operation.DISCARD, offset, lengthBytes);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkWrite(this, Operation.WRITE, offset, lengthBytes);
    latch.check(Operation.WRITE, name(), offset, lengthBytes);
    ByteBuffer zeroes = ByteBuffer.allocateDirect((int) Math.min(lengthBytes, STAGING_BYTES));
    try {
      for (long at = 0; at < lengthBytes; at += STAGING_BYTES) {
        writeFully(
            offset + at, zeroes.clear().limit((int) Math.min(STAGING_BYTES, lengthBytes - at)));
      }
    } catch (IOException e) {
      throw latch.trip(failure(Operation.WRITE, offset, lengthBytes, e));
    }
  }

  @Override
  public void close() throws DeviceException {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      channel.close();
    } catch (IOException e) {
      throw failure(Operation.CLOSE, -1, 0, e);
    } finally {
      imageLock.close();
    }
  }

  private DeviceException failure(
      Operation operation, long offset, long lengthBytes, IOException cause) {
    String reason = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    boolean full =
        reason.contains("No space left")
            || reason.contains("quota exceeded")
            || reason.contains("not enough space");
    return new DeviceException(
        full ? Kind.NO_SPACE : Kind.UNKNOWN, operation, name(), offset, lengthBytes, reason, cause);
  }

  /// The result of a transfer; an interrupt meanwhile stays pending.
  private static int await(Future<Integer> transfer) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return transfer.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          if (e.getCause() instanceof IOException cause) {
            throw cause;
          }
          throw new IOException(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
