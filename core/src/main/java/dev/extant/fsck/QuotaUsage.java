package dev.extant.fsck;

import java.util.concurrent.locks.ReentrantLock;

/// How many inodes and bytes belong to each of the users, groups or projects that have any: about
/// 40 bytes for each of them. For any number of threads.
final class QuotaUsage {
  private static final int MULTIPLIER = 0x9E37_79B9;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock. A slot without inodes is free.
  private int[] ids = new int[64];
  private long[] bytes = new long[64];
  private int[] inodes = new int[64];
  private int size;

  /// Adds an inode of that owner.
  void add(long id, long sizeBytes) {
    lock.lock();
    try {
      if (2 * size >= ids.length) {
        grow();
      }
      int slot = slot((int) id);
      if (inodes[slot] == 0) {
        ids[slot] = (int) id;
        size++;
      }
      bytes[slot] += sizeBytes;
      inodes[slot]++;
    } finally {
      lock.unlock();
    }
  }

  long bytes(long id) {
    lock.lock();
    try {
      return bytes[slot((int) id)];
    } finally {
      lock.unlock();
    }
  }

  long inodes(long id) {
    lock.lock();
    try {
      return inodes[slot((int) id)] & 0xffff_ffffL;
    } finally {
      lock.unlock();
    }
  }

  /// How many owners there are.
  int size() {
    lock.lock();
    try {
      return size;
    } finally {
      lock.unlock();
    }
  }

  private int slot(int id) {
    int mask = ids.length - 1;
    int hash = id * MULTIPLIER;
    int slot = (hash ^ hash >>> 16) & mask;
    while (inodes[slot] != 0 && ids[slot] != id) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    int[] oldIds = ids;
    long[] oldBytes = bytes;
    int[] oldInodes = inodes;
    ids = new int[2 * oldIds.length];
    bytes = new long[ids.length];
    inodes = new int[ids.length];
    for (int i = 0; i < oldIds.length; i++) {
      if (oldInodes[i] != 0) {
        int slot = slot(oldIds[i]);
        ids[slot] = oldIds[i];
        bytes[slot] = oldBytes[i];
        inodes[slot] = oldInodes[i];
      }
    }
  }
}
