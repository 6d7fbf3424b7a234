package dev.extant.journal;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
  final CompletableFuture<Void> durable = new CompletableFuture<>();
  final RevokeSet revokes = new RevokeSet();

  /// Guarded by the journal's state lock, as all up to `blockCount`.
  State state = State.RUNNING;

  int openHandles;

  /// Buffers joined plus the credits that open handles have left.
  int credits;

  long handles;
  long joiners;

  /// Its commit was asked for, and when.
  boolean requested;

  long requestedNanos;

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
  }

  long tid() {
    return tid;
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
