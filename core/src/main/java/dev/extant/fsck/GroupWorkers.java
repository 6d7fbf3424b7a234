package dev.extant.fsck;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/// Does something for every block group on a few named threads, which take one group after the
/// other.
final class GroupWorkers {
  /// What is done for one group.
  interface Work {
    void on(int group);
  }

  private GroupWorkers() {}

  /// Returns when all groups are done. What a worker throws stops all and is thrown here.
  static void run(CheckContext context, String step, FsckProgress progress, Work work)
      throws CannotCheckException {
    int groups = context.layout().groupCount();
    AtomicInteger next = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Runnable loop =
        () -> {
          try {
            for (int group = next.getAndIncrement();
                group >= 0 && group < groups && failure.get() == null;
                group = next.getAndIncrement()) {
              progress.at(step, group, groups);
              work.on(group);
            }
          } catch (RuntimeException | Error e) {
            failure.compareAndSet(null, e);
          }
        };
    List<Thread> threads = new ArrayList<>();
    for (int i = 1; i < Math.min(context.options().threads(), groups); i++) {
      threads.add(Thread.ofPlatform().name("extant-fsck-" + i).start(loop));
    }
    loop.run();
    join(threads, failure);
    rethrow(failure.get());
    progress.at(step, groups, groups);
  }

  private static void join(List<Thread> threads, AtomicReference<Throwable> failure)
      throws CannotCheckException {
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
          failure.compareAndSet(null, e);
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
      throw new CannotCheckException("the check was interrupted");
    }
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }
}
