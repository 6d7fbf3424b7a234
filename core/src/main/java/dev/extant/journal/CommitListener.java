package dev.extant.journal;

/// Told when a transaction is durable, before those who wait for it are woken. Called on the commit
/// thread; must be quick and must not start handles.
public interface CommitListener {
  void committed(long tid);
}
