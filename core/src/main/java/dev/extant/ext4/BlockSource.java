package dev.extant.ext4;

import dev.extant.journal.Handle;
import java.io.IOException;

/// Free blocks and how to take and give them. Implemented by the block allocator over the groups'
/// bitmaps.
///
/// With bigalloc space is given out in whole clusters ([Clusters]).
interface BlockSource {
  record Extent(long blockNr, int count) {}

  /// Takes up to `wanted` contiguous blocks, at least 1, as near to `goal` as possible (exactly
  /// there if free). They begin at the start of a cluster, and the whole of each cluster that is
  /// touched is taken. ENOSPC if there are none. Needs 2 credits (bitmap, descriptor block). Does
  /// not touch i_blocks.
  Extent allocate(Handle handle, long goal, int wanted) throws IOException;

  /// Gives back every cluster in which one of the blocks lies; they are not handed out again before
  /// the handle's transaction is durable (I4). Blocks of `metadata` are revoked. Needs 2 credits
  /// per group touched. EUCLEAN if one of them is free already or lies in the file system's own
  /// structures.
  void free(Handle handle, long blockNr, int count, boolean metadata) throws IOException;

  /// Blocks of metadata leave a file that keeps their cluster: they are revoked.
  default void forget(Handle handle, long blockNr, int count) throws IOException {
    throw new UnsupportedOperationException("there are no clusters of more than one block");
  }

  /// Where blocks of this inode should go when nothing better is known: its group, coloured by
  /// inode.
  long goalOf(Inode inode);

  /// The same for the first `wanted` blocks of a file: a few go right behind those of the file
  /// before, so that many small files lie together.
  default long goalOf(Inode inode, int wanted) {
    return goalOf(inode);
  }

  /// True if one of the blocks is a superblock, descriptor, bitmap or inode table, which no file
  /// may own.
  default boolean ownedBySystem(long blockNr, int count) throws IOException {
    return false;
  }
}
