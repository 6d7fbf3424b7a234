package dev.extant.journal.batching;

/// `batching=none`: commits as soon as somebody asks. What gathers while a commit is under way is
/// still committed together.
final class NoWait implements BatchingRule {
  @Override
  public boolean joined(Group group, long syncer, long nowNanos) {
    return group.syncers() == 1;
  }

  @Override
  public long waitNanos(Group group, long nowNanos) {
    return 0;
  }
}
