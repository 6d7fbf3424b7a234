package dev.extant.journal.format;

import dev.extant.util.Be;
import java.lang.foreign.MemorySegment;

/// `struct journal_header_s` (Linux documentation, "Journal (jbd2)"): the first bytes of every
/// block of the log that is not a copy of a file system block.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | h_magic, 0xC03B3998 |
/// | 0x4 | h_blocktype |
/// | 0x8 | h_sequence, the low 32 bits of the transaction's tid |
public final class BlockHeader {
  public static final int SIZE = 12;
  public static final long MAGIC = 0xC03B3998L;

  public static final long DESCRIPTOR = 1;
  public static final long COMMIT = 2;
  public static final long SUPERBLOCK_V1 = 3;
  public static final long SUPERBLOCK_V2 = 4;
  public static final long REVOKE = 5;

  private BlockHeader() {}

  public static boolean hasMagic(MemorySegment block) {
    return Be.u32(block, 0) == MAGIC;
  }

  public static long type(MemorySegment block) {
    return Be.u32(block, 4);
  }

  public static int sequence(MemorySegment block) {
    return Be.i32(block, 8);
  }

  public static void write(MemorySegment block, long type, long tid) {
    Be.put32(block, 0, MAGIC);
    Be.put32(block, 4, type);
    Be.put32(block, 8, (int) tid);
  }
}
