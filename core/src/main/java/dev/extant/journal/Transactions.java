package dev.extant.journal;

import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.Transaction.State;
import dev.extant.util.DurabilityFuture;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The transactions of a journal, the room they have in the log, and the line of those who wait to
/// join.
///
/// Room: `used` log blocks lie between the log's tail and head. A handle is let in only if
///
/// `used + reserve of the running transaction with the handle <= capacity`,
///
/// and a closed transaction turns its reserve into used blocks before the next one begins, so a
/// commit never waits for room, and the checkpoint, which makes room, may wait for commits.
///
/// Who cannot be let in at once stands in line and nobody overtakes; whoever changes a reason to
/// wait lets in as many as then fit, on their behalf.
final class Transactions {
  private record Waiter(int credits, long sinceNanos, CompletableFuture<Transaction> admission) {}

  private final String name;
  private final LogSpace space;
  private final JournalCounters counters;
  private final CommitTiming timing;

  /// The state lock: guards all below except the volatile fields' reads. No I/O and no foreign code
  /// under it.
  final ReentrantLock lock = new ReentrantLock();

  /// The commit thread may have something to do.
  final Condition commitWork = lock.newCondition();

  /// The last handle of the locked transaction has ended.
  private final Condition drained = lock.newCondition();

  /// The checkpoint thread may have something to do.
  final Condition checkpointWork = lock.newCondition();

  private final ArrayDeque<Waiter> line = new ArrayDeque<>();
  private Transaction running;
  private Transaction committing;

  /// Durable transactions whose log blocks are in use, oldest first.
  private final ArrayDeque<Transaction> finished = new ArrayDeque<>();

  private long nextTid;
  private long used;
  private long head;
  private final long first;
  private final long end;

  /// Somebody waits for log space.
  private boolean spaceWanted;

  private boolean stopping;
  private volatile long committedTid;
  private volatile Throwable abortCause;

  Transactions(
      String name,
      LogSpace space,
      JournalCounters counters,
      CommitTiming timing,
      LogHeader header,
      long firstTid) {
    this.name = name;
    this.space = space;
    this.counters = counters;
    this.timing = timing;
    this.nextTid = firstTid;
    this.committedTid = firstTid - 1;
    this.first = header.first();
    this.end = header.end();
    this.head = first;
  }

  // ---- handles

  Transaction join(int credits) throws IOException {
    if (credits > space.maxCredits()) {
      throw new JournalException(
          Kind.TOO_SMALL,
          name
              + ": an operation needs room for "
              + credits
              + " blocks in the journal, which is too small: it allows "
              + space.maxCredits());
    }
    Waiter waiter;
    lock.lock();
    try {
      checkOpen();
      if (line.isEmpty() && fits(credits)) {
        return admit(credits);
      }
      counters.startWaits++;
      waiter = new Waiter(credits, System.nanoTime(), new CompletableFuture<>());
      line.add(waiter);
    } finally {
      lock.unlock();
    }
    try {
      return waiter.admission.join();
    } catch (CompletionException e) {
      checkOpen();
      throw new IllegalStateException("a wait for the journal failed strangely", e.getCause());
    }
  }

  private void checkOpen() throws IOException {
    if (abortCause != null) {
      throw new JournalAbortedException(abortCause);
    }
    if (stopping) {
      throw new IOException(name + ": the journal is closed");
    }
  }

  /// True if a handle may join now; else asks for what it has to wait for. Needs the lock.
  private boolean fits(int credits) {
    int has = running == null ? 0 : running.credits;
    int revokes = running == null ? 0 : running.revokes.size();
    if (running != null) {
      if (running.state != State.RUNNING) {
        return false;
      }
      if (!space.fitsTransaction(has + credits, revokes)) {
        running.request(true, System.nanoTime());
        commitWork.signal();
        return false;
      }
    }
    if (!hasRoom(has + credits, revokes)) {
      counters.spaceWaits += spaceWanted ? 0 : 1;
      spaceWanted = true;
      checkpointWork.signal();
      return false;
    }
    return true;
  }

  private boolean hasRoom(int credits, int revokes) {
    return used + space.reserve(credits, revokes) <= space.capacity();
  }

  /// Needs the lock.
  private Transaction admit(int credits) {
    if (running == null) {
      running = new Transaction(nextTid++, System.nanoTime());
      commitWork.signal();
    }
    running.openHandles++;
    running.group.countHandle();
    running.credits += credits;
    counters.handles++;
    return running;
  }

  /// Lets in from the line whoever fits. Needs the lock.
  private void admitWaiters() {
    while (!line.isEmpty() && fits(line.peek().credits)) {
      Waiter waiter = line.poll();
      counters.waitingNanos += System.nanoTime() - waiter.sinceNanos;
      waiter.admission.complete(admit(waiter.credits));
    }
  }

  /// More credits for an open handle, if there is room.
  boolean extend(Transaction transaction, int credits) {
    lock.lock();
    try {
      int wanted = transaction.credits + credits;
      int revokes = transaction.revokes.size();
      if (transaction.state != State.RUNNING
          || !space.fitsTransaction(wanted, revokes)
          || !hasRoom(wanted, revokes)) {
        return false;
      }
      transaction.credits = wanted;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /// How many log blocks so many revokes take. Those of open handles are nowhere reserved for: the
  /// handles have to keep credits for them.
  int revokeBlocks(int revokes) {
    return Math.ceilDiv(revokes, space.revokeCapacity());
  }

  /// Ends a handle: its lists become the transaction's. `creditsLeft` is below zero if it changed
  /// more blocks than it said.
  void leave(
      Transaction transaction,
      List<JournalBuffer> joined,
      List<OrderedData> ordered,
      int creditsLeft) {
    lock.lock();
    try {
      transaction.joined.addAll(joined);
      transaction.ordered.addAll(ordered);
      transaction.credits -= creditsLeft;
      counters.overdrafts += Math.max(0, -creditsLeft);
      transaction.openHandles--;
      if (transaction.openHandles == 0 && transaction.state == State.LOCKED) {
        drained.signal();
      }
      if (!line.isEmpty()) {
        admitWaiters();
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- durability

  boolean committed(long tid) {
    return tid <= committedTid;
  }

  /// The durability of a transaction, for a syncer that the batching rule knows by this number, and
  /// for whom the commit may be held back.
  CompletableFuture<Void> commit(long tid, long syncer) {
    return committed(tid) ? CompletableFuture.completedFuture(null) : await(tid, syncer, false);
  }

  /// The durability of a transaction that is not held back any more.
  CompletableFuture<Void> commitNow(long tid) {
    return committed(tid) ? CompletableFuture.completedFuture(null) : await(tid, 0, true);
  }

  private CompletableFuture<Void> await(long tid, long syncer, boolean urgent) {
    lock.lock();
    try {
      if (committed(tid)) {
        return CompletableFuture.completedFuture(null);
      }
      if (abortCause != null) {
        return CompletableFuture.failedFuture(new JournalAbortedException(abortCause));
      }
      Transaction transaction = running != null && running.tid() == tid ? running : committing;
      if (transaction == null || transaction.tid() != tid) {
        throw new IllegalArgumentException(name + ": there was never a transaction " + tid);
      }
      long nowNanos = System.nanoTime();
      boolean asked = transaction.request(urgent, nowNanos);
      if (!urgent) {
        asked |= timing.joined(transaction, syncer, nowNanos);
      }
      if (asked) {
        commitWork.signal();
      }
      DurabilityFuture<Void> durable = new DurabilityFuture<>(() -> hurry(tid));
      transaction.waiters.add(durable);
      return durable;
    } finally {
      lock.unlock();
    }
  }

  /// The commit of the transaction is not held back any more.
  private void hurry(long tid) {
    lock.lock();
    try {
      if (running != null && running.tid() == tid && !running.urgent) {
        running.urgent = true;
        commitWork.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /// True if the transaction's commit has not come to its flush yet.
  boolean flushAhead(long tid) {
    lock.lock();
    try {
      return running != null && running.tid() == tid
          || committing != null && committing.tid() == tid && committing.state == State.FLUSH;
    } finally {
      lock.unlock();
    }
  }

  /// The tid of the newest transaction that there is, or was.
  long newestTid() {
    lock.lock();
    try {
      return nextTid - 1;
    } finally {
      lock.unlock();
    }
  }

  // ---- the commit thread

  /// The transaction that handles join now; needs the lock.
  Transaction running() {
    return running;
  }

  /// Lets no more handles join and waits until the last has ended, and for as long as the batching
  /// rule lets syncers sleep that would have open handles meanwhile.
  void lockAndDrain(Transaction transaction) throws JournalAbortedException, InterruptedException {
    lock.lock();
    try {
      transaction.state = State.LOCKED;
      transaction.lockedNanos = System.nanoTime();
      timing.closed(transaction, transaction.lockedNanos);
      while (transaction.openHandles > 0) {
        checkAlive();
        drained.awaitUninterruptibly();
      }
      long now = System.nanoTime();
      while (!transaction.urgent && !stopping && timing.lingerNanos(transaction, now) > 0) {
        checkAlive();
        commitWork.awaitNanos(timing.lingerNanos(transaction, now));
        now = System.nanoTime();
      }
      timing.began(transaction, now);
      transaction.drainedNanos = now;
    } finally {
      lock.unlock();
    }
  }

  /// The locked transaction gets `blockCount` blocks of the log, and the next may begin.
  void allocate(Transaction transaction, int blockCount) throws IOException {
    lock.lock();
    try {
      if (used + blockCount > space.capacity()) {
        throw new IOException(
            name
                + ": transaction "
                + transaction.tid()
                + " of "
                + blockCount
                + " blocks outgrew its reservation in the journal");
      }
      transaction.startBlock = head;
      transaction.blockCount = blockCount;
      head += blockCount;
      if (head >= end) {
        head -= end - first;
      }
      used += blockCount;
      transaction.state = State.FLUSH;
      committing = transaction;
      running = null;
      admitWaiters();
    } finally {
      lock.unlock();
    }
  }

  void enter(Transaction transaction, State state) {
    lock.lock();
    try {
      transaction.state = state;
    } finally {
      lock.unlock();
    }
  }

  /// The committing transaction is durable: counts it, and returns who is to be answered.
  List<DurabilityFuture<Void>> finish(Transaction transaction, CommitTimes times, int revokes) {
    lock.lock();
    try {
      counters.committed(transaction, times, revokes);
      timing.answered(transaction, times, System.nanoTime());
      transaction.state = State.FINISHED;
      committing = null;
      finished.add(transaction);
      committedTid = transaction.tid();
      if (checkpointDue()) {
        checkpointWork.signal();
      }
      List<DurabilityFuture<Void>> waiters = transaction.waiters;
      transaction.waiters = List.of();
      return waiters;
    } finally {
      lock.unlock();
    }
  }

  // ---- the checkpoint thread

  /// Needs the lock.
  boolean checkpointDue() {
    return !finished.isEmpty() && (spaceWanted || used > space.capacity() / 2);
  }

  /// The durable transactions up to `tid` that have something to bring home, oldest first.
  List<Transaction> unfinishedBusiness(long tid) {
    lock.lock();
    try {
      List<Transaction> result = new ArrayList<>();
      for (Transaction transaction : finished) {
        if (transaction.tid() <= tid && !transaction.checkpointed()) {
          result.add(transaction);
        }
      }
      return result;
    } finally {
      lock.unlock();
    }
  }

  /// Where the log begins: `freeable` blocks before it need not be kept.
  record Tail(long logBlock, long tid, long freeable, int transactions) {}

  Tail tail() {
    lock.lock();
    try {
      long freeable = 0;
      int count = 0;
      for (Transaction transaction : finished) {
        if (!transaction.checkpointed()) {
          return new Tail(transaction.startBlock, transaction.tid(), freeable, count);
        }
        freeable += transaction.blockCount;
        count++;
      }
      long at = committing != null ? committing.startBlock : head;
      return new Tail(at, committedTid + 1, freeable, count);
    } finally {
      lock.unlock();
    }
  }

  /// The journal superblock durably names this tail: the blocks before it are free.
  void release(Tail tail) {
    lock.lock();
    try {
      for (int i = 0; i < tail.transactions; i++) {
        finished.remove();
      }
      used -= tail.freeable;
      spaceWanted = false;
      admitWaiters();
    } finally {
      lock.unlock();
    }
  }

  long used() {
    lock.lock();
    try {
      return used;
    } finally {
      lock.unlock();
    }
  }

  long capacity() {
    return space.capacity();
  }

  // ---- end

  Throwable abortCause() {
    return abortCause;
  }

  /// Keeps the first cause (I7) and hands it to everybody who waits.
  void abort(Throwable cause) {
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    lock.lock();
    try {
      if (abortCause != null) {
        return;
      }
      abortCause = cause;
      if (committing != null) {
        waiting.addAll(committing.waiters);
      }
      if (running != null) {
        waiting.addAll(running.waiters);
      }
      commitWork.signalAll();
      checkpointWork.signalAll();
      drained.signalAll();
    } finally {
      lock.unlock();
    }
    for (CompletableFuture<?> future : waiting) {
      future.completeExceptionally(new JournalAbortedException(cause));
    }
    failLine(cause);
  }

  private void failLine(Throwable cause) {
    List<Waiter> failed;
    lock.lock();
    try {
      failed = List.copyOf(line);
      line.clear();
    } finally {
      lock.unlock();
    }
    failed.forEach(waiter -> waiter.admission.completeExceptionally(cause));
  }

  void checkAlive() throws JournalAbortedException {
    if (abortCause != null) {
      throw new JournalAbortedException(abortCause);
    }
  }

  /// No new handles any more; the threads end once they have nothing to do.
  void stop() {
    lock.lock();
    try {
      stopping = true;
      commitWork.signalAll();
      checkpointWork.signalAll();
    } finally {
      lock.unlock();
    }
    failLine(new IOException(name + ": the journal is closed"));
  }

  /// Needs the lock.
  boolean stopping() {
    return stopping;
  }
}
