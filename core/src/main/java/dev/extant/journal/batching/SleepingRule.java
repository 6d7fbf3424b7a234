package dev.extant.journal.batching;

/// The rules of ext3 and ext4: each syncer sleeps on its own, with its handle open, before it asks
/// for the commit; a syncer that was also the last one to ask before does not sleep. The first to
/// wake up has the transaction closed, and the commit then waits for the others to wake up too.
///
/// Nobody sleeps with an open handle here: the committer waits in their place.
abstract class SleepingRule implements BatchingRule {
  private boolean hasLast;
  private long last;

  @Override
  public final boolean joined(Group group, long syncer, long nowNanos) {
    if (group.closed()) {
      return false;
    }
    boolean again = hasLast && last == syncer;
    hasLast = true;
    last = syncer;
    long sleepNanos = again ? 0 : sleepNanos(group, nowNanos);
    if (sleepNanos > 0) {
      fellAsleep(group, nowNanos + sleepNanos);
    } else {
      group.wokenNanos = Math.min(group.wokenNanos, nowNanos);
    }
    return true;
  }

  /// How long a syncer sleeps that asks now and did not ask last; 0 if it does not.
  abstract long sleepNanos(Group group, long nowNanos);

  /// A syncer sleeps until `wakeNanos`.
  void fellAsleep(Group group, long wakeNanos) {
    group.wokenNanos = Math.min(group.wokenNanos, wakeNanos);
    group.allWokenNanos = Math.max(group.allWokenNanos, wakeNanos);
  }

  @Override
  public long waitNanos(Group group, long nowNanos) {
    return group.wokenNanos == Long.MAX_VALUE ? Long.MAX_VALUE : group.wokenNanos - nowNanos;
  }

  @Override
  public long lingerNanos(Group group, long nowNanos) {
    return group.allWokenNanos == Long.MIN_VALUE ? 0 : group.allWokenNanos - nowNanos;
  }
}
