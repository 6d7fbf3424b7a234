package dev.extant.fsck;

import java.util.concurrent.locks.ReentrantLock;

/// How many users each of some blocks has: 12 bytes a block and some room. For any number of
/// threads.
final class BlockUsers {
  private static final long EMPTY = 0;
  private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;

  /// Told of each block in no order.
  interface Visitor {
    void block(long blockNr, int users);
  }

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private long[] blockNrs = new long[64];
  private int[] users = new int[64];
  private int size;

  /// Adds a user of a block, whose number is not 0. True if it is the first.
  boolean add(long blockNr) {
    lock.lock();
    try {
      if (2 * size >= blockNrs.length) {
        grow();
      }
      int slot = slot(blockNr);
      boolean first = blockNrs[slot] == EMPTY;
      if (first) {
        blockNrs[slot] = blockNr;
        size++;
      }
      users[slot]++;
      return first;
    } finally {
      lock.unlock();
    }
  }

  void forEach(Visitor visitor) {
    lock.lock();
    try {
      for (int i = 0; i < blockNrs.length; i++) {
        if (blockNrs[i] != EMPTY) {
          visitor.block(blockNrs[i], users[i]);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private int slot(long blockNr) {
    int mask = blockNrs.length - 1;
    int slot = (int) (blockNr * MULTIPLIER >>> 32) & mask;
    while (blockNrs[slot] != EMPTY && blockNrs[slot] != blockNr) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldBlockNrs = blockNrs;
    int[] oldUsers = users;
    blockNrs = new long[2 * oldBlockNrs.length];
    users = new int[blockNrs.length];
    for (int i = 0; i < oldBlockNrs.length; i++) {
      if (oldBlockNrs[i] != EMPTY) {
        int slot = slot(oldBlockNrs[i]);
        blockNrs[slot] = oldBlockNrs[i];
        users[slot] = oldUsers[i];
      }
    }
  }
}
