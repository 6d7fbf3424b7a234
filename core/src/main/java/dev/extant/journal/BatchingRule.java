package dev.extant.journal;

/// Decides how long the commit thread waits for more joiners once somebody asked for a commit.
public interface BatchingRule {
  /// Never waits: while a commit is in flight the next transaction gathers anyway.
  BatchingRule NONE = (running, armedNanos) -> 0;

  /// What a rule may know about the running transaction.
  record TransactionView(long tid, long ageNanos, int openHandles, long handles, long joiners) {}

  /// How many nanoseconds to wait from now on before asking again; 0 or less means commit now.
  /// `armedNanos` is how long ago the commit was first asked for. Called under the journal's lock:
  /// must be quick.
  long waitNanos(TransactionView running, long armedNanos);
}
