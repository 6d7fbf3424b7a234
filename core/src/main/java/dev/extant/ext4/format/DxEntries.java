package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The sorted array of `struct dx_entry` in a root or node of a directory index (Linux
/// documentation, "Hash Tree Directories"), at a byte offset `base` of the block.
///
/// | offset of entry i | field |
/// | --- | --- |
/// | 8 i + 0x0 | hash: the lowest hash behind the entry; bit 0: the hash before goes on here |
/// | 8 i + 0x4 | block: logical block of the directory |
///
/// The first entry covers all lower hashes; in place of its hash are (`struct dx_countlimit`)
/// limit, u16, the room for entries, and count, u16, the entries in use, both counting the first.
public final class DxEntries {
  public static final int ENTRY_SIZE = 8;

  /// The upper four bits of a block are reserved.
  private static final int BLOCK_MASK = 0x0fff_ffff;

  private DxEntries() {}

  public static int limit(MemorySegment block, int base) {
    return Le.u16(block, base);
  }

  public static int count(MemorySegment block, int base) {
    return Le.u16(block, base + 2);
  }

  public static void count(MemorySegment block, int base, int value) {
    Le.put16(block, base + 2, value);
  }

  public static void initialise(MemorySegment block, int base, int limit, int count) {
    Le.put16(block, base, limit);
    Le.put16(block, base + 2, count);
  }

  /// Unsigned, continuation bit included; 0 for the first entry.
  public static long hash(MemorySegment block, int base, int index) {
    return index == 0 ? 0 : Le.u32(block, base + ENTRY_SIZE * index);
  }

  public static int logical(MemorySegment block, int base, int index) {
    return Le.i32(block, base + ENTRY_SIZE * index + 4) & BLOCK_MASK;
  }

  public static void logical(MemorySegment block, int base, int index, long logical) {
    Le.put32(block, base + ENTRY_SIZE * index + 4, logical);
  }

  /// Where to look for a hash: the last entry that is not above it.
  public static int find(MemorySegment block, int base, long hash) {
    int low = 0;
    int high = count(block, base) - 1;
    while (low < high) {
      int middle = low + high + 1 >>> 1;
      if (hash(block, base, middle) <= hash) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  public static boolean ascending(MemorySegment block, int base) {
    for (int i = 2; i < count(block, base); i++) {
      if (hash(block, base, i) < hash(block, base, i - 1)) {
        return false;
      }
    }
    return true;
  }

  /// Adds an entry at `index` >= 1; there must be room.
  public static void insert(MemorySegment block, int base, int index, long hash, long logical) {
    int count = count(block, base);
    int at = base + ENTRY_SIZE * index;
    MemorySegment.copy(block, at, block, at + ENTRY_SIZE, (long) ENTRY_SIZE * (count - index));
    Le.put32(block, at, hash);
    Le.put32(block, at + 4, logical);
    count(block, base, count + 1);
  }

  /// Copies the entries from `index` on to the beginning of another array, whose limit is set
  /// already, and sets its count.
  public static void copyTail(
      MemorySegment from, int fromBase, int index, MemorySegment to, int toBase) {
    int count = count(from, fromBase) - index;
    int limit = limit(to, toBase);
    MemorySegment.copy(from, fromBase + ENTRY_SIZE * index, to, toBase, (long) ENTRY_SIZE * count);
    initialise(to, toBase, limit, count);
  }
}
