package dev.extant.fsck;

/// Where the parts of a check report what is wrong. May be called by any thread.
@FunctionalInterface
interface Findings {
  /// `ino` and `blockNr` are 0 where the finding belongs to none; `detail` says in a few words what
  /// was found and what was expected.
  void report(Problem problem, long ino, long blockNr, String detail);
}
