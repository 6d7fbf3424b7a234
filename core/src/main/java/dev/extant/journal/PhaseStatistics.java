package dev.extant.journal;

/// What transactions spent their time on since the journal was opened: sums in nanoseconds over all
/// commits, by the words of the kernel's `/proc/fs/jbd2/DEVICE/info`.
///
/// - `waitingNanos`: handles waited to be let into a transaction.
/// - `requestDelayNanos`: from the first request of a commit until the transaction was closed.
/// - `runningNanos`: from the first handle until it was closed.
/// - `lockedNanos`: until the last handle had ended.
/// - `flushingNanos`: copying what is logged, and writing the data it orders.
/// - `loggingNanos`: writing the log, with the flushes.
public record PhaseStatistics(
    long waitingNanos,
    long requestDelayNanos,
    long runningNanos,
    long lockedNanos,
    long flushingNanos,
    long loggingNanos) {}
