package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.PointerShape;
import dev.extant.journal.Handle;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;

/// The block map of an inode without EXT4_EXTENTS_FL, as ext2 and ext3 have it: pointers in the
/// inode and in up to three levels of indirect blocks.
///
/// Invariants:
/// 1. An indirect block holds at least one pointer that is not 0, but for the time between two
///    handles of one truncation.
/// 2. Pointers change in the handle that allocates or frees the block, and the inode is stored
///    ([InodeTable#update]) in the same one. `i_blocks` counts data and indirect blocks.
/// 3. Indirect blocks are metadata: they go through the journal and are revoked when they are
///    freed.
final class BlockPointers implements BlockMap {
  /// A new block for each level and one of data, each from a group of its own; the block that gets
  /// the pointer; the new indirect blocks; the inode.
  private static final int ALLOCATE_CREDITS =
      2 * (PointerShape.MAX_DEPTH + 1) + 1 + PointerShape.MAX_DEPTH + 1;

  private final Geometry geometry;
  private final BufferCache buffers;
  private final BlockSource blocks;
  private final InodeTable inodes;
  private final PointerShape shape;
  private final PointerBlocks pointers;
  private final PointerRemoval removal;
  private final PointerRelocation relocation;
  private final long maxSizeBytes;

  /// `hugeFile`: i_blocks has more than 32 bits.
  BlockPointers(
      Geometry geometry,
      boolean hugeFile,
      BufferCache buffers,
      BlockSource blocks,
      InodeTable inodes) {
    this.geometry = geometry;
    this.buffers = buffers;
    this.blocks = blocks;
    this.inodes = inodes;
    this.shape = new PointerShape(geometry.blockSizeBytes());
    this.pointers = new PointerBlocks(geometry, buffers, blocks, shape);
    this.removal = new PointerRemoval(geometry, blocks, shape, pointers);
    this.relocation = new PointerRelocation(buffers, blocks, inodes, shape, pointers);
    this.maxSizeBytes = shape.maxSizeBytes(hugeFile);
  }

  MapRelocation relocation() {
    return relocation;
  }

  @Override
  public long maxSizeBytes(Inode inode) {
    return maxSizeBytes;
  }

  @Override
  public Run lookup(Inode inode, long logical, int maxCount) throws IOException {
    if (logical >= shape.limit()) {
      return new Run(logical, 0, maxCount, false);
    }
    inode.mapLock.readLock().lock();
    try (PointerPath path = pointers.find(inode, logical)) {
      return run(inode, path, logical, maxCount);
    } finally {
      inode.mapLock.readLock().unlock();
    }
  }

  /// The run at the end of the path, which ends with the path's last table at the latest.
  private Run run(Inode inode, PointerPath path, long logical, int maxCount) throws IOException {
    int level = path.reached();
    int index = path.index(level);
    long blockNr = path.last();
    if (blockNr == 0) {
      int end = index;
      while (end < path.size(level)
          && path.pointer(level, end) == 0
          && path.logicalAt(level, end) - logical < maxCount) {
        end++;
      }
      return new Run(
          logical, 0, (int) Math.min(maxCount, path.logicalAt(level, end) - logical), false);
    }
    int count = 1;
    while (count < maxCount
        && index + count < path.size(level)
        && path.pointer(level, index + count) == blockNr + count) {
      count++;
    }
    pointers.check(inode, blockNr, count, "logical block " + logical);
    return new Run(logical, blockNr, count, false);
  }

  @Override
  public int allocateCredits(Inode inode, int count) {
    return ALLOCATE_CREDITS;
  }

  @Override
  public Allocation allocate(Handle handle, Inode inode, long logical, int maxCount)
      throws IOException {
    if (logical >= shape.limit()) {
      throw new FsException(
          Errno.EFBIG,
          "inode " + inode.ino() + ": no file with block pointers has a logical block " + logical);
    }
    checkClusters(inode);
    inode.mapLock.writeLock().lock();
    try (PointerPath path = pointers.find(inode, logical)) {
      if (path.last() != 0) {
        return new Allocation(run(inode, path, logical, maxCount), false);
      }
      return new Allocation(fillHole(handle, inode, path, logical, maxCount), true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  /// Block pointers know nothing of clusters, and Linux makes none where there are some.
  private void checkClusters(Inode inode) throws FsException {
    if (geometry.logBlocksPerCluster() > 0) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          "inode "
              + inode.ino()
              + " has block pointers on a file system with bigalloc, and can only be read");
    }
  }

  private Run fillHole(Handle handle, Inode inode, PointerPath path, long logical, int maxCount)
      throws IOException {
    int missing = path.depth() - path.reached();
    int room = path.size(path.depth()) - path.index(path.depth());
    if (missing == 0) {
      room = run(inode, path, logical, room).count();
    }
    int wanted = (int) Math.min(Math.min(maxCount, room), shape.limit() - logical);
    long goal = goal(inode, path, logical);
    if (!geometry.validDataBlock(goal)) {
      goal = blocks.goalOf(inode, wanted);
    }
    Taken taken = take(handle, goal, missing, wanted);
    attach(handle, path, taken);
    BlockCount.add(inode.raw, missing + taken.data.count(), geometry.blockSizeBytes());
    inodes.update(handle, inode, true);
    return new Run(logical, taken.data.blockNr(), taken.data.count(), false);
  }

  /// Behind the block of the logical block before, or else as near to a neighbour as the logical
  /// blocks are, or behind the block that holds the pointer; else 0.
  private long goal(Inode inode, PointerPath path, long logical) throws IOException {
    if (logical > 0) {
      try (PointerPath before = pointers.find(inode, logical - 1)) {
        if (before.last() != 0) {
          return before.last() + 1;
        }
      }
    }
    int level = path.reached();
    int index = path.index(level);
    for (int i = index - 1; i >= 0; i--) {
      if (path.pointer(level, i) != 0) {
        return path.pointer(level, i) + (path.complete() ? index - i : 0);
      }
    }
    return path.buffer(level) != null ? path.buffer(level).blockNr() + 1 : 0;
  }

  /// New blocks for the missing levels, upper ones first, and for data.
  private record Taken(long[] indirect, BlockSource.Extent data) {}

  private Taken take(Handle handle, long goal, int missing, int wanted) throws IOException {
    long[] indirect = new long[missing];
    int have = 0;
    long from = goal;
    try {
      while (true) {
        BlockSource.Extent got = blocks.allocate(handle, from, missing - have + wanted);
        checkAddressable(handle, got);
        int used = Math.min(missing - have, got.count());
        for (int i = 0; i < used; i++) {
          indirect[have++] = got.blockNr() + i;
        }
        if (got.count() > used) {
          return new Taken(
              indirect, new BlockSource.Extent(got.blockNr() + used, got.count() - used));
        }
        from = got.blockNr() + got.count();
      }
    } catch (FsException e) {
      for (int i = 0; i < have; i++) {
        blocks.free(handle, indirect[i], 1, false);
      }
      throw e;
    }
  }

  private void checkAddressable(Handle handle, BlockSource.Extent got) throws IOException {
    if (got.blockNr() + got.count() > PointerShape.MAX_BLOCKS) {
      blocks.free(handle, got.blockNr(), got.count(), false);
      throw new FsException(
          Errno.ENOSPC, "no free blocks are left in front of block 2^32, for a file with pointers");
    }
  }

  /// Makes the missing indirect blocks, the last one first, and then puts a pointer to the new part
  /// where the path ends.
  private void attach(Handle handle, PointerPath path, Taken taken) throws IOException {
    int level = path.reached();
    if (path.complete()) {
      access(handle, path, level);
      putRun(path, taken.data);
    } else {
      for (int below = path.depth(); below > level; below--) {
        long blockNr = taken.indirect[below - level - 1];
        try (Buffer buffer = buffers.fresh(blockNr)) {
          handle.createAccess(buffer);
          if (below == path.depth()) {
            for (int i = 0; i < taken.data.count(); i++) {
              Le.put32(buffer.data(), 4L * (path.index(below) + i), taken.data.blockNr() + i);
            }
          } else {
            Le.put32(buffer.data(), 4L * path.index(below), taken.indirect[below - level]);
          }
          handle.dirty(buffer);
        }
      }
      access(handle, path, level);
      path.pointer(level, path.index(level), taken.indirect[0]);
    }
    if (path.buffer(level) != null) {
      handle.dirty(path.buffer(level));
    }
  }

  private static void putRun(PointerPath path, BlockSource.Extent data) {
    int level = path.depth();
    int index = path.index(level);
    for (int i = 0; i < data.count(); i++) {
      path.pointer(level, index + i, data.blockNr() + i);
    }
  }

  /// Announces a change of the table of a level. That of i_block goes with the inode.
  static void access(Handle handle, PointerPath path, int level) throws IOException {
    if (path.buffer(level) != null) {
      handle.writeAccess(path.buffer(level));
    }
  }

  @Override
  public boolean punch(
      Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException {
    checkClusters(inode);
    inode.mapLock.writeLock().lock();
    try {
      boolean done = removal.remove(handle, inode, fromLogical, toLogical, metadata);
      inodes.update(handle, inode, true);
      return done;
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }
}
