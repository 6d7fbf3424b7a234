package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_extent_idx` (Linux documentation, "Extent Tree"): an entry of a node above the
/// leaves. Accessors take the node and the index of the entry.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | ei_block, first logical block below it |
/// | 0x4 | ei_leaf_lo, block of the child node |
/// | 0x8 | ei_leaf_hi |
/// | 0xA | ei_unused |
public final class ExtentIndex {
  private ExtentIndex() {}

  public static long logical(MemorySegment node, int index) {
    return ExtentHeader.logical(node, index);
  }

  public static long child(MemorySegment node, int index) {
    long at = ExtentHeader.entryOffset(index);
    return Le.u32(node, at + 4) | (long) Le.u16(node, at + 8) << 32;
  }

  /// The eight bytes behind the logical block, for [ExtentHeader#insert].
  public static long body(long child) {
    return child & 0xFFFF_FFFF_FFFFL;
  }
}
