package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.journal.CommitListener;
import dev.extant.journal.Handle;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/// Takes free blocks from the groups' bitmaps and gives them back, in clusters: those of one block
/// or, with bigalloc, more. Searches and `pendingFrees` count in clusters.
///
/// A search goes from the goal's group through its flex group and then through the groups behind,
/// and looks at a bounded number of bitmaps for a run of the wanted length before it takes the
/// longest seen; only when that gives nothing does it look at every group that has free blocks.
///
/// Invariants, per group under its lock:
/// 1. The descriptor's free count is the number of clear bits in the bitmap (checked when it is
///    read).
/// 2. A block in `pendingFrees` is clear in the bitmap and is not handed out (I4). It is let go
///    lazily, by the next search in its group after the transaction became durable.
/// 3. `longestFreeRun` is never too small.
final class BlockAllocator implements BlockSource, CommitListener {
  /// How many groups are searched for a run of the full length.
  private static final int MAX_GROUPS_SEARCHED = 16;

  /// A file whose first run is no longer than this is small.
  private static final int SMALL_CLUSTERS = 16;

  /// Start points for the larger files of a group.
  private static final int COLOURS = 16;

  private final BufferCache buffers;
  private final GroupTable table;
  private final SystemZone systemZone;
  private final BlockBitmaps bitmaps;
  private final Geometry geometry;

  /// So many free blocks are left alone.
  private final long reserveBlocks;

  /// Held while blocks are taken, if there is a reserve, so that all together leave it alone.
  private final ReentrantLock reserveLock = new ReentrantLock();

  /// Is told what is freed, under the group's lock, and what became durable.
  interface FreeListener {
    void freed(int group, int start, int count, long tid);

    void durable(long tid);
  }

  /// Null where nobody wants to know.
  private volatile FreeListener freeListener;

  /// No block from this one on is handed out.
  private volatile long limit = Long.MAX_VALUE;

  private final Queue<BlockGroup> groupsToSweep = new ConcurrentLinkedQueue<>();
  private final AtomicLong newestFreeTid = new AtomicLong();
  private volatile long durableTid;

  /// `reserveBlocks` are never handed out; 0 for who may use what is reserved for root. The mount
  /// adds this as a commit listener to its journal.
  BlockAllocator(
      BufferCache buffers,
      GroupTable table,
      Checksums checksums,
      CorruptionHandler corruption,
      long reserveBlocks) {
    this.buffers = buffers;
    this.table = table;
    this.geometry = table.geometry();
    this.systemZone = new SystemZone(table);
    this.bitmaps = new BlockBitmaps(buffers, table, systemZone, checksums, corruption);
    this.reserveBlocks = reserveBlocks;
  }

  /// From now on no block at or behind `newLimit`, which is the start of a cluster, is handed out.
  void limit(long newLimit) {
    limit = newLimit;
  }

  /// The blocks of the file system itself moved.
  void systemBlocksMoved() {
    systemZone.reset();
  }

  /// Where to search for blocks, and how many, in clusters.
  private record Search(long goal, int goalGroup, int goalIndex, int wanted) {}

  /// The best run seen by a search that was not content with it.
  private static final class Best {
    int group = -1;
    int count;

    void offer(int candidate, int candidateCount) {
      if (candidateCount > count) {
        group = candidate;
        count = candidateCount;
      }
    }
  }

  /// See [BlockSource#allocate]. After an ENOSPC ask [#freesPending] whether waiting for a commit
  /// helps; here nobody can wait, since the caller has a handle.
  @Override
  public Extent allocate(Handle handle, long goal, int wanted) throws IOException {
    if (wanted < 1) {
      throw new IllegalArgumentException("allocation of " + wanted + " blocks");
    }
    if (reserveBlocks == 0) {
      return find(handle, goal, wanted);
    }
    reserveLock.lock();
    try {
      return find(handle, goal, (int) Math.min(wanted, roomBesideReserve()));
    } finally {
      reserveLock.unlock();
    }
  }

  private long roomBesideReserve() throws IOException {
    long room = table.totalFreeBlocks() - reserveBlocks;
    if (room < geometry.blocksPerCluster()) {
      throw new FsException(Errno.ENOSPC, "the free blocks left are reserved for root");
    }
    return room - room % geometry.blocksPerCluster();
  }

  private Extent find(Handle handle, long goal, int wanted) throws IOException {
    long from = geometry.validDataBlock(goal) ? goal : geometry.firstDataBlock();
    Search search =
        new Search(
            from,
            geometry.groupOfBlock(from),
            geometry.clusterInGroup(from),
            Math.min(geometry.clusters(wanted), geometry.clustersPerGroup()));
    Extent extent = searchNear(handle, search);
    if (extent == null) {
      extent = searchAll(handle, search);
    }
    if (extent == null) {
      throw new FsException(Errno.ENOSPC, "no free blocks are left on the file system");
    }
    return extent.count() <= wanted ? extent : new Extent(extent.blockNr(), wanted);
  }

  private Extent searchNear(Handle handle, Search search) throws IOException {
    Best best = new Best();
    int groupsLeft = MAX_GROUPS_SEARCHED;
    for (int i = 0; i < geometry.groupCount() && groupsLeft > 0; i++) {
      int group = groupInOrder(search.goalGroup, i);
      if (hasFreeClusters(group)) {
        groupsLeft--;
        Extent extent = searchGroup(handle, group, search, search.wanted, best);
        if (extent != null) {
          return extent;
        }
      }
    }
    return best.count == 0 ? null : searchGroup(handle, best.group, search, 1, best);
  }

  private Extent searchAll(Handle handle, Search search) throws IOException {
    Best best = new Best();
    for (int i = 0; i < geometry.groupCount(); i++) {
      int group = groupInOrder(search.goalGroup, i);
      if (hasFreeClusters(group)) {
        Extent extent = searchGroup(handle, group, search, 1, best);
        if (extent != null) {
          return extent;
        }
      }
    }
    return null;
  }

  private boolean hasFreeClusters(int group) throws IOException {
    return !table.damaged(group)
        && table.freeClusters(group) > 0
        && geometry.firstBlockOfGroup(group) < limit;
  }

  /// The groups of the first one's flex group come first, then those behind it.
  private int groupInOrder(int first, int step) {
    int groups = geometry.groupCount();
    int shift = Math.min(geometry.logGroupsPerFlex(), 30);
    int flexStart = first >>> shift << shift;
    int flexEnd = (int) Math.min((long) flexStart + (1L << shift), groups);
    int flexSize = flexEnd - flexStart;
    if (step < flexSize) {
      return flexStart + (first - flexStart + step) % flexSize;
    }
    return (int) (((long) flexEnd + step - flexSize) % groups);
  }

  /// Takes a run from the group: the goal itself if it is free, else one of at least `least`
  /// clusters. Null if there is none; what there is, is offered to `best` then.
  private Extent searchGroup(Handle handle, int number, Search search, int least, Best best)
      throws IOException {
    BlockGroup group = table.group(number);
    group.lock.lock();
    try {
      if (group.blockBitmapDamaged || !hasFreeClusters(number)) {
        return null;
      }
      releasePendingFrees(group);
      boolean goalGroup = number == search.goalGroup;
      if (group.longestFreeRun < least && !goalGroup) {
        best.offer(number, group.longestFreeRun);
        return null;
      }
      return searchBitmap(handle, group, search, least, best);
    } finally {
      group.lock.unlock();
    }
  }

  private Extent searchBitmap(Handle handle, BlockGroup group, Search search, int least, Best best)
      throws IOException {
    try (BlockBitmaps.View bitmap = bitmaps.open(group)) {
      MemorySegment held = group.pendingFrees == null ? null : group.pendingFrees.held();
      int clusters = clustersBelowLimit(group.number);
      FreeRuns runs = new FreeRuns(bitmap.bits(), held, clusters);
      FreeRuns.Run run = FreeRuns.Run.NONE;
      if (group.number == search.goalGroup && search.goalIndex < clusters) {
        run = runs.at(search.goalIndex, search.wanted);
      }
      if (run.count() == 0) {
        run = runs.find(search.goalIndex, search.wanted);
        if (run.longest()) {
          group.longestFreeRun = run.count();
        }
        if (run.count() < least) {
          best.offer(group.number, run.count());
          return null;
        }
      }
      take(handle, group, bitmap, run);
      if (search.wanted <= SMALL_CLUSTERS && search.goalIndex == group.packedGoal) {
        group.packedGoal = (run.start() + run.count()) % clusters;
      }
      return extent(group.number, run);
    } catch (FsException e) {
      if (group.blockBitmapDamaged) {
        return null;
      }
      throw e;
    }
  }

  private int clustersBelowLimit(int group) {
    long below = limit - geometry.firstBlockOfGroup(group);
    return geometry.clusters((int) Math.min(below, geometry.blocksInGroup(group)));
  }

  /// Writes the group's bitmap if that was never done, so that blocks of the file system itself can
  /// leave the group. Needs 2 credits.
  void initialise(Handle handle, int number) throws IOException {
    BlockGroup group = table.group(number);
    group.lock.lock();
    try (BlockBitmaps.View bitmap = bitmaps.open(group)) {
      if (!bitmap.initialised()) {
        take(handle, group, bitmap, FreeRuns.Run.NONE);
      }
    } finally {
      group.lock.unlock();
    }
  }

  /// The blocks of the run; of the file system's last cluster some may be missing.
  private Extent extent(int group, FreeRuns.Run run) {
    int shift = geometry.logBlocksPerCluster();
    int start = run.start() << shift;
    int end = Math.min(run.start() + run.count() << shift, geometry.blocksInGroup(group));
    return new Extent(geometry.firstBlockOfGroup(group) + start, end - start);
  }

  private void take(Handle handle, BlockGroup group, BlockBitmaps.View bitmap, FreeRuns.Run run)
      throws IOException {
    if (bitmap.initialised()) {
      handle.writeAccess(bitmap.buffer());
      takeBits(handle, group, bitmap.buffer(), table.announce(handle, group), run);
      return;
    }
    try (Buffer fresh = buffers.fresh(table.blockBitmap(group.number))) {
      handle.createAccess(fresh);
      MemorySegment descriptor = table.announce(handle, group);
      fresh.data().copyFrom(bitmap.bits());
      GroupDescriptor.flags(
          descriptor, GroupDescriptor.flags(descriptor) & ~GroupDescriptor.BLOCK_UNINIT);
      takeBits(handle, group, fresh, descriptor, run);
    }
  }

  private void takeBits(
      Handle handle, BlockGroup group, Buffer buffer, MemorySegment descriptor, FreeRuns.Run run)
      throws IOException {
    Bits.setRange(buffer.data(), run.start(), run.start() + run.count());
    table.addFreeClusters(group, descriptor, -run.count());
    handle.dirty(buffer, group.blockBitmapSealer);
    table.edited(handle, group);
  }

  private void releasePendingFrees(BlockGroup group) {
    PendingFrees pending = group.pendingFrees;
    if (pending != null && pending.release(durableTid)) {
      group.longestFreeRun = BlockGroup.UNKNOWN;
      if (pending.isEmpty()) {
        group.pendingFrees = null;
      }
    }
  }

  /// Lets go of some pending frees that nobody has asked for, so that their memory stays bounded by
  /// what one transaction can free.
  private void sweepPendingFrees() {
    for (int i = 0; i < 2; i++) {
      BlockGroup group = groupsToSweep.poll();
      if (group == null) {
        return;
      }
      group.lock.lock();
      try {
        releasePendingFrees(group);
        group.awaitsSweep = group.pendingFrees != null;
        if (group.awaitsSweep) {
          groupsToSweep.add(group);
        }
      } finally {
        group.lock.unlock();
      }
    }
  }

  @Override
  public void free(Handle handle, long blockNr, int count, boolean metadata) throws IOException {
    if (count < 1
        || !geometry.validDataBlock(blockNr)
        || count > geometry.blocksCount() - blockNr) {
      throw badFree(blockNr, count, "they lie outside the file system");
    }
    long at = blockNr - (blockNr - geometry.firstDataBlock()) % geometry.blocksPerCluster();
    long end = blockNr + count;
    if (systemZone.overlaps(at, end - at)) {
      throw badFree(blockNr, count, "some belong to the file system itself");
    }
    while (at < end) {
      int number = geometry.groupOfBlock(at);
      long endHere = Math.min(end, geometry.firstBlockOfGroup(number + 1));
      int start = geometry.clusterInGroup(at);
      int clusters = geometry.clusterInGroup(endHere - 1) - start + 1;
      freeInGroup(handle, table.group(number), start, clusters);
      at = endHere;
    }
    sweepPendingFrees();
    if (metadata) {
      forget(handle, blockNr, count);
    }
  }

  private void freeInGroup(Handle handle, BlockGroup group, int start, int count)
      throws IOException {
    group.lock.lock();
    try {
      long blockNr =
          geometry.firstBlockOfGroup(group.number)
              + ((long) start << geometry.logBlocksPerCluster());
      try (BlockBitmaps.View bitmap = bitmaps.open(group)) {
        Buffer buffer = bitmap.buffer();
        if (!bitmap.initialised()) {
          throw badFree(blockNr, count, "they are free already");
        }
        if (Bits.nextClear(buffer.data(), start, start + count) < start + count) {
          throw badFree(blockNr, count, "some are free already");
        }
        handle.writeAccess(buffer);
        MemorySegment descriptor = table.announce(handle, group);
        Bits.clearRange(buffer.data(), start, start + count);
        table.addFreeClusters(group, descriptor, count);
        hold(group, start, count, handle.tid());
        handle.dirty(buffer, group.blockBitmapSealer);
        table.edited(handle, group);
      }
    } finally {
      group.lock.unlock();
    }
  }

  private void hold(BlockGroup group, int start, int count, long tid) {
    releasePendingFrees(group);
    if (group.pendingFrees == null) {
      group.pendingFrees = new PendingFrees(geometry.blockSizeBytes());
    }
    group.pendingFrees.add(start, count, tid);
    if (!group.awaitsSweep) {
      group.awaitsSweep = true;
      groupsToSweep.add(group);
    }
    newestFreeTid.accumulateAndGet(tid, Math::max);
    FreeListener listener = freeListener;
    if (listener != null) {
      listener.freed(group.number, start, count, tid);
    }
  }

  @Override
  public void forget(Handle handle, long blockNr, int count) throws IOException {
    for (long nr = blockNr; nr < blockNr + count; nr++) {
      try (Buffer buffer = buffers.peek(nr)) {
        handle.forget(nr, buffer);
      }
    }
  }

  private static FsException badFree(long blockNr, int count, String why) {
    return new FsException(
        Errno.EUCLEAN,
        "blocks " + blockNr + " to " + (blockNr + count - 1) + " cannot be freed: " + why);
  }

  /// After an ENOSPC: true if a commit gives freed blocks back to the allocator. The caller closes
  /// its handle, waits for [dev.extant.journal.Journal#commitRunning], and tries once more.
  boolean freesPending() {
    return newestFreeTid.get() > durableTid;
  }

  @Override
  public void committed(long tid) {
    durableTid = tid;
    FreeListener listener = freeListener;
    if (listener != null) {
      listener.durable(tid);
    }
  }

  void freeListener(FreeListener listener) {
    freeListener = listener;
  }

  /// Blocks that are free for good, as long as the group's lock is held.
  interface FreeVisitor {
    void visit(long blockNr, int count) throws IOException;
  }

  /// Visits the first run of at least `least` free clusters of a group in `[start, end)` of which
  /// none waits for the transaction that freed it, and which nobody is given meanwhile. Returns
  /// where to go on, `end` if nothing is left.
  int visitFree(int number, int start, int end, int least, FreeVisitor visitor) throws IOException {
    if (table.damaged(number) || table.freeClusters(number) == 0) {
      return end;
    }
    BlockGroup group = table.group(number);
    group.lock.lock();
    try {
      if (group.blockBitmapDamaged) {
        return end;
      }
      releasePendingFrees(group);
      try (BlockBitmaps.View bitmap = bitmaps.open(group)) {
        MemorySegment held = group.pendingFrees == null ? null : group.pendingFrees.held();
        FreeRuns runs = new FreeRuns(bitmap.bits(), held, end);
        int from = runs.nextClear(start);
        int to = runs.nextSet(from);
        while (from < end && to - from < least) {
          from = runs.nextClear(to);
          to = runs.nextSet(from);
        }
        if (from < end) {
          Extent extent = extent(number, new FreeRuns.Run(from, to - from, false));
          visitor.visit(extent.blockNr(), extent.count());
        }
        return to;
      }
    } finally {
      group.lock.unlock();
    }
  }

  @Override
  public boolean ownedBySystem(long blockNr, int count) throws IOException {
    return systemZone.overlaps(blockNr, count);
  }

  @Override
  public long goalOf(Inode inode) {
    int group = geometry.groupOfInode(inode.ino());
    long colour = inode.ino() % COLOURS;
    return geometry.firstBlockOfGroup(group) + colour * geometry.blocksInGroup(group) / COLOURS;
  }

  @Override
  public long goalOf(Inode inode, int wanted) {
    if (geometry.clusters(wanted) > SMALL_CLUSTERS) {
      return goalOf(inode);
    }
    int group = geometry.groupOfInode(inode.ino());
    long packed = (long) table.group(group).packedGoal << geometry.logBlocksPerCluster();
    return geometry.firstBlockOfGroup(group) + packed;
  }
}
