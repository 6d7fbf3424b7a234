package dev.extant.journal.batching;

/// The rules that sleep as long as a commit takes on average, if the transaction is younger than
/// that: the patch of August 2008 as it was posted, the same capped at a jiffy, and what jbd2 made
/// of it. They differ in the weight of the newest commit in the average, and in the bounds.
///
/// All sleep the whole time, not what is left of it; so does jbd2, although its comment says
/// otherwise.
final class CommitTime extends SleepingRule {
  private final int newWeight;
  private final int oldWeight;
  private final long minNanos;
  private final long maxNanos;
  private long averageNanos;

  private CommitTime(int newWeight, int oldWeight, long minNanos, long maxNanos) {
    this.newWeight = newWeight;
    this.oldWeight = oldWeight;
    this.minNanos = minNanos;
    this.maxNanos = maxNanos;
  }

  /// `batching=commit-time`: the newest commit weighs 3/4, and nothing bounds the sleep.
  static CommitTime posted() {
    return new CommitTime(3, 1, 0, Long.MAX_VALUE);
  }

  /// `batching=commit-time-capped`.
  static CommitTime capped(int hz) {
    return new CommitTime(3, 1, 0, 1_000_000_000L / hz);
  }

  /// `batching=jbd2`: the newest commit weighs 1/4.
  static CommitTime jbd2(long minNanos, long maxNanos) {
    return new CommitTime(1, 3, minNanos, maxNanos);
  }

  @Override
  long sleepNanos(Group group, long nowNanos) {
    long commitNanos = Math.min(Math.max(averageNanos, minNanos), maxNanos);
    return nowNanos - group.startNanos() < commitNanos ? commitNanos : 0;
  }

  @Override
  public void answered(Group group, long fixedNanos, long totalNanos, long nowNanos) {
    averageNanos =
        averageNanos == 0
            ? totalNanos
            : (newWeight * totalNanos + oldWeight * averageNanos) / (newWeight + oldWeight);
  }

  long averageNanos() {
    return averageNanos;
  }
}
