package dev.extant.cache;

import dev.extant.block.DeviceException;
import dev.extant.block.RequestQueue;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Copies of blocks on their way home. The copy is taken under whatever lock guards the block's
/// bytes, the write happens without it: nobody waits to change a block that is being written, and
/// what is written is never half changed.
///
/// Of two copies of one block the later one is written. Used by one thread at a time.
public final class StagedBlocks implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 20;

  private final RequestQueue queue;
  private final int blockSizeBytes;
  private final int blocksPerChunk;
  private final Arena arena = Arena.ofShared();
  private final List<MemorySegment> chunks = new ArrayList<>();
  private long[] blockNrs = new long[64];
  private int count;

  public StagedBlocks(RequestQueue queue, int blockSizeBytes) {
    this.queue = queue;
    this.blockSizeBytes = blockSizeBytes;
    this.blocksPerChunk = Math.max(1, CHUNK_BYTES / blockSizeBytes);
  }

  /// How many copies wait to be written.
  public int count() {
    return count;
  }

  /// Takes a copy of the block's bytes.
  public void add(long blockNr, MemorySegment bytes) {
    if (count == blockNrs.length) {
      blockNrs = Arrays.copyOf(blockNrs, count * 2);
    }
    blockNrs[count] = blockNr;
    copy(count).copyFrom(bytes);
    count++;
  }

  /// The copy added as the `index`-th since the last write.
  public MemorySegment copy(int index) {
    int chunk = index / blocksPerChunk;
    while (chunk >= chunks.size()) {
      chunks.add(arena.allocate((long) blocksPerChunk * blockSizeBytes, 4096));
    }
    long offset = (long) (index % blocksPerChunk) * blockSizeBytes;
    return chunks.get(chunk).asSlice(offset, blockSizeBytes);
  }

  /// Writes the copies (sorted, neighbours gathered), waits until the device has them, and forgets
  /// them. Does not flush.
  public void write() throws IOException {
    Integer[] order = newestInOrder();
    List<CompletableFuture<Void>> writes = new ArrayList<>();
    for (int from = 0; from < order.length; ) {
      int to = from + 1;
      while (to < order.length && blockNrs[order[to]] == blockNrs[order[to - 1]] + 1) {
        to++;
      }
      List<MemorySegment> sources = new ArrayList<>(to - from);
      for (int i = from; i < to; i++) {
        sources.add(copy(order[i]));
      }
      writes.add(queue.submitWrite(blockNrs[order[from]] * blockSizeBytes, sources));
      from = to;
    }
    count = 0;
    awaitAll(writes);
  }

  private Integer[] newestInOrder() {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, Comparator.comparingLong(i -> blockNrs[i]));
    int kept = 0;
    for (int i = 0; i < order.length; i++) {
      // The sort is stable: the last of equals is the newest.
      if (i + 1 == order.length || blockNrs[order[i + 1]] != blockNrs[order[i]]) {
        order[kept++] = order[i];
      }
    }
    return Arrays.copyOf(order, kept);
  }

  /// Waits for all the writes; the first failure is thrown once all have ended, since the segments
  /// must stay untouched until then.
  private static void awaitAll(List<CompletableFuture<Void>> writes) throws IOException {
    IOException first = null;
    for (CompletableFuture<Void> write : writes) {
      try {
        BufferCache.join(write);
      } catch (DeviceException e) {
        if (first == null) {
          first = e;
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
