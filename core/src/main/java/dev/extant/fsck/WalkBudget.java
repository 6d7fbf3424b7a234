package dev.extant.fsck;

import java.util.concurrent.atomic.AtomicLong;

/// How many blocks of block maps may be read in one check. Each is read a few times, so a file
/// system that needs more shares them among its files in a way that would take forever.
final class WalkBudget {
  private static final long TIMES = 8;
  private static final long LEAST = 100_000;

  private final AtomicLong left;

  WalkBudget(FsLayout layout) {
    this.left = new AtomicLong(layout.blocksCount() * TIMES + LEAST);
  }

  /// False if there are none left.
  boolean take() {
    return left.getAndDecrement() > 0;
  }
}
