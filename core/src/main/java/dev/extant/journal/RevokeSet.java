package dev.extant.journal;

import java.util.Arrays;

/// The blocks that the running transaction revokes. Thread-safe; open addressing over primitives.
final class RevokeSet {
  private static final long EMPTY = -1;
  private static final long REMOVED = -2;

  /// Guarded by this, as all below.
  private long[] slots = filled(16);

  private int used;
  private volatile int size;

  private static long[] filled(int length) {
    long[] slots = new long[length];
    Arrays.fill(slots, EMPTY);
    return slots;
  }

  int size() {
    return size;
  }

  synchronized void add(long blockNr) {
    if (used * 2 >= slots.length) {
      rehash();
    }
    int slot = slot(blockNr);
    if (slots[slot] != blockNr) {
      slots[slot] = blockNr;
      used++;
      size++;
    }
  }

  void cancel(long blockNr) {
    if (size == 0) {
      return;
    }
    synchronized (this) {
      int slot = slot(blockNr);
      if (slots[slot] == blockNr) {
        slots[slot] = REMOVED;
        size--;
      }
    }
  }

  synchronized long[] sorted() {
    return Arrays.stream(slots).filter(blockNr -> blockNr >= 0).sorted().toArray();
  }

  /// Where the block is, or the empty slot where it would be put.
  private int slot(long blockNr) {
    int mask = slots.length - 1;
    int slot = (int) (blockNr * 0x9E3779B97F4A7C15L >>> 32) & mask;
    while (slots[slot] != EMPTY && slots[slot] != blockNr) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void rehash() {
    long[] old = slots;
    slots = filled(Math.max(16, Integer.highestOneBit(size + 1) * 8));
    used = 0;
    for (long blockNr : old) {
      if (blockNr >= 0) {
        slots[slot(blockNr)] = blockNr;
        used++;
      }
    }
  }
}
