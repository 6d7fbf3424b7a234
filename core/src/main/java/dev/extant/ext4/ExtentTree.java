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
  /// More than a revoke takes in the log, so that those of one piece fit into one block of it.
  private static final int REVOKE_BYTES = 16;

  private final Geometry geometry;
  private final BlockSource blocks;
  private final Clusters clusters;
  private final InodeTable inodes;
  private final ExtentNodes nodes;
  private final ExtentEditor editor;

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
        return run(leaf, position, logical, maxCount);
      }
      return new Run(logical, 0, (int) Math.min(maxCount, holeEnd(path) - logical), false);
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

  private static Run run(MemorySegment leaf, int position, long logical, int maxCount) {
    return new Run(
        logical,
        Extent.blockNr(leaf, position) + logical - Extent.logical(leaf, position),
        (int) Math.min(maxCount, Extent.end(leaf, position) - logical),
        Extent.unwritten(leaf, position));
  }

  /// Where the hole that the path leads to ends.
  private static long holeEnd(ExtentPath path) {
    int next = path.position(0) + 1;
    return next < ExtentHeader.entries(path.leaf())
        ? Extent.logical(path.leaf(), next)
        : path.endOfLeaf();
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
    if (logical + 1 >= ExtentNodes.MAX_LOGICAL_BLOCKS) {
      throw new FsException(
          Errno.EFBIG, "inode " + inode.ino() + ": no file has a logical block " + logical);
    }
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      MemorySegment leaf = path.leaf();
      int position = path.position(0);
      if (position < 0 || logical >= Extent.end(leaf, position)) {
        return new Allocation(fillHole(handle, inode, path, logical, maxCount), true);
      }
      nodes.checkExtent(inode, path.blockNr(0), leaf, position);
      Run run = run(leaf, position, logical, maxCount);
      checkOwner(inode, run);
      if (!run.unwritten()) {
        return new Allocation(run, false);
      }
      convert(handle, inode, path, run);
      inodes.update(handle, inode, true);
      return new Allocation(new Run(logical, run.blockNr(), run.count(), false), true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  private Run fillHole(Handle handle, Inode inode, ExtentPath path, long logical, int maxCount)
      throws IOException {
    long end = Math.min(holeEnd(path), ExtentNodes.MAX_LOGICAL_BLOCKS - 1);
    int wanted = (int) Math.min(Math.min(maxCount, Extent.MAX_COUNT), end - logical);
    long goal = goal(inode, path, logical, wanted);
    Clusters.Place got = clusters.allocate(handle, mapped(inode), goal, logical, wanted);
    try {
      editor.insert(handle, inode, path, logical, got.blockNr(), got.count(), false);
    } catch (FsException e) {
      clusters.undo(handle, logical, got);
      throw e;
    }
    BlockCount.add(inode.raw, got.newBlocks(), geometry.blockSizeBytes());
    inodes.update(handle, inode, true);
    return new Run(logical, got.blockNr(), got.count(), false);
  }

  /// The caller holds `mapLock`.
  private Clusters.Mapped mapped(Inode inode) {
    return (fromLogical, endLogical) -> {
      for (long logical = fromLogical; logical < endLogical; ) {
        try (ExtentPath path = nodes.find(inode, logical)) {
          MemorySegment leaf = path.leaf();
          int position = path.position(0);
          if (position >= 0 && logical < Extent.end(leaf, position)) {
            return run(leaf, position, logical, (int) (endLogical - logical));
          }
          logical = holeEnd(path);
        }
      }
      return null;
    };
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

  /// Makes `run`, a part of the unwritten extent the path leads to, written.
  private void convert(Handle handle, Inode inode, ExtentPath path, Run run) throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    long before = run.logical() - Extent.logical(leaf, position);
    long after = Extent.end(leaf, position) - run.logical() - run.count();
    if (before > 0 && after > 0) {
      cutTail(handle, inode, path, (int) after, true);
      try (ExtentPath again = nodes.find(inode, run.logical())) {
        cutTail(handle, inode, again, run.count(), false);
      }
    } else if (before > 0) {
      cutTail(handle, inode, path, run.count(), false);
    } else if (after > 0) {
      cutHead(handle, inode, path, run.count());
    } else {
      editor.access(handle, path, 0);
      Extent.count(leaf, position, run.count(), false);
      ExtentEditor.mergeWithNext(leaf, position);
      if (position > 0) {
        ExtentEditor.mergeWithNext(leaf, position - 1);
      }
      editor.dirty(handle, inode, path, 0);
    }
  }

  /// Makes the last `count` blocks of the unwritten extent an extent of their own.
  private void cutTail(Handle handle, Inode inode, ExtentPath path, int count, boolean unwritten)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    int whole = Extent.count(leaf, position);
    int rest = whole - count;
    long logical = Extent.logical(leaf, position) + rest;
    long blockNr = Extent.blockNr(leaf, position) + rest;
    editor.access(handle, path, 0);
    Extent.count(leaf, position, rest, true);
    editor.dirty(handle, inode, path, 0);
    try {
      if (unwritten) {
        // It would only merge with the extent it was just cut from.
        editor.insertApart(handle, inode, path, logical, Extent.body(blockNr, count, true));
      } else {
        editor.insert(handle, inode, path, logical, blockNr, count, false);
      }
    } catch (FsException e) {
      Extent.count(leaf, position, whole, true);
      throw e;
    }
  }

  /// Makes the first `count` blocks of the unwritten extent a written one.
  private void cutHead(Handle handle, Inode inode, ExtentPath path, int count) throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    long logical = Extent.logical(leaf, position);
    long blockNr = Extent.blockNr(leaf, position);
    int whole = Extent.count(leaf, position);
    editor.access(handle, path, 0);
    ExtentHeader.put(
        leaf, position, logical + count, Extent.body(blockNr + count, whole - count, true));
    editor.dirty(handle, inode, path, 0);
    path.position(0, position - 1);
    try {
      editor.insert(handle, inode, path, logical, blockNr, count, false);
    } catch (FsException e) {
      ExtentHeader.put(leaf, position, logical, Extent.body(blockNr, whole, true));
      throw e;
    }
  }

  @Override
  public boolean truncate(Handle handle, Inode inode, long fromLogical, boolean metadata)
      throws IOException {
    inode.mapLock.writeLock().lock();
    try {
      Step step = Step.FREED;
      while (step == Step.FREED) {
        step = freeLast(handle, inode, fromLogical, metadata);
      }
      inodes.update(handle, inode, true);
      return step == Step.DONE;
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  private enum Step {
    FREED,
    NO_CREDITS,
    DONE
  }

  /// Frees the last extent, or what of it is behind `fromLogical` and in one group.
  private Step freeLast(Handle handle, Inode inode, long fromLogical, boolean metadata)
      throws IOException {
    try (ExtentPath path = nodes.find(inode, ExtentNodes.MAX_LOGICAL_BLOCKS)) {
      MemorySegment leaf = path.leaf();
      int last = path.position(0);
      boolean nothing = last < 0 || Extent.end(leaf, last) <= fromLogical;
      if (nothing && path.depth() == 0) {
        return Step.DONE;
      }
      // The piece's bitmap and descriptor, its revokes, and for each level a node and what freeing
      // it takes.
      int needed = 4 + 3 * path.depth();
      if (handle.creditsLeft() < needed && !handle.extend(needed)) {
        return nothing && last >= 0 ? Step.DONE : Step.NO_CREDITS;
      }
      if (last < 0) {
        editor.removeLast(handle, inode, path);
        return Step.FREED;
      }
      if (nothing) {
        editor.collapse(handle, inode, path);
        return Step.DONE;
      }
      freePiece(handle, inode, path, fromLogical, metadata);
      return Step.FREED;
    }
  }

  private void freePiece(
      Handle handle, Inode inode, ExtentPath path, long fromLogical, boolean metadata)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int last = path.position(0);
    nodes.checkExtent(inode, path.blockNr(0), leaf, last);
    long first = Extent.blockNr(leaf, last);
    int count = Extent.count(leaf, last);
    int keep = (int) Math.max(0, fromLogical - Extent.logical(leaf, last));
    long groupStart = geometry.firstBlockOfGroup(geometry.groupOfBlock(first + count - 1));
    keep = (int) Math.max(keep, groupStart - first);
    if (metadata) {
      keep = Math.max(keep, count - geometry.blockSizeBytes() / REVOKE_BYTES);
    }
    long logical = Extent.logical(leaf, last) + keep;
    int freed = clusters.free(handle, mapped(inode), logical, first + keep, count - keep, metadata);
    BlockCount.add(inode.raw, -freed, geometry.blockSizeBytes());
    if (keep == 0) {
      editor.removeLast(handle, inode, path);
    } else {
      editor.access(handle, path, 0);
      Extent.count(leaf, last, keep, Extent.unwritten(leaf, last));
      editor.dirty(handle, inode, path, 0);
    }
  }
}
