package dev.extant.util;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/// The durability of something, for one who waits for it. Who waits for it in vain can say so with
/// [#hurry], or by cancelling it: the commit it depends on is then no longer held back to gather
/// more. Neither calls the commit off. The same holds for the futures derived from it.
public final class DurabilityFuture<T> extends CompletableFuture<T> {
  private final Runnable hurry;

  /// `hurry` must be quick, and may be called more than once and by any thread.
  public DurabilityFuture(Runnable hurry) {
    this.hurry = hurry;
  }

  /// Begins the commit now rather than later.
  public void hurry() {
    hurry.run();
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new DurabilityFuture<>(hurry);
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (cancelled) {
      hurry.run();
    }
    return cancelled;
  }

  /// Waits for any future. An interrupt does not end the wait, but it hurries it; it is kept for
  /// the caller.
  ///
  /// @throws IOException what the future failed with
  public static void await(CompletableFuture<Void> durable) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          durable.get();
          return;
        } catch (InterruptedException e) {
          interrupted = true;
          if (durable instanceof DurabilityFuture<Void> future) {
            future.hurry();
          }
        }
      }
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case IOException cause -> throw cause;
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        default -> throw new IOException(e.getCause());
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
