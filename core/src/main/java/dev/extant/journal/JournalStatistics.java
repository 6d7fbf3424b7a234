package dev.extant.journal;

/// Figures of a journal since it was opened, taken at one moment.
///
/// `requested` of the `commits` were asked for by somebody, the others were due by their age or for
/// lack of room. A transaction has at most `maxTransactionBlocks` blocks of the log; `blocksTaken`
/// is how many all of them took, `blocksLogged` how many blocks of the file system were logged in
/// these.
///
/// `joiners` counts the calls that asked for the durability of a transaction that was not durable
/// yet; `joiners / commits` is how many of them a commit served. `startWaits` counts handles that
/// had to wait for a transaction being closed, `spaceWaits` how often the line of them had to wait
/// for log space. `overdrafts` counts blocks that handles changed beyond their credits.
///
/// `averageCommitNanos` weighs the newest commit with 1/4, as jbd2 does.
public record JournalStatistics(
    long commits,
    long requested,
    long maxTransactionBlocks,
    long handles,
    long blocksTaken,
    long blocksLogged,
    long revokesLogged,
    long joiners,
    long lastCommitNanos,
    long averageCommitNanos,
    long checkpoints,
    long blocksCheckpointed,
    long startWaits,
    long spaceWaits,
    long overdrafts,
    PhaseStatistics phases,
    BatchingStatistics batching) {}
