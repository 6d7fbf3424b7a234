package dev.extant.journal.format;

import dev.extant.util.Be;
import java.lang.foreign.MemorySegment;

/// `struct jbd2_journal_revoke_header_s` (Linux documentation, "Journal (jbd2)"): names blocks
/// whose copies in this and earlier transactions must not be replayed.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | r_header |
/// | 0xC | r_count, the bytes used in this block, header included |
/// | 0x10 | block numbers, 8 bytes each where the log is 64-bit, else 4 |
/// | -4 | t_checksum (checksums v2, v3), see [BlockTail] |
public final class RevokeBlock {
  private static final int R_COUNT = 0xC;
  private static final int RECORDS = 0x10;

  private RevokeBlock() {}

  private static int recordSize(LogFormat format) {
    return format.wide() ? 8 : 4;
  }

  /// How many records one block holds.
  public static int capacity(LogFormat format) {
    return (format.endOfRecords() - RECORDS) / recordSize(format);
  }

  /// Makes `block` a revoke block with the records `blockNrs[from]` up to but not including
  /// `blockNrs[to]`.
  public static void write(
      LogFormat format, MemorySegment block, long tid, long[] blockNrs, int from, int to) {
    block.fill((byte) 0);
    BlockHeader.write(block, BlockHeader.REVOKE, tid);
    int at = RECORDS;
    for (int i = from; i < to; i++) {
      if (format.wide()) {
        Be.put64(block, at, blockNrs[i]);
      } else {
        Be.put32(block, at, blockNrs[i]);
      }
      at += recordSize(format);
    }
    Be.put32(block, R_COUNT, at);
    BlockTail.seal(format, block);
  }

  /// True if the block's own checksum fits (or the log has none) and its count is possible.
  public static boolean valid(LogFormat format, MemorySegment block) {
    long end = Be.u32(block, R_COUNT);
    return end >= RECORDS && end <= format.endOfRecords() && BlockTail.valid(format, block);
  }

  /// How many records a valid block has.
  public static int count(LogFormat format, MemorySegment block) {
    return (int) (Be.u32(block, R_COUNT) - RECORDS) / recordSize(format);
  }

  public static long blockNr(LogFormat format, MemorySegment block, int index) {
    return format.wide()
        ? Be.u64(block, RECORDS + 8L * index)
        : Be.u32(block, RECORDS + 4L * index);
  }
}
