package dev.extant.ext4;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// Counts the operations under way in a volume, so that closing it can refuse new ones and wait for
/// those that run.
final class OperationGate {
  private static final long CLOSED = 1L << 62;
  private final AtomicLong state = new AtomicLong();
  private volatile Thread closer;

  void enter() throws FsException {
    if (!tryEnter()) {
      throw new FsException(Errno.EBADF, "the file system is closed");
    }
  }

  /// False if the gate is closed; otherwise [#leave] follows.
  boolean tryEnter() {
    if ((state.incrementAndGet() & CLOSED) != 0) {
      leave();
      return false;
    }
    return true;
  }

  void leave() {
    if (state.decrementAndGet() == CLOSED) {
      LockSupport.unpark(closer);
    }
  }

  boolean closed() {
    return (state.get() & CLOSED) != 0;
  }

  /// Closes the gate and waits until nobody is inside. False if it was closed before.
  boolean close() {
    closer = Thread.currentThread();
    long before = state.getAndUpdate(value -> value | CLOSED);
    if ((before & CLOSED) != 0) {
      return false;
    }
    boolean interrupted = false;
    while (state.get() != CLOSED) {
      LockSupport.parkNanos(this, 10_000_000);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return true;
  }
}
