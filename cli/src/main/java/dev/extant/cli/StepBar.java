package dev.extant.cli;

import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;

/// A line on a terminal that shows how far each step of a long check is; nothing in the first two
/// seconds, and nothing at all elsewhere. Any thread may move it on.
final class StepBar implements AutoCloseable {
  private static final long QUIET_NANOS = 2_000_000_000L;
  private static final long STEP_NANOS = 200_000_000L;
  private static final int BAR_WIDTH = 30;

  private final Console console;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private long nextNanos = System.nanoTime() + QUIET_NANOS;
  private boolean shown;

  StepBar(Console console) {
    this.console = console;
  }

  void at(String step, long done, long total) {
    if (!console.terminal() || !lock.tryLock()) {
      return;
    }
    try {
      if (System.nanoTime() - nextNanos >= 0) {
        show(step, Math.min(1, (double) done / Math.max(1, total)));
        nextNanos = System.nanoTime() + STEP_NANOS;
      }
    } finally {
      lock.unlock();
    }
  }

  private void show(String step, double part) {
    int filled = (int) (part * BAR_WIDTH);
    String bar = "#".repeat(filled) + ".".repeat(BAR_WIDTH - filled);
    console.err().printf(Locale.ROOT, "\r[%s] %3.0f %%  %s\u001b[K", bar, part * 100, step);
    console.err().flush();
    shown = true;
  }

  /// Takes the line away.
  @Override
  public void close() {
    lock.lock();
    try {
      if (shown) {
        console.err().print("\r\u001b[K");
        console.err().flush();
      }
    } finally {
      lock.unlock();
    }
  }
}
