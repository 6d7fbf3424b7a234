package dev.extant.ext4;

import dev.extant.journal.Sealer;
import java.util.concurrent.locks.ReentrantLock;

/// What memory knows of one block group that was touched. Made by [GroupTable] on first use.
final class BlockGroup {
  /// Nothing is known about the free runs of the group.
  static final int UNKNOWN = Integer.MAX_VALUE;

  final int number;

  /// Guards the group's descriptor, its two bitmaps, and the fields below. Groups share locks:
  /// never hold those of two groups. Taken inside handles; the holder may read blocks but waits for
  /// nothing else.
  final ReentrantLock lock;

  /// Stores the bitmap's checksum in the descriptor; null where bitmaps have none.
  final Sealer blockBitmapSealer;

  final Sealer inodeBitmapSealer;

  /// The group has no longer run of free clusters than this.
  int longestFreeRun = UNKNOWN;

  /// The cluster to which the next small file of the group goes. Read without the lock, as a hint.
  volatile int packedGoal;

  /// The bitmap was found to be wrong: nothing is taken from this group or given back to it.
  boolean blockBitmapDamaged;

  boolean inodeBitmapDamaged;

  /// Null while there are none.
  PendingFrees pendingFrees;

  /// The allocator has this group in its queue of groups with pending frees.
  boolean awaitsSweep;

  BlockGroup(int number, ReentrantLock lock, Sealer blockBitmapSealer, Sealer inodeBitmapSealer) {
    this.number = number;
    this.lock = lock;
    this.blockBitmapSealer = blockBitmapSealer;
    this.inodeBitmapSealer = inodeBitmapSealer;
  }
}
