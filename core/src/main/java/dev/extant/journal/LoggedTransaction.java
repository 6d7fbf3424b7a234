package dev.extant.journal;

import java.time.Instant;
import java.util.List;

/// A transaction as it stands in the log. `commitTime` is null if no commit block was found,
/// `problem` is null if the transaction is whole.
public record LoggedTransaction(
    long tid,
    long startBlock,
    long blockCount,
    State state,
    Instant commitTime,
    List<LoggedBlock> blocks,
    List<Long> revokes,
    String problem) {

  public enum State {
    COMMITTED,
    /// It was being written when the log ended; it is not replayed.
    INCOMPLETE,
    /// It was durable once and cannot be replayed.
    DAMAGED
  }

  /// A copy of block `blockNr` in log block `logBlock`; `intact` is false if the checksum in its
  /// tag does not fit.
  public record LoggedBlock(long blockNr, long logBlock, boolean escaped, boolean intact) {}
}
