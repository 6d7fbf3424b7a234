package dev.extant.ext4;

import dev.extant.block.IoThread;
import java.io.IOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The mount's thread that writes dirty data back every few seconds, so that data that nobody syncs
/// does not stay in memory for long. Errors are kept per file and reported at its next fsync.
final class Flusher implements AutoCloseable {
  interface Work {
    void writeBack() throws IOException;
  }

  private final Work work;
  private final long intervalNanos;
  private final Health health;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition stopped = lock.newCondition();
  private final IoThread thread;

  /// Guarded by `lock`.
  private boolean stop;

  Flusher(String name, long intervalNanos, Health health, Work work) {
    this.work = work;
    this.intervalNanos = intervalNanos;
    this.health = health;
    this.thread = new IoThread("extant-flusher-" + name, this::run);
    thread.start();
  }

  private void run() {
    while (!waitForNextRound()) {
      if (health.readOnly()) {
        continue;
      }
      try {
        work.writeBack();
      } catch (IOException | RuntimeException e) {
        health.writebackFailed(e);
      }
    }
  }

  /// True if it is time to stop.
  private boolean waitForNextRound() {
    lock.lock();
    try {
      long left = intervalNanos;
      while (!stop && left > 0) {
        left = stopped.awaitNanos(left);
      }
      return stop;
    } catch (InterruptedException e) {
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      stop = true;
      stopped.signalAll();
    } finally {
      lock.unlock();
    }
    thread.joinUninterruptibly();
  }
}
