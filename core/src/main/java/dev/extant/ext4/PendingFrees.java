package dev.extant.ext4;

import dev.extant.util.Bits;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/// The clusters of one group that were freed by transactions which are not durable yet (I4). On
/// disk they are free already; here they are held back. Guarded by the group's lock.
final class PendingFrees {
  private record Entry(int start, int count, long tid) {}

  /// Oldest transaction first: a transaction gets no more changes once the next one gets its first.
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();

  private final MemorySegment held;

  PendingFrees(int blockSizeBytes) {
    held = MemorySegment.ofArray(new long[blockSizeBytes >>> 3]);
  }

  /// A bitmap of the clusters held back.
  MemorySegment held() {
    return held;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  void add(int start, int count, long tid) {
    entries.add(new Entry(start, count, tid));
    Bits.setRange(held, start, start + count);
  }

  /// Lets go of what transactions up to `durableTid` freed. True if there was any.
  boolean release(long durableTid) {
    boolean any = false;
    for (Entry entry = entries.peek();
        entry != null && entry.tid <= durableTid;
        entry = entries.peek()) {
      Bits.clearRange(held, entry.start, entry.start + entry.count);
      entries.remove();
      any = true;
    }
    return any;
  }
}
