package dev.extant.ext4;

import dev.extant.block.IoThread;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Geometry;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Tells the device which blocks hold nothing any more: all free ones when asked, or, with the
/// mount option `discard`, each that was freed, by a thread of its own.
///
/// A block may only be told once it is free for good: the transaction that freed it is durable, so
/// that no crash brings it back to its file, and nobody gets it while the device is being told.
/// Both are looked at for each run anew, under its group's lock, which is held until the device has
/// answered ([BlockAllocator#visitFree]); whatever was freed and taken again meanwhile is left
/// alone.
final class Discarder implements BlockAllocator.FreeListener, AutoCloseable {
  /// Clusters of a group that transaction `tid` freed.
  private record Freed(int group, int start, int count, long tid) {}

  private final BlockAllocator blocks;
  private final Geometry geometry;
  private final RequestQueue queue;
  private final Health health;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();

  /// Oldest transaction first, but for neighbours. Guarded by `lock`.
  private final ArrayDeque<Freed> freed = new ArrayDeque<>();

  /// Guarded by `lock`.
  private long durableTid;

  /// Guarded by `lock`.
  private boolean stop;

  /// Null where only [#trim] discards.
  private IoThread thread;

  Discarder(BlockAllocator blocks, Geometry geometry, RequestQueue queue, Health health) {
    this.blocks = blocks;
    this.geometry = geometry;
    this.queue = queue;
    this.health = health;
  }

  /// From now on everything that is freed is discarded once that is durable.
  void start(String name) {
    thread = new IoThread("extant-discard-" + name, this::run);
    blocks.freeListener(this);
    thread.start();
  }

  @Override
  public void freed(int group, int start, int count, long tid) {
    lock.lock();
    try {
      freed.add(new Freed(group, start, count, tid));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void durable(long tid) {
    lock.lock();
    try {
      durableTid = tid;
      work.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void run() {
    try {
      for (Freed due = nextDue(); due != null; due = nextDue()) {
        discard(due.group, due.start, due.start + due.count, 1);
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      // Not to be told costs the device space, and nobody anything else; whatever is really wrong
      // with it or with a bitmap, others meet as well.
      forgetAll();
    }
  }

  private void forgetAll() {
    blocks.freeListener(null);
    lock.lock();
    try {
      freed.clear();
    } finally {
      lock.unlock();
    }
  }

  /// Waits for something that was freed by a durable transaction; null at the end.
  private Freed nextDue() throws InterruptedException {
    lock.lock();
    try {
      while (freed.isEmpty() || freed.peek().tid > durableTid) {
        if (stop) {
          return null;
        }
        work.await();
      }
      return health.readOnly() ? null : freed.poll();
    } finally {
      lock.unlock();
    }
  }

  /// Discards all that is free for good, in runs of at least that many bytes; returns how many
  /// bytes.
  long trim(long minBytes) throws IOException {
    long clusterBytes = (long) geometry.blockSizeBytes() << geometry.logBlocksPerCluster();
    long minClusters = Math.max(1, Math.ceilDiv(Math.max(0, minBytes), clusterBytes));
    int least = (int) Math.min(minClusters, Integer.MAX_VALUE);
    long discarded = 0;
    for (int group = 0; group < geometry.groupCount(); group++) {
      discarded += discard(group, 0, geometry.clustersInGroup(group), least);
    }
    return discarded;
  }

  private long discard(int group, int start, int end, int least) throws IOException {
    long discarded = 0;
    for (int at = start; at < end; ) {
      long[] bytes = {0};
      at =
          blocks.visitFree(
              group,
              at,
              end,
              least,
              (blockNr, count) -> {
                bytes[0] = (long) count * geometry.blockSizeBytes();
                queue.discard(blockNr * geometry.blockSizeBytes(), bytes[0]);
              });
      discarded += bytes[0];
    }
    return discarded;
  }

  /// Discards what is due and ends the thread. What a transaction freed that never became durable
  /// is left alone.
  @Override
  public void close() {
    if (thread == null) {
      return;
    }
    lock.lock();
    try {
      stop = true;
      work.signalAll();
    } finally {
      lock.unlock();
    }
    thread.joinUninterruptibly();
  }
}
