package dev.extant.journal;

import dev.extant.journal.batching.Group;
import java.util.ArrayList;
import java.util.List;

/// The figures behind [JournalStatistics]. Guarded by the journal's state lock.
final class JournalCounters {
  /// Up to 1,024 joiners are told apart by powers of two.
  private static final int JOINER_CLASSES = 13;

  private final int maxTransactionBlocks;
  long commits;
  long requested;
  long handles;
  long blocksTaken;
  long blocksLogged;
  long revokesLogged;
  long joiners;
  long lastCommitNanos;
  long averageCommitNanos;
  long checkpoints;
  long blocksCheckpointed;
  long startWaits;
  long spaceWaits;
  long overdrafts;
  long waitingNanos;
  private long requestDelayNanos;
  private long runningNanos;
  private long lockedNanos;
  private long flushingNanos;
  private long loggingNanos;
  private final long[] joinersPerCommit = new long[JOINER_CLASSES];
  private long waits;
  private long waitNanosTotal;
  private long waitNanosMax;
  private long waitsHitBudget;
  private long expectedJoined;
  private long expectedMissed;
  private double fixedNanos;
  private double serviceNanos;

  JournalCounters(int maxTransactionBlocks) {
    this.maxTransactionBlocks = maxTransactionBlocks;
  }

  /// The average weighs the newest commit with a fourth, as jbd2 does.
  void committed(Transaction transaction, CommitTimes times, int revokes) {
    long nanos = times.totalNanos();
    averageCommitNanos = commits == 0 ? nanos : (nanos + 3 * averageCommitNanos) / 4;
    lastCommitNanos = nanos;
    int weight = commits == 0 ? 1 : 8;
    fixedNanos += (times.fixedNanos() - fixedNanos) / weight;
    serviceNanos += (nanos - serviceNanos) / weight;
    commits++;
    requested += transaction.requested ? 1 : 0;
    blocksTaken += transaction.blockCount;
    blocksLogged += transaction.entries.size();
    revokesLogged += revokes;
    requestDelayNanos += times.requestDelayNanos();
    runningNanos += times.runningNanos();
    lockedNanos += times.lockedNanos();
    flushingNanos += times.flushingNanos();
    loggingNanos += times.loggingNanos();
    int syncers = transaction.group.syncers();
    joiners += syncers;
    joinersPerCommit[joinerClass(syncers)]++;
  }

  private static int joinerClass(int syncers) {
    return syncers <= 1
        ? syncers
        : Math.min(JOINER_CLASSES - 1, 33 - Integer.numberOfLeadingZeros(syncers - 1));
  }

  /// A commit was held back.
  void held(Group group, long nanos) {
    waits++;
    waitNanosTotal += nanos;
    waitNanosMax = Math.max(waitNanosMax, nanos);
    waitsHitBudget += group.hasHitBudget() ? 1 : 0;
    expectedJoined += group.expectedJoined();
    expectedMissed += group.expected() - group.expectedJoined();
  }

  JournalStatistics snapshot() {
    return new JournalStatistics(
        commits,
        requested,
        maxTransactionBlocks,
        handles,
        blocksTaken,
        blocksLogged,
        revokesLogged,
        joiners,
        lastCommitNanos,
        averageCommitNanos,
        checkpoints,
        blocksCheckpointed,
        startWaits,
        spaceWaits,
        overdrafts,
        phases(),
        batching());
  }

  private PhaseStatistics phases() {
    return new PhaseStatistics(
        waitingNanos, requestDelayNanos, runningNanos, lockedNanos, flushingNanos, loggingNanos);
  }

  private BatchingStatistics batching() {
    List<Long> histogram = new ArrayList<>();
    for (long count : joinersPerCommit) {
      histogram.add(count);
    }
    return new BatchingStatistics(
        histogram,
        joinersPerCommit[1],
        waits,
        waitNanosTotal,
        waitNanosMax,
        waitsHitBudget,
        expectedJoined,
        expectedMissed,
        Math.round(fixedNanos),
        Math.round(serviceNanos));
  }
}
