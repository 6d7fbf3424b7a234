package dev.extant.journal.format;

import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;

/// A tag of a descriptor block: says where one of the following log blocks belongs.
///
/// `checksum` has 32 bits with checksums v3, 16 bits with v2, and is 0 else.
public record BlockTag(long blockNr, boolean escaped, boolean deleted, int checksum) {
  /// True if the block as it stands in the log (escaped, if it is) fits the tag's checksum.
  public boolean fits(LogFormat format, int sequence, MemorySegment logBlock) {
    return !format.blockChecksums() || checksum(format, sequence, logBlock) == checksum;
  }

  /// The checksum for the tag of a block as it stands in the log: over the journal's uuid, the
  /// transaction's sequence number and the block.
  public static int checksum(LogFormat format, int sequence, MemorySegment logBlock) {
    int crc = Crc32c.update(Crc32c.updateBe32(format.seed(), sequence), logBlock);
    return format.checksums() == LogFormat.Checksums.V3 ? crc : crc & 0xffff;
  }

  /// If the block begins like a block of the log itself, makes it not do so and returns true: the
  /// tag must say so.
  public static boolean escape(MemorySegment logBlock) {
    boolean needed = BlockHeader.hasMagic(logBlock);
    if (needed) {
      Be.put32(logBlock, 0, 0);
    }
    return needed;
  }

  /// Undoes [#escape] for a block whose tag says that it was escaped.
  public static void unescape(MemorySegment block) {
    Be.put32(block, 0, BlockHeader.MAGIC);
  }
}
