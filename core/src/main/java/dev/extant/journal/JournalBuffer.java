package dev.extant.journal;

import dev.extant.cache.Buffer;
import dev.extant.cache.StagedBlocks;

/// What the journal knows about one buffer; it hangs on it as its attachment as long as a
/// transaction has to do with the block (jbd2's journal head).
///
/// A buffer is in at most one of each of these: the *running* transaction, whose handles may change
/// it; the *committing* one, whose copy of it goes to the log; and as *checkpoint* the newest
/// durable one whose copy is not home yet. It may be in all three at once.
///
/// Everything is guarded by this object's monitor, which is held for the time of one copied block
/// at most. Lock order: the journal's state lock is never taken while it is held.
final class JournalBuffer {
  final Buffer buffer;

  private Transaction running;
  private boolean modified;
  private boolean forgotten;
  private Sealer sealer;
  private Transaction committing;
  private Transaction checkpoint;
  private boolean writingHome;
  private boolean detached;

  private JournalBuffer(Buffer buffer) {
    this.buffer = buffer;
  }

  /// The journal's state of the buffer, made if there is none.
  static JournalBuffer of(Buffer buffer) {
    Object there = buffer.attachment();
    if (there == null) {
      there = buffer.attachIfAbsent(new JournalBuffer(buffer));
    }
    return (JournalBuffer) there;
  }

  /// What [#join] found.
  enum Joined {
    NEWLY,
    BEFORE,
    /// The state was taken off the buffer meanwhile: use [#of] again.
    DETACHED
  }

  /// A handle of `transaction` will change the block: from now on it is not written home until that
  /// transaction is durable.
  synchronized Joined join(Transaction transaction) {
    if (detached) {
      return Joined.DETACHED;
    }
    if (running == transaction) {
      forgotten = false;
      return Joined.BEFORE;
    }
    if (running != null) {
      throw new IllegalStateException(
          "block " + buffer.blockNr() + " is still in transaction " + running.tid());
    }
    running = transaction;
    return Joined.NEWLY;
  }

  /// A handle of `transaction` has changed the block.
  synchronized void modified(Transaction transaction, Sealer newSealer) {
    if (running != transaction) {
      throw new IllegalStateException(
          "block " + buffer.blockNr() + " was changed without write access");
    }
    modified = true;
    forgotten = false;
    if (newSealer != null) {
      sealer = newSealer;
    }
  }

  /// The block, which `transaction` has joined, was freed.
  synchronized void forgotten() {
    modified = false;
    forgotten = true;
    sealer = null;
  }

  /// The sealer to run now; null if there is none or the block is not to be logged.
  synchronized Sealer sealer() {
    return modified ? sealer : null;
  }

  /// How the transaction that is being closed leaves the block.
  enum Fate {
    LOG,
    FORGET,
    UNCHANGED
  }

  /// The transaction it is running in becomes the committing one.
  synchronized Fate beginCommit() {
    Fate fate = modified ? Fate.LOG : forgotten ? Fate.FORGET : Fate.UNCHANGED;
    committing = fate == Fate.UNCHANGED ? null : running;
    running = null;
    modified = false;
    forgotten = false;
    sealer = null;
    if (fate == Fate.UNCHANGED) {
      detachIfIdle();
    }
    return fate;
  }

  /// Its copy in the committing transaction is durable: it must go home, and what older
  /// transactions still had to bring home is superseded.
  synchronized void endCommitLogged() {
    Transaction superseded = checkpoint;
    checkpoint = committing;
    committing = null;
    buffer.dirty(true);
    if (superseded != null) {
      superseded.entryDone();
    }
  }

  /// That it is free is durable: nothing must go home any more. False if a copy is just on its way
  /// home; then nothing was done.
  synchronized boolean endCommitForgotten() {
    if (writingHome) {
      return false;
    }
    committing = null;
    if (checkpoint != null) {
      checkpoint.entryDone();
      checkpoint = null;
    }
    buffer.dirty(false);
    detachIfIdle();
    return true;
  }

  /// What [#beginWriteHome] found.
  enum HomeWrite {
    STARTED,
    /// `transaction` has no longer to write the block home.
    NOT_NEEDED,
    /// A newer transaction that is not durable has the block.
    BLOCKED
  }

  /// Takes a copy to be written home for `transaction`.
  synchronized HomeWrite beginWriteHome(Transaction transaction, StagedBlocks home) {
    if (checkpoint != transaction) {
      return HomeWrite.NOT_NEEDED;
    }
    if (running != null || committing != null) {
      return HomeWrite.BLOCKED;
    }
    home.add(buffer.blockNr(), buffer.data());
    writingHome = true;
    return HomeWrite.STARTED;
  }

  /// The copy taken for `transaction` has arrived at home, or failed to.
  synchronized void endWriteHome(Transaction transaction, boolean arrived) {
    writingHome = false;
    if (arrived && checkpoint == transaction) {
      checkpoint = null;
      buffer.dirty(false);
      transaction.entryDone();
      detachIfIdle();
    }
  }

  /// The tid that keeps the block from going home; 0 if none.
  synchronized long blockingTid() {
    return running != null ? running.tid() : committing != null ? committing.tid() : 0;
  }

  private void detachIfIdle() {
    if (running == null && committing == null && checkpoint == null && !writingHome) {
      detached = true;
      buffer.attachment(null);
    }
  }
}
