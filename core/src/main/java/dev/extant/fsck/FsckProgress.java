package dev.extant.fsck;

/// Told how far a check is; called by any of its threads.
@FunctionalInterface
public interface FsckProgress {
  FsckProgress NONE = (_, _, _) -> {};

  /// `done` of `total` units of the named step are done.
  void at(String step, long done, long total);
}
