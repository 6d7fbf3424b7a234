package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_dir_entry_tail` (Linux documentation, "Directory Entries"): the last 12 bytes of a
/// directory block with entries, where metadata has checksums. It looks like an unused entry.
///
/// | offset from the tail | field |
/// | --- | --- |
/// | 0x0 | det_reserved_zero1, an inode number of 0 |
/// | 0x4 | det_rec_len, 12 |
/// | 0x6 | det_reserved_zero2, a name length of 0 |
/// | 0x7 | det_reserved_ft, 0xDE |
/// | 0x8 | det_checksum |
public final class DirTail {
  public static final int SIZE = 12;
  private static final int TYPE_CODE = 0xDE;

  private DirTail() {}

  /// Where the tail begins, which is where the entries end.
  public static int offset(MemorySegment block) {
    return (int) block.byteSize() - SIZE;
  }

  public static boolean present(MemorySegment block) {
    int tail = offset(block);
    return DirEntry.ino(block, tail) == 0
        && Le.u16(block, tail + 4) == SIZE
        && DirEntry.nameLength(block, tail) == 0
        && DirEntry.typeCode(block, tail) == TYPE_CODE;
  }

  /// Writes the tail with a checksum of 0.
  public static void initialise(MemorySegment block) {
    int tail = offset(block);
    DirEntry.putUnused(block, tail, SIZE);
    DirEntry.typeCode(block, tail, TYPE_CODE);
    checksum(block, 0);
  }

  public static int checksum(MemorySegment block) {
    return Le.i32(block, offset(block) + 8);
  }

  public static void checksum(MemorySegment block, int value) {
    Le.put32(block, offset(block) + 8, value);
  }
}
