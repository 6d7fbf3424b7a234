package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Geometry;
import dev.extant.journal.CommitListener;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.BitSet;
import java.util.TreeMap;

/// Free blocks in one bit set. What was freed is free again after the next commit.
final class FakeBlocks implements BlockSource, CommitListener {
  private BufferCache buffers;
  private final BitSet used = new BitSet();
  private final BitSet freed = new BitSet();
  private final TreeMap<Long, BitSet> freedByTid = new TreeMap<>();
  private final int end;
  private final int reserved;
  private int lastStart;

  /// The longest run that is handed out.
  int longestRun = Integer.MAX_VALUE;

  /// Hand out every second block only.
  boolean fragmented;

  /// Blocks that may still be handed out before the disk is "full".
  long allowance = Long.MAX_VALUE;

  FakeBlocks(Geometry geometry, BufferCache buffers, int reserved) {
    this.buffers = buffers;
    this.end = (int) geometry.blocksCount();
    this.reserved = reserved;
    used.set(0, reserved);
  }

  /// The same blocks with another cache over them.
  synchronized FakeBlocks over(BufferCache newBuffers) {
    buffers = newBuffers;
    return this;
  }

  /// Gives back the last blocks that were handed out, of which nobody made use.
  synchronized void release(int count) {
    for (int i = 0; i < count; i++) {
      used.clear(lastStart + i);
    }
  }

  synchronized int usedCount() {
    return used.cardinality() - freed.cardinality();
  }

  synchronized boolean freesPending() {
    return !freed.isEmpty();
  }

  synchronized void take(int blockNr) {
    used.set(blockNr);
  }

  @Override
  public synchronized Extent allocate(Handle handle, long goal, int wanted) throws IOException {
    int start = nextFree((int) goal);
    if (start < 0) {
      start = nextFree(1);
    }
    if (start < 0 || allowance == 0) {
      throw new FsException(Errno.ENOSPC, "no free block");
    }
    int limit = (int) Math.min(Math.min(wanted, longestRun), allowance);
    int count = 0;
    while (count < limit && start + count < end && !used.get(start + count)) {
      used.set(start + count);
      count++;
      if (fragmented) {
        break;
      }
    }
    allowance -= allowance == Long.MAX_VALUE ? 0 : count;
    lastStart = start;
    return new Extent(start, count);
  }

  private int nextFree(int from) {
    int at = used.nextClearBit(from);
    while (fragmented && at % 2 == 1 && at < end) {
      at = used.nextClearBit(at + 1);
    }
    return at < end ? at : -1;
  }

  @Override
  public synchronized void free(Handle handle, long blockNr, int count, boolean metadata)
      throws IOException {
    for (int i = 0; i < count; i++) {
      int at = (int) blockNr + i;
      if (!used.get(at) || freed.get(at)) {
        throw new FsException(Errno.EUCLEAN, "block " + at + " is free already");
      }
      freed.set(at);
      freedByTid.computeIfAbsent(handle.tid(), tid -> new BitSet()).set(at);
      if (metadata) {
        try (Buffer buffer = buffers.peek(at)) {
          handle.forget(at, buffer);
        }
      }
    }
  }

  @Override
  public boolean ownedBySystem(long blockNr, int count) {
    return blockNr < reserved;
  }

  @Override
  public long goalOf(Inode inode) {
    return 100;
  }

  @Override
  public synchronized void committed(long tid) {
    for (BitSet durable : freedByTid.headMap(tid, true).values()) {
      used.andNot(durable);
      freed.andNot(durable);
      allowance = allowance == Long.MAX_VALUE ? allowance : allowance + durable.cardinality();
    }
    freedByTid.headMap(tid, true).clear();
  }
}
