package dev.extant.ext4;

import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The block map of an inode with EXT4_EXTENTS_FL: a tree of extents, whose root is in the inode.
///
/// Every method that changes the tree stores the inode ([InodeTable#update]) in the same handle.
/// `i_blocks` counts data and tree.
final class ExtentTree implements BlockMap {
  private final Geometry geometry;
  private final BlockSource blocks;
  private final Clusters clusters;
  private final InodeTable inodes;
  private final ExtentNodes nodes;
  private final ExtentEditor editor;
  private final ExtentCuts cuts;
  private final ExtentRanges ranges;
  private final ExtentRelocation relocation;

  ExtentTree(
      Geometry geometry,
      BufferCache buffers,
      Checksums checksums,
      BlockSource blocks,
      InodeTable inodes) {
    this.geometry = geometry;
    this.blocks = blocks;
    this.clusters = new Clusters(geometry, blocks);
    this.inodes = inodes;
    this.nodes = new ExtentNodes(geometry, buffers, checksums);
    this.editor = new ExtentEditor(geometry, buffers, blocks, nodes);
    this.cuts = new ExtentCuts(nodes, editor);
    this.ranges = new ExtentRanges(geometry, clusters, inodes, nodes, editor, cuts);
    this.relocation = new ExtentRelocation(buffers, blocks, inodes, nodes, editor);
  }

  MapRelocation relocation() {
    return relocation;
  }

  /// What extents can that other block maps cannot.
  ExtentRanges ranges() {
    return ranges;
  }

  /// Gives a new inode an empty extent tree.
  static void initialise(MemorySegment raw) {
    MemorySegment root = ExtentNodes.root(raw);
    root.fill((byte) 0);
    ExtentHeader.initialise(root, 0);
    RawInode.flags(raw, RawInode.flags(raw) | RawInode.EXT4_EXTENTS_FL);
  }

  /// Logical block numbers have 32 bits, and the last one is not used.
  @Override
  public long maxSizeBytes(Inode inode) {
    return (ExtentNodes.MAX_LOGICAL_BLOCKS - 1) * geometry.blockSizeBytes();
  }

  @Override
  public Run lookup(Inode inode, long logical, int maxCount) throws IOException {
    if (logical >= ExtentNodes.MAX_LOGICAL_BLOCKS) {
      return new Run(logical, 0, maxCount, false);
    }
    inode.mapLock.readLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      MemorySegment leaf = path.leaf();
      int position = path.position(0);
      if (position >= 0 && logical < Extent.end(leaf, position)) {
        nodes.checkExtent(inode, path.blockNr(0), leaf, position);
        return path.run(logical, maxCount);
      }
      return new Run(logical, 0, (int) Math.min(maxCount, path.endOfHole() - logical), false);
    } finally {
      inode.mapLock.readLock().unlock();
    }
  }

  @Override
  public Run lookupForWrite(Inode inode, long logical, int maxCount) throws IOException {
    Run run = lookup(inode, logical, maxCount);
    checkOwner(inode, run);
    return run;
  }

  private void checkOwner(Inode inode, Run run) throws IOException {
    if (!run.hole() && blocks.ownedBySystem(run.blockNr(), run.count())) {
      throw new FsException(
          Errno.EUCLEAN,
          "inode "
              + inode.ino()
              + ": blocks from "
              + run.blockNr()
              + " on, at logical block "
              + run.logical()
              + ", belong to the file system itself");
    }
  }

  /// An extent and its tree: each level's node, a new node (with bitmap and descriptor) for each
  /// and one above, the data's bitmap and descriptor, the inode.
  @Override
  public int allocateCredits(Inode inode, int count) {
    int depth = Math.min(ExtentHeader.depth(ExtentNodes.root(inode.raw)), ExtentHeader.MAX_DEPTH);
    return depth + 3 * (depth + 1) + 2 + 1;
  }

  @Override
  public Allocation allocate(Handle handle, Inode inode, long logical, int maxCount)
      throws IOException {
    checkLogical(inode, logical);
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      Run run = existing(inode, path, logical, maxCount);
      if (run == null) {
        return new Allocation(fillHole(handle, inode, path, logical, maxCount, false), true);
      }
      if (!run.unwritten()) {
        return new Allocation(run, false);
      }
      try {
        cuts.convert(handle, inode, path, run);
      } finally {
        inodes.update(handle, inode, true);
      }
      return new Allocation(new Run(logical, run.blockNr(), run.count(), false), true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  /// Makes blocks from `logical` on be allocated, whether written or not (up to `maxCount`, at
  /// least 1): returns an existing run as it is, or allocates an unwritten one. ENOSPC when the
  /// disk is full.
  Run allocateUnwritten(Handle handle, Inode inode, long logical, int maxCount) throws IOException {
    checkLogical(inode, logical);
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      Run run = existing(inode, path, logical, maxCount);
      return run != null ? run : fillHole(handle, inode, path, logical, maxCount, true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  private static void checkLogical(Inode inode, long logical) throws FsException {
    if (logical + 1 >= ExtentNodes.MAX_LOGICAL_BLOCKS) {
      throw new FsException(
          Errno.EFBIG, "inode " + inode.ino() + ": no file has a logical block " + logical);
    }
  }

  /// The run at `logical` for somebody who will write to it, null if a hole is there.
  private Run existing(Inode inode, ExtentPath path, long logical, int maxCount)
      throws IOException {
    int position = path.position(0);
    if (position < 0 || logical >= Extent.end(path.leaf(), position)) {
      return null;
    }
    nodes.checkExtent(inode, path.blockNr(0), path.leaf(), position);
    Run run = path.run(logical, maxCount);
    checkOwner(inode, run);
    return run;
  }

  private Run fillHole(
      Handle handle, Inode inode, ExtentPath path, long logical, int maxCount, boolean unwritten)
      throws IOException {
    long end = Math.min(path.endOfHole(), ExtentNodes.MAX_LOGICAL_BLOCKS - 1);
    int most = Math.min(maxCount, Extent.maxCount(unwritten));
    int wanted = (int) Math.min(most, end - logical);
    long goal = goal(inode, path, logical, wanted);
    Clusters.Place got = clusters.allocate(handle, mapped(inode), goal, logical, wanted);
    try {
      editor.insert(handle, inode, path, logical, got.blockNr(), got.count(), unwritten);
    } catch (FsException e) {
      clusters.undo(handle, logical, got);
      throw e;
    }
    BlockCount.add(inode.raw, got.newBlocks(), geometry.blockSizeBytes());
    inodes.update(handle, inode, true);
    return new Run(logical, got.blockNr(), got.count(), unwritten);
  }

  private Clusters.Mapped mapped(Inode inode) {
    return (fromLogical, endLogical) -> nodes.firstRun(inode, fromLogical, endLogical);
  }

  /// As far from the nearest extent as the logical block is from its logical block.
  private long goal(Inode inode, ExtentPath path, long logical, int wanted) {
    MemorySegment leaf = path.leaf();
    if (ExtentHeader.entries(leaf) > 0) {
      int nearest = Math.max(path.position(0), 0);
      long goal = Extent.blockNr(leaf, nearest) + logical - Extent.logical(leaf, nearest);
      if (geometry.validDataBlock(goal)) {
        return goal;
      }
    }
    return blocks.goalOf(inode, wanted);
  }

  /// Adds an extent of blocks the caller owns, for a range that is a hole.
  void insert(Handle handle, Inode inode, long logical, long blockNr, int count, boolean unwritten)
      throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      editor.insert(handle, inode, path, logical, blockNr, count, unwritten);
      BlockCount.add(inode.raw, count, geometry.blockSizeBytes());
      inodes.update(handle, inode, true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  @Override
  public boolean punch(
      Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException {
    return ranges.punch(handle, inode, fromLogical, toLogical, metadata);
  }
}
