package dev.extant.nio;

import java.util.concurrent.atomic.AtomicInteger;

/// Counts who is inside something that can be closed: nobody enters once it is closed, and when the
/// last one has left, a given action runs, once.
///
/// Entering never waits.
final class Gate {
  private static final int CLOSED = Integer.MIN_VALUE;

  /// The number of those inside, plus [#CLOSED] after closing.
  private final AtomicInteger state = new AtomicInteger();

  private final Runnable drained;

  Gate(Runnable drained) {
    this.drained = drained;
  }

  boolean isOpen() {
    return state.get() >= 0;
  }

  /// False if the gate is closed; otherwise [#exit()] must follow.
  boolean enter() {
    int seen = state.get();
    while (seen >= 0) {
      if (state.compareAndSet(seen, seen + 1)) {
        return true;
      }
      seen = state.get();
    }
    return false;
  }

  void exit() {
    if (state.decrementAndGet() == CLOSED) {
      drained.run();
    }
  }

  /// False if it was closed already.
  boolean close() {
    int before = state.getAndUpdate(seen -> seen | CLOSED);
    if (before == 0) {
      drained.run();
    }
    return before >= 0;
  }
}
