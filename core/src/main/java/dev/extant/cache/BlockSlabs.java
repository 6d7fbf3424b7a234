package dev.extant.cache;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// Off-heap memory cut into blocks, with a free list. Memory is taken from the system in slabs of
/// many blocks and given back only by [#close()].
final class BlockSlabs implements AutoCloseable {
  private static final int SLAB_BYTES = 256 << 10;
  private static final int ALIGNMENT = 4096;

  private final Arena arena = Arena.ofShared();
  private final int blockSizeBytes;

  /// Guarded by this.
  private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();

  BlockSlabs(int blockSizeBytes) {
    this.blockSizeBytes = blockSizeBytes;
  }

  synchronized MemorySegment take() {
    MemorySegment block = free.pollLast();
    if (block != null) {
      return block;
    }
    int count = Math.max(1, SLAB_BYTES / blockSizeBytes);
    MemorySegment slab = arena.allocate((long) count * blockSizeBytes, ALIGNMENT);
    for (int i = count - 1; i > 0; i--) {
      free.addLast(slab.asSlice((long) i * blockSizeBytes, blockSizeBytes));
    }
    return slab.asSlice(0, blockSizeBytes);
  }

  synchronized void give(MemorySegment block) {
    free.addLast(block);
  }

  @Override
  public void close() {
    arena.close();
  }
}
