package dev.extant.journal.batching;

/// What a [BatchingRule] knows of a transaction, and keeps about it. Guarded like the rule.
public final class Group {
  private final long startNanos;
  private long handles;
  private int syncers;
  private boolean armed;
  private long armedNanos;
  private boolean closed;
  private int expected;
  private int joinedSinceExpected;
  private boolean hitBudget;

  /// For the rules whose syncers sleep: when the first of them has slept enough, and the last.
  long wokenNanos = Long.MAX_VALUE;

  long allWokenNanos = Long.MIN_VALUE;

  public Group(long startNanos) {
    this.startNanos = startNanos;
  }

  /// When its transaction began.
  public long startNanos() {
    return startNanos;
  }

  /// One more operation has joined the transaction.
  public void countHandle() {
    handles++;
  }

  public long handles() {
    return handles;
  }

  /// One more syncer waits for it; to be called before [BatchingRule#joined].
  public void countSyncer() {
    syncers++;
    joinedSinceExpected++;
  }

  public int syncers() {
    return syncers;
  }

  /// The committer could commit it now if the rule lets it. Later calls change nothing.
  public void arm(long nowNanos) {
    if (!armed) {
      armed = true;
      armedNanos = nowNanos;
    }
  }

  public long armedNanos() {
    return armedNanos;
  }

  public void close() {
    closed = true;
  }

  public boolean closed() {
    return closed;
  }

  /// The rule holds the group back for so many more.
  void expect(int count) {
    if (expected == 0) {
      expected = count;
      joinedSinceExpected = 0;
    }
  }

  /// For how many it was held back first; 0 if it was not, or the rule does not count.
  public int expected() {
    return expected;
  }

  /// How many of these came.
  public int expectedJoined() {
    return Math.min(expected, expected == 0 ? 0 : joinedSinceExpected);
  }

  void hitBudget() {
    hitBudget = true;
  }

  /// The wait ended because it had become as long as a wait may be.
  public boolean hasHitBudget() {
    return hitBudget;
  }
}
