package dev.extant.fsck;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/// The directories that the scan of the inodes saw, four bytes each: first gathered by any number
/// of threads, then sorted and only read. Numbers of inodes have 32 bits.
final class DirectoryList {
  private static final int SIGN = Integer.MIN_VALUE;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock until sort() returned.
  private int[] flipped = new int[64];
  private int size;

  void add(long ino) {
    lock.lock();
    try {
      if (size == flipped.length) {
        flipped = Arrays.copyOf(flipped, 2 * size);
      }
      flipped[size++] = (int) ino ^ SIGN;
    } finally {
      lock.unlock();
    }
  }

  void sort() {
    lock.lock();
    try {
      Arrays.sort(flipped, 0, size);
    } finally {
      lock.unlock();
    }
  }

  int size() {
    return size;
  }

  long ino(int index) {
    return (flipped[index] ^ SIGN) & 0xffff_ffffL;
  }

  /// Where the directory is in the order, or -1 if it is none.
  int indexOf(long ino) {
    int index = lowerBound(ino);
    return index < size && ino(index) == ino ? index : -1;
  }

  /// How many directories have a smaller number.
  int lowerBound(long ino) {
    int found = Arrays.binarySearch(flipped, 0, size, (int) ino ^ SIGN);
    return found >= 0 ? found : -found - 1;
  }
}
