package dev.extant.ext4;

import dev.extant.journal.Handle;
import java.io.IOException;

/// Where the blocks of a file are. Implemented by extent trees and by the block pointers of ext2
/// and ext3.
///
/// Callers hold the inode's `lock`; implementations take its `mapLock` themselves.
interface BlockMap {
  /// Logical block numbers have 32 bits in every format: a file is a hole from this block on, even
  /// if its size says that it is longer.
  long MAX_BLOCKS = 1L << 32;

  /// A run of logical blocks that behave alike. `blockNr` is 0 for a hole. An unwritten run is
  /// allocated but reads as zeroes.
  record Run(long logical, long blockNr, int count, boolean unwritten) {
    boolean hole() {
      return blockNr == 0;
    }
  }

  /// The size of the largest file that this inode can be.
  long maxSizeBytes(Inode inode);

  /// The run that begins at `logical`, at most `maxCount` (>= 1) blocks long. Behind the last block
  /// it is a hole.
  Run lookup(Inode inode, long logical, int maxCount) throws IOException;

  /// The same for somebody who will overwrite the run: EUCLEAN if it belongs to the file system
  /// itself.
  default Run lookupForWrite(Inode inode, long logical, int maxCount) throws IOException {
    return lookup(inode, logical, maxCount);
  }

  /// Credits that allocating one run of up to `count` blocks may need, everything included (tree,
  /// bitmaps, descriptors, inode).
  int allocateCredits(Inode inode, int count);

  /// Makes blocks from `logical` on be allocated and written (up to `maxCount`, at least 1):
  /// returns an existing run as it is, converts an unwritten one, or allocates. `fresh` tells which
  /// happened. ENOSPC when the disk is full.
  Allocation allocate(Handle handle, Inode inode, long logical, int maxCount) throws IOException;

  /// `fresh`: the blocks held no data of this file before; their old content is garbage.
  record Allocation(Run run, boolean fresh) {}

  /// Frees the blocks in `[fromLogical, toLogical)`, which become a hole, from the end backwards,
  /// as far as the handle's credits go. Returns true when all is freed; false: start another handle
  /// and call again; the map is right in itself at any time. `metadata`: what the blocks hold went
  /// through the journal, so they are revoked. Credits as for [#allocateCredits]. ENOSPC if the map
  /// needs a block to say that the middle of a run is gone.
  boolean punch(Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException;

  /// The same for all blocks at and behind `fromLogical`.
  default boolean truncate(Handle handle, Inode inode, long fromLogical, boolean metadata)
      throws IOException {
    return punch(handle, inode, fromLogical, ExtentNodes.MAX_LOGICAL_BLOCKS, metadata);
  }
}
