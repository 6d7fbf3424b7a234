package dev.extant.journal;

import dev.extant.journal.batching.BatchingRule;
import dev.extant.journal.batching.Group;

/// When the running transaction is committed: asks the batching rule, and counts what comes of it.
/// Guarded by the journal's state lock.
final class CommitTiming {
  private final BatchingRule rule;
  private final JournalCounters counters;

  /// Since when the commit thread holds a group back that it could commit; 0 if it does not.
  private long heldSinceNanos;

  CommitTiming(BatchingRule rule, JournalCounters counters) {
    this.rule = rule;
    this.counters = counters;
  }

  /// A syncer waits for the transaction, which was requested. Returns true if the commit thread is
  /// to be told.
  boolean joined(Transaction transaction, long syncer, long nowNanos) {
    transaction.group.countSyncer();
    return rule.joined(transaction.group, syncer, nowNanos);
  }

  /// How long the commit thread, which is idle, is to wait before it commits a requested
  /// transaction.
  long waitNanos(Transaction running, long nowNanos) {
    Group group = running.group;
    group.arm(nowNanos);
    long waitNanos = rule.waitNanos(group, nowNanos);
    if (waitNanos > 0 && heldSinceNanos == 0) {
      heldSinceNanos = nowNanos;
    }
    return waitNanos;
  }

  /// No handle joins the transaction any more.
  void closed(Transaction transaction, long nowNanos) {
    transaction.group.close();
    rule.closed(transaction.group, nowNanos);
  }

  /// How long the commit thread is to wait before it commits a closed transaction.
  long lingerNanos(Transaction transaction, long nowNanos) {
    long waitNanos = rule.lingerNanos(transaction.group, nowNanos);
    if (waitNanos > 0 && heldSinceNanos == 0) {
      heldSinceNanos = nowNanos;
    }
    return waitNanos;
  }

  /// The commit begins, as the rule or some haste would have it.
  void began(Transaction transaction, long nowNanos) {
    if (heldSinceNanos != 0) {
      counters.held(transaction.group, nowNanos - heldSinceNanos);
      heldSinceNanos = 0;
    }
  }

  /// The transaction is durable, and not yet known to be.
  void answered(Transaction transaction, CommitTimes times, long nowNanos) {
    rule.answered(transaction.group, times.fixedNanos(), times.totalNanos(), nowNanos);
  }
}
