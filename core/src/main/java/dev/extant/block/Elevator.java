package dev.extant.block;

import java.util.ArrayDeque;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/// The requests of one direction (reads or writes): admission, merging and order of dispatch.
///
/// Every request that is queued or runs holds one of `nrRequests` slots. Invariants:
///
/// 1. Nobody is admitted past a waiter: while anybody waits, a free slot goes to the head (I10).
///    Only a request that merges into a queued one needs no slot and so no wait.
/// 2. A slot that becomes free is given to the head by the thread that frees it, so no newcomer can
///    take it.
/// 3. Dispatch goes upwards through the offsets from where the last request ended, then starts
///    again at the lowest.
///
/// A later fairness policy replaces what `offer` and `release` decide. All methods need the queue's
/// lock.
final class Elevator {
  private record Waiter(Request request, CompletableFuture<Void> admission) {}

  private static final CompletableFuture<Void> ADMITTED = CompletableFuture.completedFuture(null);

  private final int nrRequests;
  private final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
  private final TreeSet<Request> queued = new TreeSet<>();
  private int freeSlots;
  private long nextSequence;

  /// Where the last dispatched request ended.
  private long position;

  Elevator(int nrRequests) {
    this.nrRequests = nrRequests;
    this.freeSlots = nrRequests;
  }

  /// Takes a slot for a transfer that bypasses the queue; only where nothing is queued.
  boolean tryBypass() {
    if (freeSlots == 0 || !queued.isEmpty() || !waiters.isEmpty()) {
      return false;
    }
    freeSlots--;
    return true;
  }

  /// Queues the request, or puts it at the end of the line of waiters. The result is done when the
  /// request is queued.
  CompletableFuture<Void> offer(Request request) {
    request.sequence(nextSequence++);
    if (merge(request)) {
      return ADMITTED;
    }
    if (freeSlots > 0 && waiters.isEmpty()) {
      freeSlots--;
      queued.add(request);
      return ADMITTED;
    }
    Waiter waiter = new Waiter(request, new CompletableFuture<>());
    waiters.add(waiter);
    return waiter.admission();
  }

  private boolean merge(Request request) {
    Request before = queued.lower(request);
    if (before != null && before.canAppend(request)) {
      before.append(request);
      return true;
    }
    Request after = queued.higher(request);
    if (after != null && request.canAppend(after)) {
      queued.remove(after);
      after.prepend(request);
      queued.add(after);
      return true;
    }
    return false;
  }

  /// The next request to run, or null. Its slot stays taken until [#release].
  Request dispatch() {
    if (queued.isEmpty()) {
      return null;
    }
    Request next = queued.ceiling(Request.before(position));
    if (next == null) {
      next = queued.first();
    }
    queued.remove(next);
    position = next.endOffset();
    return next;
  }

  /// Gives a slot back. The result says whether requests of waiters were queued.
  boolean release() {
    freeSlots++;
    boolean queuedAny = false;
    while (!waiters.isEmpty()) {
      if (!merge(waiters.peek().request())) {
        if (freeSlots == 0) {
          break;
        }
        freeSlots--;
        queued.add(waiters.peek().request());
      }
      waiters.poll().admission().complete(null);
      queuedAny = true;
    }
    return queuedAny;
  }

  int nrQueued() {
    return queued.size();
  }

  int nrWaiting() {
    return waiters.size();
  }

  boolean idle() {
    return freeSlots == nrRequests;
  }
}
