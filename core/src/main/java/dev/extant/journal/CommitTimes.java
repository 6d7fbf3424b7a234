package dev.extant.journal;

/// What one commit spent its time on, in nanoseconds.
///
/// - `requestDelayNanos`: from the first request until the transaction was closed; 0 if nobody
///   asked.
/// - `runningNanos`: from the first handle until it was closed.
/// - `lockedNanos`: until the last handle had ended.
/// - `flushingNanos`: copying what is logged, and writing the data that it orders.
/// - `loggingNanos`: writing the log, with the flushes.
///
/// The *fixed part* of a commit is the last, which does not grow with the data of those it serves;
/// the whole service time is that of the last two.
record CommitTimes(
    long requestDelayNanos,
    long runningNanos,
    long lockedNanos,
    long flushingNanos,
    long loggingNanos) {

  long fixedNanos() {
    return loggingNanos;
  }

  long totalNanos() {
    return flushingNanos + loggingNanos;
  }
}
