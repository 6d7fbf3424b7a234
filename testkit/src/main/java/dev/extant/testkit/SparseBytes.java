package dev.extant.testkit;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
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

  /// Makes the size at least that.
  void grow(long newSizeBytes) {
    sizeBytes = Math.max(sizeBytes, newSizeBytes);
  }

  /// Clears a range, up to the size; whole blocks become holes.
  void zero(long from, long to) {
    long firstWhole = (from + BLOCK_BYTES - 1) / BLOCK_BYTES;
    long endWhole = to >= sizeBytes ? (to + BLOCK_BYTES - 1) / BLOCK_BYTES : to / BLOCK_BYTES;
    if (firstWhole < endWhole) {
      blocks.subMap(firstWhole, endWhole).clear();
    }
    long first = from / BLOCK_BYTES;
    long last = (to - 1) / BLOCK_BYTES;
    for (long nr : new long[] {first, last}) {
      byte[] block = blocks.get(nr);
      if (block != null) {
        long start = nr * BLOCK_BYTES;
        int begin = (int) Math.max(0, from - start);
        int end = (int) Math.min(BLOCK_BYTES, to - start);
        Arrays.fill(block, begin, end, (byte) 0);
      }
    }
  }

  /// Takes whole blocks out; what is behind moves down.
  void collapse(long from, long lengthBytes) {
    long first = from / BLOCK_BYTES;
    long count = lengthBytes / BLOCK_BYTES;
    TreeMap<Long, byte[]> behind = new TreeMap<>(blocks.tailMap(first + count, true));
    blocks.tailMap(first, true).clear();
    behind.forEach((nr, block) -> blocks.put(nr - count, block));
    sizeBytes -= lengthBytes;
  }

  /// Moves what is at and behind the offset up, leaving a hole.
  void insert(long from, long lengthBytes) {
    long count = lengthBytes / BLOCK_BYTES;
    TreeMap<Long, byte[]> behind = new TreeMap<>(blocks.tailMap(from / BLOCK_BYTES, true));
    blocks.tailMap(from / BLOCK_BYTES, true).clear();
    behind.forEach((nr, block) -> blocks.put(nr + count, block));
    sizeBytes += lengthBytes;
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
