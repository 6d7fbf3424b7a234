package dev.extant.journal;

import dev.extant.util.DurabilityFuture;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/// What the file system needs of a journal: atomic groups of metadata changes with a durable end.
/// Implemented by the jbd2-compatible journal and by [NoJournal].
public interface Journal extends AutoCloseable {
  /// Opens a handle with room for changing `credits` metadata blocks. Waits while the running
  /// transaction is being closed or the log is full. Throws [JournalAbortedException] after an
  /// abort.
  Handle start(int credits) throws IOException;

  /// True if there is a log, so that the changes of a handle are atomic over a crash.
  boolean atomic();

  /// The most credits one handle may have.
  int maxCredits();

  /// Asks for transaction `tid` to be committed and returns its durability: done when the
  /// transaction and the data it orders are durable, failed when the journal aborted first.
  /// Transactions already durable give a completed future. Cancelling it cancels nothing else, but
  /// the commit is then no longer held back for others to join it; see [DurabilityFuture].
  ///
  /// `syncer` is whoever asks again and again, by which the commits are timed: a thread, or a
  /// client of a server.
  CompletableFuture<Void> commit(long tid, long syncer);

  /// The same for the calling thread.
  default CompletableFuture<Void> commit(long tid) {
    return commit(tid, Thread.currentThread().threadId());
  }

  /// The same for whatever is running or committing now, and at once.
  CompletableFuture<Void> commitRunning();

  /// True if the commit of `tid` has its flush still before it: data that was written to the device
  /// before this call is then durable with the transaction. False too if `tid` is durable.
  boolean coversWrites(long tid);

  /// True if `tid` is durable.
  boolean committed(long tid);

  void addCommitListener(CommitListener listener);

  /// Stops all further changes; the first cause is kept and reaches every waiter.
  void abort(Throwable cause);

  /// The cause of the abort, or null.
  Throwable abortCause();

  /// Commits, writes all metadata home, flushes, and marks the log empty.
  void checkpoint() throws IOException;

  /// [#checkpoint] (unless aborted) and end of the threads.
  @Override
  void close() throws IOException;
}
