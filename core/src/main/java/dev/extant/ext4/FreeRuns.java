package dev.extant.ext4;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Searches a bitmap for runs of clear bits, 64 at a time. A bit that is set in `held` counts as
/// set too: those are blocks that were freed but must not be reused yet (I4).
///
/// Both are the same whole number of longs; `limit` is the number of bits that count; `held` may be
/// null.
final class FreeRuns {
  /// How many runs a search looks at after it has found one: more would cost time in a fragmented
  /// group and rarely find better.
  private static final int MAX_RUNS = 256;

  /// A run of clear bits; `count` 0 if there is none. `longest` tells that no longer run exists.
  record Run(int start, int count, boolean longest) {
    static final Run NONE = new Run(0, 0, true);
  }

  private final MemorySegment bitmap;
  private final MemorySegment held;
  private final int limit;

  FreeRuns(MemorySegment bitmap, MemorySegment held, int limit) {
    this.bitmap = bitmap;
    this.held = held;
    this.limit = limit;
  }

  private long word(int index) {
    long offset = (long) index << 3;
    long word = Le.u64(bitmap, offset);
    return held == null ? word : word | Le.u64(held, offset);
  }

  /// The first clear bit at or behind `from`, or `limit`.
  int nextClear(int from) {
    return next(from, -1L);
  }

  /// The first set bit at or behind `from`, or `limit`.
  int nextSet(int from) {
    return next(from, 0);
  }

  /// The first bit at or behind `from` that differs from those of `flip`.
  private int next(int from, long flip) {
    if (from >= limit) {
      return limit;
    }
    int index = from >>> 6;
    long word = (word(index) ^ flip) & -1L << from;
    int last = (limit - 1) >>> 6;
    while (word == 0) {
      if (++index > last) {
        return limit;
      }
      word = word(index) ^ flip;
    }
    return Math.min(limit, (index << 6) + Long.numberOfTrailingZeros(word));
  }

  /// The run that begins exactly at `start`, cut at `wanted`; count 0 if that bit is set.
  Run at(int start, int wanted) {
    if (nextClear(start) != start) {
      return Run.NONE;
    }
    return new Run(start, Math.min(nextSet(start) - start, wanted), false);
  }

  /// The first run of at least `wanted` bits at or behind `from`, then from the beginning, cut at
  /// `wanted`; else the longest of those looked at.
  Run find(int from, int wanted) {
    Run best = Run.NONE;
    int runsLeft = MAX_RUNS;
    int at = nextClear(from);
    boolean wrapped = false;
    while (true) {
      if (at >= limit || wrapped && at >= from) {
        if (wrapped) {
          return best.count == 0 ? best : new Run(best.start, best.count, true);
        }
        wrapped = true;
        at = nextClear(0);
        continue;
      }
      int end = nextSet(at);
      if (end - at >= wanted) {
        return new Run(at, wanted, false);
      }
      if (end - at > best.count) {
        best = new Run(at, end - at, false);
      }
      if (--runsLeft == 0) {
        return best;
      }
      at = nextClear(end);
    }
  }
}
