package dev.extant.journal;

import java.io.IOException;

/// Where the blocks of a journal are on the device: those of the journal inode, which may be in
/// several pieces.
public interface JournalLocation {
  long lengthBlocks();

  /// The device block that holds block `journalBlock` (0 is the journal superblock) of the journal.
  long physicalBlock(long journalBlock) throws IOException;

  /// A journal in one piece.
  static JournalLocation contiguous(long firstPhysicalBlock, long lengthBlocks) {
    return new JournalLocation() {
      @Override
      public long lengthBlocks() {
        return lengthBlocks;
      }

      @Override
      public long physicalBlock(long journalBlock) {
        return firstPhysicalBlock + journalBlock;
      }
    };
  }
}
