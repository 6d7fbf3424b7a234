package dev.extant.journal;

import java.util.List;

/// How well commits were batched since the journal was opened.
///
/// - `joinersPerCommit`: element 0 counts the commits nobody waited for, element 1 those that one
///   syncer waited for, element i those with more than `2^(i-2)` and up to `2^(i-1)`; the last
///   takes all above.
/// - `loneCommits`: those that one syncer waited for.
/// - `waits`: commits that were held back by the rule, `waitNanosTotal` and `waitNanosMax` for how
///   long, and `waitsHitBudget` how many of them for as long as the rule allows.
/// - `expectedJoined`, `expectedMissed`: syncers that a commit was held back for, and that came or
///   did not come.
/// - `fixedNanos` (F): the part of a commit that is the same for one and for many, that is writing
///   the log and flushing; `serviceNanos` (S): all of it. Averages in which the newest commit
///   weighs 1/8.
public record BatchingStatistics(
    List<Long> joinersPerCommit,
    long loneCommits,
    long waits,
    long waitNanosTotal,
    long waitNanosMax,
    long waitsHitBudget,
    long expectedJoined,
    long expectedMissed,
    long fixedNanos,
    long serviceNanos) {

  public BatchingStatistics {
    joinersPerCommit = List.copyOf(joinersPerCommit);
  }
}
