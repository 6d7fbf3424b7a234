package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Lets concurrent callers share flushes: at most one runs, and all who call meanwhile share the
/// one that begins when it ends (the running one may have begun before their writes returned, so it
/// does not count).
///
/// One of those who wait runs the next flush itself.
final class SharedFlush {
  /// Runs one flush of the device, on this thread or another, and waits for it.
  interface Flush {
    void run() throws DeviceException;
  }

  private final String device;
  private final Flush flush;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();

  /// Guarded by `lock`.
  private boolean running;

  /// How many flushes have begun; guarded by `lock`.
  private long begun;

  /// The last flush that succeeded; guarded by `lock`.
  private long succeeded;

  /// Why the first failing flush failed; it is never tried again. Guarded by `lock`.
  private Throwable failure;

  SharedFlush(String device, Flush flush) {
    this.device = device;
    this.flush = flush;
  }

  /// Returns after a flush that began after this call.
  void await() throws DeviceException {
    lock.lock();
    try {
      long mine = begun + 1;
      while (succeeded < mine && failure == null) {
        if (running) {
          ended.awaitUninterruptibly();
        } else {
          runOne();
        }
      }
      if (succeeded < mine) {
        throw failed();
      }
    } finally {
      lock.unlock();
    }
  }

  int nrWaiting() {
    lock.lock();
    try {
      return lock.getWaitQueueLength(ended);
    } finally {
      lock.unlock();
    }
  }

  /// Runs with `lock` held, but lets go of it while the device works.
  private void runOne() {
    running = true;
    begun++;
    long number = begun;
    Throwable thrown = null;
    lock.unlock();
    try {
      flush.run();
    } catch (DeviceException | RuntimeException | Error e) {
      thrown = e;
    } finally {
      lock.lock();
      running = false;
      if (thrown == null) {
        succeeded = number;
      } else {
        failure = thrown;
      }
      ended.signalAll();
    }
  }

  private DeviceException failed() {
    Kind kind = failure instanceof DeviceException e ? e.kind() : Kind.UNKNOWN;
    return new DeviceException(kind, Operation.FLUSH, device, -1, 0, failure.getMessage(), failure);
  }
}
