package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_extent` (Linux documentation, "Extent Tree"): an entry of a leaf. Accessors take
/// the node and the index of the entry.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | ee_block, first logical block |
/// | 0x4 | ee_len; above 32,768 it is unwritten and 32,768 less long |
/// | 0x6 | ee_start_hi |
/// | 0x8 | ee_start_lo |
public final class Extent {
  public static final int MAX_COUNT = 32_768;
  public static final int MAX_UNWRITTEN_COUNT = 32_767;

  private Extent() {}

  public static long logical(MemorySegment leaf, int index) {
    return ExtentHeader.logical(leaf, index);
  }

  public static int count(MemorySegment leaf, int index) {
    int length = Le.u16(leaf, ExtentHeader.entryOffset(index) + 4);
    return length > MAX_COUNT ? length - MAX_COUNT : length;
  }

  /// The logical block behind the extent.
  public static long end(MemorySegment leaf, int index) {
    return logical(leaf, index) + count(leaf, index);
  }

  public static boolean unwritten(MemorySegment leaf, int index) {
    return Le.u16(leaf, ExtentHeader.entryOffset(index) + 4) > MAX_COUNT;
  }

  public static void count(MemorySegment leaf, int index, int value, boolean unwritten) {
    Le.put16(leaf, ExtentHeader.entryOffset(index) + 4, unwritten ? value + MAX_COUNT : value);
  }

  public static long blockNr(MemorySegment leaf, int index) {
    long at = ExtentHeader.entryOffset(index);
    return Le.u32(leaf, at + 8) | (long) Le.u16(leaf, at + 6) << 32;
  }

  /// The eight bytes behind the logical block, for [ExtentHeader#insert].
  public static long body(long blockNr, int count, boolean unwritten) {
    long length = unwritten ? count + MAX_COUNT : count;
    return length | (blockNr >>> 32 & 0xFFFF) << 16 | blockNr << 32;
  }

  public static int maxCount(boolean unwritten) {
    return unwritten ? MAX_UNWRITTEN_COUNT : MAX_COUNT;
  }
}
