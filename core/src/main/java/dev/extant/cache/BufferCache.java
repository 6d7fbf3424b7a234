package dev.extant.cache;

import dev.extant.block.RequestQueue;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// All metadata blocks in memory, by block number. First cut: one lock, nothing evicted.
public final class BufferCache implements AutoCloseable {
  private final RequestQueue queue;
  private final int blockSizeBytes;
  private final Arena arena = Arena.ofShared();
  private final Map<Long, Buffer> buffers = new HashMap<>();

  public BufferCache(RequestQueue queue, int blockSizeBytes, long capacityBytes) {
    this.queue = queue;
    this.blockSizeBytes = blockSizeBytes;
  }

  public int blockSizeBytes() {
    return blockSizeBytes;
  }

  /// The block as it is on the device or newer, pinned.
  public synchronized Buffer read(long blockNr) throws IOException {
    Buffer buffer = slot(blockNr);
    if (!buffer.upToDate) {
      try {
        queue.read(blockNr * blockSizeBytes, buffer.data());
      } catch (IOException e) {
        buffer.pins--;
        throw e;
      }
      buffer.upToDate = true;
    }
    return buffer;
  }

  /// A block whose old content does not matter: not read, filled with zeroes, pinned.
  public synchronized Buffer fresh(long blockNr) {
    Buffer buffer = slot(blockNr);
    buffer.data().fill((byte) 0);
    buffer.upToDate = true;
    buffer.verified(true);
    return buffer;
  }

  /// The block, pinned, if it is in memory; else null.
  public synchronized Buffer peek(long blockNr) {
    Buffer buffer = buffers.get(blockNr);
    if (buffer == null || !buffer.upToDate) {
      return null;
    }
    buffer.pins++;
    return buffer;
  }

  /// Starts reading blocks that will soon be asked for. A hint: errors show up at the later read.
  public void readAhead(long blockNr, int count) {}

  /// Writes the given buffers home (sorted, neighbours gathered) and waits; marks them clean. Does
  /// not flush.
  public void writeBack(Collection<Buffer> batch) throws IOException {
    List<Buffer> sorted = new ArrayList<>(batch);
    sorted.sort(Comparator.comparingLong(Buffer::blockNr));
    for (Buffer buffer : sorted) {
      buffer.dirty(false);
      try {
        queue.write(buffer.blockNr() * blockSizeBytes, List.of(buffer.data()), false);
      } catch (IOException e) {
        buffer.dirty(true);
        throw e;
      }
    }
  }

  /// Writes every dirty buffer without a journal attachment home and waits. Does not flush.
  public void writeBackAll() throws IOException {
    List<Buffer> dirty = new ArrayList<>();
    synchronized (this) {
      for (Buffer buffer : buffers.values()) {
        if (buffer.dirty() && buffer.attachment() == null) {
          dirty.add(buffer);
        }
      }
    }
    writeBack(dirty);
  }

  /// Drops the block's pending home write: the block was freed. Its next [#read] comes from the
  /// device.
  public synchronized void forget(long blockNr) {
    Buffer buffer = buffers.get(blockNr);
    if (buffer != null) {
      buffer.dirty(false);
      buffer.verified(false);
      buffer.upToDate = false;
    }
  }

  private Buffer slot(long blockNr) {
    Buffer buffer =
        buffers.computeIfAbsent(
            blockNr, nr -> new Buffer(this, nr, arena.allocate(blockSizeBytes, 8)));
    buffer.pins++;
    return buffer;
  }

  synchronized void pin(Buffer buffer) {
    buffer.pins++;
  }

  synchronized void unpin(Buffer buffer) {
    buffer.pins--;
  }

  /// Frees the memory. Nothing is written: the owner has done that before.
  @Override
  public void close() {
    arena.close();
  }
}
