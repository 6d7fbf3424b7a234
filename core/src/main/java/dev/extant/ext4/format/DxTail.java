package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct dx_tail` (Linux documentation, "Hash Tree Directories"): behind the room for entries in
/// a root or node of a directory index, where metadata has checksums.
///
/// | offset from the tail | field |
/// | --- | --- |
/// | 0x0 | dt_reserved, 0 |
/// | 0x4 | dt_checksum |
public final class DxTail {
  public static final int SIZE = 8;

  private DxTail() {}

  /// Where the tail begins. The limit of the entries at `base` must be right.
  public static int offset(MemorySegment block, int base) {
    return base + DxEntries.ENTRY_SIZE * DxEntries.limit(block, base);
  }

  public static int checksum(MemorySegment block, int base) {
    return Le.i32(block, offset(block, base) + 4);
  }

  public static void checksum(MemorySegment block, int base, int value) {
    Le.put32(block, offset(block, base) + 4, value);
  }
}
