package dev.extant.journal;

/// The figures behind [JournalStatistics]. Guarded by the journal's state lock.
final class JournalCounters {
  long commits;
  long handles;
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

  /// The average weighs the newest commit with a fourth, as jbd2 does.
  void committed(long nanos, int copies, int revokes, long joinersServed) {
    averageCommitNanos = commits == 0 ? nanos : (nanos + 3 * averageCommitNanos) / 4;
    lastCommitNanos = nanos;
    commits++;
    blocksLogged += copies;
    revokesLogged += revokes;
    joiners += joinersServed;
  }

  JournalStatistics snapshot() {
    return new JournalStatistics(
        commits,
        handles,
        blocksLogged,
        revokesLogged,
        joiners,
        lastCommitNanos,
        averageCommitNanos,
        checkpoints,
        blocksCheckpointed,
        startWaits,
        spaceWaits,
        overdrafts);
  }
}
