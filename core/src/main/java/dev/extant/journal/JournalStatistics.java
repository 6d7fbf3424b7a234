package dev.extant.journal;

/// Figures of a journal since it was opened, taken at one moment.
///
/// `joiners` counts the calls that asked for the durability of a transaction that was not durable
/// yet; `joiners / commits` is how many of them a commit served. `startWaits` counts handles that
/// had to wait for a transaction being closed, `spaceWaits` how often the line of them had to wait
/// for log space. `overdrafts` counts blocks that handles changed beyond their credits.
public record JournalStatistics(
    long commits,
    long handles,
    long blocksLogged,
    long revokesLogged,
    long joiners,
    long lastCommitNanos,
    long averageCommitNanos,
    long checkpoints,
    long blocksCheckpointed,
    long startWaits,
    long spaceWaits,
    long overdrafts) {}
