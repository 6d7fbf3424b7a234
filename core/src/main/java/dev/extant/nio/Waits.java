package dev.extant.nio;

import dev.extant.vfs.FsException;
import java.nio.channels.AsynchronousCloseException;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;

/// The waits for durability of one channel; its closing ends them, and nothing but them.
final class Waits {
  private final BooleanSupplier open;
  private final Set<CompletableFuture<Void>> waits = ConcurrentHashMap.newKeySet();

  Waits(BooleanSupplier open) {
    this.open = open;
  }

  /// Waits for what a volume has promised.
  ///
  /// @throws AsynchronousCloseException if the channel is closed meanwhile
  void await(CompletableFuture<Void> promise)
      throws InterruptedException, AsynchronousCloseException, FsException {
    CompletableFuture<Void> wait = promise.copy();
    waits.add(wait);
    try {
      if (!open.getAsBoolean()) {
        wait.cancel(false);
      }
      wait.get();
    } catch (InterruptedException e) {
      // Nobody waits any more, so the commit need not wait for others either.
      wait.cancel(false);
      throw e;
    } catch (CancellationException e) {
      throw new AsynchronousCloseException();
    } catch (ExecutionException e) {
      throw ExtantFiles.fsException(e.getCause());
    } finally {
      waits.remove(wait);
    }
  }

  void cancelAll() {
    waits.forEach(wait -> wait.cancel(false));
  }
}
