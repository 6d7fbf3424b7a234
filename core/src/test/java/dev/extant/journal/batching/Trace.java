package dev.extant.journal.batching;

/// A journal's part in the dealings with a rule, with a clock that the test sets: one transaction
/// gathers, at most one is committed.
final class Trace {
  /// Nothing is expected of the rule before something happens.
  static final long IDLE = Long.MAX_VALUE;

  final BatchingRule rule;
  private Group gathering;
  private Group committing;
  long now;

  Trace(BatchingRule rule) {
    this.rule = rule;
  }

  /// The first handle of a transaction, or one more.
  Trace handle(long atNanos) {
    now = atNanos;
    if (gathering == null) {
      gathering = new Group(now);
    }
    gathering.countHandle();
    return this;
  }

  /// A syncer asks, and, if no commit is under way, the committer looks at once if it has to.
  /// Returns how long the rule wants to hold the commit back, or [#IDLE] if the committer is busy
  /// or is not called.
  long asks(long atNanos, long syncer) {
    if (gathering == null) {
      handle(atNanos);
    }
    now = atNanos;
    gathering.countSyncer();
    boolean look = rule.joined(gathering, syncer, now);
    return look && committing == null ? look(atNanos) : IDLE;
  }

  /// The committer is called up, or the wait is over.
  long look(long atNanos) {
    now = atNanos;
    gathering.arm(now);
    return rule.waitNanos(gathering, now);
  }

  /// The committer takes the transaction. Returns how long the commit is still held back.
  long close(long atNanos) {
    now = atNanos;
    committing = gathering;
    gathering = null;
    committing.close();
    rule.closed(committing, now);
    return rule.lingerNanos(committing, now);
  }

  /// The commit is done, having taken `nanos`, all of it fixed. Returns its group.
  Group answer(long atNanos, long nanos) {
    now = atNanos;
    Group done = committing;
    committing = null;
    rule.answered(done, nanos, nanos, now);
    return done;
  }

  /// A whole commit of one syncer that takes `nanos`, and is not held back.
  void commitOf(long syncer, long atNanos, long nanos) {
    asks(atNanos, syncer);
    close(atNanos);
    answer(atNanos + nanos, nanos);
  }
}
