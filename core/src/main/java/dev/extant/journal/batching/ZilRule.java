package dev.extant.journal.batching;

/// `batching=zil`: OpenZFS's rule. A commit is held back for a tenth of the average commit time,
/// but only if syncers were lately seen to come together.
final class ZilRule implements BatchingRule {
  /// For how many commits it is remembered that a group had several syncers.
  private static final int BURSTS = 8;

  private final long maxNanos;
  private int parallel;
  private long averageNanos;

  /// A commit is under way.
  private boolean committing;

  ZilRule(long maxNanos) {
    this.maxNanos = maxNanos;
  }

  @Override
  public boolean joined(Group group, long syncer, long nowNanos) {
    if (group.syncers() > 1) {
      parallel = BURSTS;
    } else if (committing) {
      parallel = Math.max(parallel, BURSTS / 2);
    }
    return group.syncers() == 1;
  }

  @Override
  public long waitNanos(Group group, long nowNanos) {
    if (parallel == 0) {
      return 0;
    }
    long leftNanos = Math.min(averageNanos / 10, maxNanos) - (nowNanos - group.armedNanos());
    if (leftNanos <= 0) {
      group.hitBudget();
    }
    return leftNanos;
  }

  @Override
  public void closed(Group group, long nowNanos) {
    committing = true;
  }

  @Override
  public void answered(Group group, long fixedNanos, long totalNanos, long nowNanos) {
    committing = false;
    averageNanos = averageNanos == 0 ? totalNanos : (7 * averageNanos + totalNanos) / 8;
    if (group.syncers() <= 1 && parallel > 0) {
      parallel--;
    }
  }
}
