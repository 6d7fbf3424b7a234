package dev.extant.testkit;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/// The contents of a file: blocks where something was written, holes elsewhere. Not for threads.
final class SparseBytes {
  static final int BLOCK_BYTES = 4096;

  private final TreeMap<Long, byte[]> blocks = new TreeMap<>();
  private long sizeBytes;

  long sizeBytes() {
    return sizeBytes;
  }

  long blockCount() {
    return blocks.size();
  }

  /// How many bytes from the offset on, `wanted` at most, can be written with this many new blocks.
  long writable(long offset, long wanted, long newBlocks) {
    long left = newBlocks;
    long end = offset;
    while (end < offset + wanted) {
      long block = end / BLOCK_BYTES;
      if (!blocks.containsKey(block) && left-- == 0) {
        break;
      }
      end = (block + 1) * BLOCK_BYTES;
    }
    return Math.min(end - offset, wanted);
  }

  void write(long offset, MemorySegment source) {
    long done = 0;
    while (done < source.byteSize()) {
      long at = offset + done;
      int inBlock = (int) (at % BLOCK_BYTES);
      int count = (int) Math.min(source.byteSize() - done, BLOCK_BYTES - inBlock);
      byte[] block = blocks.computeIfAbsent(at / BLOCK_BYTES, _ -> new byte[BLOCK_BYTES]);
      MemorySegment.copy(source, done, MemorySegment.ofArray(block), inBlock, count);
      done += count;
    }
    sizeBytes = Math.max(sizeBytes, offset + done);
  }

  int read(long offset, MemorySegment target) {
    long count = Math.max(0, Math.min(target.byteSize(), sizeBytes - offset));
    count = Math.min(count, Integer.MAX_VALUE);
    target.asSlice(0, count).fill((byte) 0);
    long first = offset / BLOCK_BYTES;
    long behind = (offset + count + BLOCK_BYTES - 1) / BLOCK_BYTES;
    for (Map.Entry<Long, byte[]> entry : blocks.subMap(first, Math.max(first, behind)).entrySet()) {
      long start = entry.getKey() * BLOCK_BYTES;
      long from = Math.max(start, offset);
      long to = Math.min(start + BLOCK_BYTES, offset + count);
      MemorySegment block = MemorySegment.ofArray(entry.getValue());
      MemorySegment.copy(block, from - start, target, from - offset, to - from);
    }
    return (int) count;
  }

  void truncate(long newSizeBytes) {
    if (newSizeBytes < sizeBytes) {
      long kept = (newSizeBytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
      blocks.tailMap(kept, true).clear();
      byte[] last = blocks.get(newSizeBytes / BLOCK_BYTES);
      if (last != null) {
        MemorySegment.ofArray(last).asSlice(newSizeBytes % BLOCK_BYTES).fill((byte) 0);
      }
    }
    sizeBytes = newSizeBytes;
  }

  /// As [dev.extant.vfs.Volume#seekData].
  long nextData(long offset) {
    Long block = offset >= sizeBytes ? null : blocks.ceilingKey(offset / BLOCK_BYTES);
    if (block == null) {
      return -1;
    }
    long start = Math.max(offset, block * BLOCK_BYTES);
    return start < sizeBytes ? start : -1;
  }

  /// As [dev.extant.vfs.Volume#seekHole].
  long nextHole(long offset) {
    if (offset >= sizeBytes) {
      return -1;
    }
    long block = offset / BLOCK_BYTES;
    if (!blocks.containsKey(block)) {
      return offset;
    }
    while (blocks.containsKey(block)) {
      block++;
    }
    return Math.min(block * BLOCK_BYTES, sizeBytes);
  }
}
