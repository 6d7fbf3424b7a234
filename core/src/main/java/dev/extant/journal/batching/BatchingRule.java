package dev.extant.journal.batching;

/// Decides how long a commit is held back so that more syncers can join it.
///
/// Definitions: a *syncer* is whoever asks, again and again, for the durability of what it did (a
/// thread, or a client of a server), known by a number of its own. A [Group] is what a rule sees of
/// a transaction: those syncers that its commit will answer. A group is first *gathering*, then
/// *closed* (nobody new may join the transaction), then *answered*. The next group gathers while
/// one is committed, so there are at most two.
///
/// The committer asks [#waitNanos] when a syncer has asked for the gathering group and no other
/// commit is under way, when the time the rule named is over, and when [#joined] says so. It then
/// closes the group, holds it closed for as long as [#lingerNanos] says, and commits it.
///
/// A rule never sleeps and never reads a clock: `nowNanos` is [System#nanoTime] or the time of a
/// simulation. Not thread-safe: all calls are made under the lock of whoever owns it, so they must
/// be quick. One rule serves one journal.
public interface BatchingRule {
  /// A syncer asks for the group's durability and will wait for it. Returns true if the committer
  /// must ask [#waitNanos] anew.
  boolean joined(Group group, long syncer, long nowNanos);

  /// How much longer to hold the gathering group back; 0 or less means close it now.
  long waitNanos(Group group, long nowNanos);

  /// How much longer a closed group has to wait before it is committed: the rules of old let their
  /// syncers sleep with their handles open, and a commit waits for these. 0 or less means now.
  default long lingerNanos(Group group, long nowNanos) {
    return 0;
  }

  /// The group takes no more syncers in; the next one begins. Those who join it all the same only
  /// wait for a commit that is under way.
  default void closed(Group group, long nowNanos) {}

  /// The group is durable, and its syncers are answered now. `totalNanos` is how long the commit
  /// took since the group was closed and lingered for, `fixedNanos` the part of it that does not
  /// grow with the group: writing the log and flushing, without the data of files.
  default void answered(Group group, long fixedNanos, long totalNanos, long nowNanos) {}
}
