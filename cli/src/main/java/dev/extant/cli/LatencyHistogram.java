package dev.extant.cli;

import java.util.concurrent.atomic.AtomicLongArray;

/// Counts times in buckets that are 1/16 of their value wide.
final class LatencyHistogram {
  private static final int SUB_BITS = 4;

  private final AtomicLongArray buckets = new AtomicLongArray(64 << SUB_BITS);

  void add(long nanos) {
    buckets.incrementAndGet(bucket(Math.max(nanos, 1)));
  }

  private static int bucket(long nanos) {
    int log = 63 - Long.numberOfLeadingZeros(nanos);
    int sub = (int) (log < SUB_BITS ? nanos << SUB_BITS - log : nanos >>> log - SUB_BITS);
    return (log << SUB_BITS) + (sub & (1 << SUB_BITS) - 1);
  }

  private static double upperNanos(int bucket) {
    int log = bucket >>> SUB_BITS;
    int sub = bucket & (1 << SUB_BITS) - 1;
    return Math.scalb(1 + (sub + 1.0) / (1 << SUB_BITS), log);
  }

  /// The counts as they are now.
  long[] counts() {
    long[] counts = new long[buckets.length()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = buckets.get(i);
    }
    return counts;
  }

  /// The time that the given part of the times did not exceed, of those counted between two
  /// readings of [#counts()]; 0 if there were none.
  static double quantileNanos(long[] before, long[] after, double part) {
    long total = 0;
    for (int i = 0; i < after.length; i++) {
      total += after[i] - before[i];
    }
    long rank = (long) Math.ceil(total * part);
    long seen = 0;
    for (int i = 0; i < after.length && total > 0; i++) {
      seen += after[i] - before[i];
      if (seen >= rank) {
        return upperNanos(i);
      }
    }
    return 0;
  }
}
