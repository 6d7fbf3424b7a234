package dev.extant.block;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Holds back one thread's writes so that neighbours merge, and lets them go when it is closed.
///
/// Close it before waiting for any of its writes. Not for use by several threads.
public final class Plug implements AutoCloseable {
  /// So many are let go even while plugged.
  private static final int MAX_PLUGGED = 1024;

  private final RequestQueue queue;
  private final List<Request.Part> held = new ArrayList<>();

  Plug(RequestQueue queue) {
    this.queue = queue;
  }

  /// Like [RequestQueue#submitWrite], but not before the plug is closed.
  public CompletableFuture<Void> submitWrite(long offset, List<MemorySegment> sources) {
    Request.Part part = new Request.Part(offset, sources);
    held.add(part);
    if (held.size() == MAX_PLUGGED) {
      close();
    }
    return part.completion();
  }

  /// Unplug: queues what is held, in ascending order of offset. Waits where the queue is full.
  @Override
  public void close() {
    held.sort(Comparator.comparingLong(Request.Part::offset));
    queue.submitAll(held);
    held.clear();
  }
}
