package dev.extant.journal.format;

import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;

/// `struct jbd2_journal_block_tail` (Linux documentation, "Journal (jbd2)"): the last four bytes of
/// a descriptor or revoke block where the log has checksums v2 or v3.
///
/// | offset from the end | field |
/// | --- | --- |
/// | -4 | t_checksum, CRC-32C of the journal's uuid and the block with this field zero |
final class BlockTail {
  private static final int SIZE = 4;

  private BlockTail() {}

  static void seal(LogFormat format, MemorySegment block) {
    if (format.blockChecksums()) {
      Be.put32(block, block.byteSize() - SIZE, checksum(format, block));
    }
  }

  static boolean valid(LogFormat format, MemorySegment block) {
    return !format.blockChecksums()
        || Be.i32(block, block.byteSize() - SIZE) == checksum(format, block);
  }

  private static int checksum(LogFormat format, MemorySegment block) {
    int crc = Crc32c.update(format.seed(), block, 0, block.byteSize() - SIZE);
    return Crc32c.updateZeroes(crc, SIZE);
  }
}
