package dev.extant.block;

/// A platform thread of ours (a queue's I/O thread, the commit thread, the flusher): daemon, named
/// "extant-…", and never interrupted by anybody, so it may call a device that is not
/// [BlockDevice#interruptSafe()] without a hand-over.
public final class IoThread extends Thread {
  public IoThread(String name, Runnable task) {
    super(task, name);
    setDaemon(true);
  }

  /// Waits for its end. An interrupt meanwhile stays pending.
  public void joinUninterruptibly() {
    boolean interrupted = false;
    while (isAlive()) {
      try {
        join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
