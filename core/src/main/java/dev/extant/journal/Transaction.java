package dev.extant.journal;

import dev.extant.journal.batching.Group;
import dev.extant.util.DurabilityFuture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/// A group of handles that become durable together.
///
/// ```
/// RUNNING ──▶ LOCKED ──▶ FLUSH ──▶ COMMIT ──▶ FINISHED ──▶ (all entries done) CHECKPOINTED
/// handles     no new     ordered   written    durable,
/// join        handles;   data      to log     goes home
///             sealed,
///             copied
/// ```
final class Transaction {
  enum State {
    RUNNING,
    LOCKED,
    FLUSH,
    COMMIT,
    FINISHED
  }

  private final long tid;
  final long startNanos;
  final RevokeSet revokes = new RevokeSet();

  /// Guarded by the journal's state lock, as all up to `blockCount`.
  State state = State.RUNNING;

  int openHandles;

  /// Buffers joined plus the credits that open handles have left.
  int credits;

  /// Those that its commit answers, as the batching rule sees them.
  final Group group;

  /// Who waits for its durability; not looked at any more once it is finished.
  List<DurabilityFuture<Void>> waiters = new ArrayList<>();

  /// Its commit was asked for, and when.
  boolean requested;

  long requestedNanos;

  /// When it was closed, and when the last handle had ended and nothing held it back any more.
  long lockedNanos;

  long drainedNanos;

  /// Its commit must not be held back to gather more.
  boolean urgent;

  final List<JournalBuffer> joined = new ArrayList<>();
  final Set<OrderedData> ordered = Collections.newSetFromMap(new IdentityHashMap<>());
  long startBlock;
  int blockCount;

  /// The buffers it has to bring home. Owned by the commit thread until the transaction is
  /// finished, then by the checkpoint thread.
  List<JournalBuffer> entries = new ArrayList<>();

  private final AtomicInteger entriesLeft = new AtomicInteger();

  Transaction(long tid, long startNanos) {
    this.tid = tid;
    this.startNanos = startNanos;
    this.group = new Group(startNanos);
  }

  long tid() {
    return tid;
  }

  /// Its commit is asked for; what is urgent is not held back to gather more. Needs the state lock.
  /// Returns true if the commit thread does not know yet.
  boolean request(boolean urgently, long nowNanos) {
    boolean news = !requested || urgently && !urgent;
    if (!requested) {
      requested = true;
      requestedNanos = nowNanos;
    }
    urgent |= urgently;
    return news;
  }

  void entryCount(int count) {
    entriesLeft.set(count);
  }

  /// One of its entries is home, or superseded by a newer durable transaction.
  void entryDone() {
    entriesLeft.decrementAndGet();
  }

  /// Nothing of it has to be brought home any more; its log blocks are free once the device was
  /// flushed.
  boolean checkpointed() {
    return entriesLeft.get() == 0;
  }
}
