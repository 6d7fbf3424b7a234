package dev.extant.ext4;

import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.Geometry;
import dev.extant.journal.Handle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// What is done to ranges of extent trees beyond mapping single runs: freeing, making unwritten,
/// and moving them.
///
/// Each method does what one handle can do and leaves a tree that is right in itself, so that a
/// crash between two handles leaves a consistent file. Callers hold the inode's `lock` for writing.
final class ExtentRanges {
  /// More than a revoke takes in the log, so that those of one piece fit into one block of it.
  private static final int REVOKE_BYTES = 16;

  /// There is no more to do.
  static final long DONE = -1;

  /// A node of each level and the inode.
  static final int SHIFT_CREDITS = ExtentHeader.MAX_DEPTH + 1 + FileData.INODE_CREDITS;

  private final Geometry geometry;
  private final Clusters clusters;
  private final InodeTable inodes;
  private final ExtentNodes nodes;
  private final ExtentEditor editor;
  private final ExtentCuts cuts;

  ExtentRanges(
      Geometry geometry,
      Clusters clusters,
      InodeTable inodes,
      ExtentNodes nodes,
      ExtentEditor editor,
      ExtentCuts cuts) {
    this.geometry = geometry;
    this.clusters = clusters;
    this.inodes = inodes;
    this.nodes = nodes;
    this.editor = editor;
    this.cuts = cuts;
  }

  private enum Step {
    FREED,
    NO_CREDITS,
    DONE
  }

  /// See [BlockMap#punch].
  boolean punch(Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException {
    inode.mapLock.writeLock().lock();
    try {
      Step step = Step.FREED;
      while (step == Step.FREED) {
        step = freeLast(handle, inode, fromLogical, toLogical, metadata);
      }
      return step == Step.DONE;
    } finally {
      try {
        inodes.update(handle, inode, true);
      } finally {
        inode.mapLock.writeLock().unlock();
      }
    }
  }

  /// Frees the last extent of the range, or what of it is in the range and in one group; or cuts
  /// off what lies behind the range.
  private Step freeLast(
      Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException {
    try (ExtentPath path = nodes.find(inode, toLogical - 1)) {
      MemorySegment leaf = path.leaf();
      int last = path.position(0);
      boolean empty = ExtentHeader.entries(leaf) == 0;
      boolean nothing = last < 0 || Extent.end(leaf, last) <= fromLogical;
      if (nothing && path.depth() == 0) {
        return Step.DONE;
      }
      boolean cut = !nothing && Extent.end(leaf, last) > toLogical;
      // The piece's bitmap and descriptor, its revokes, and for each level a node and what freeing
      // it, or adding one, takes.
      int needed = 4 + 3 * path.depth() + (cut ? path.depth() + 3 : 0);
      if (handle.creditsLeft() < needed && !handle.extend(needed)) {
        return nothing && !empty ? Step.DONE : Step.NO_CREDITS;
      }
      if (empty) {
        editor.remove(handle, inode, path);
        return Step.FREED;
      }
      if (nothing) {
        editor.collapse(handle, inode, path);
        return Step.DONE;
      }
      nodes.checkExtent(inode, path.blockNr(0), leaf, last);
      if (cut) {
        cuts.split(handle, inode, path, toLogical);
      } else {
        freePiece(handle, inode, path, fromLogical, metadata);
      }
      return Step.FREED;
    }
  }

  private void freePiece(
      Handle handle, Inode inode, ExtentPath path, long fromLogical, boolean metadata)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int last = path.position(0);
    long first = Extent.blockNr(leaf, last);
    int count = Extent.count(leaf, last);
    int keep = (int) Math.max(0, fromLogical - Extent.logical(leaf, last));
    long groupStart = geometry.firstBlockOfGroup(geometry.groupOfBlock(first + count - 1));
    keep = (int) Math.max(keep, groupStart - first);
    if (metadata) {
      keep = Math.max(keep, count - geometry.blockSizeBytes() / REVOKE_BYTES);
    }
    Clusters.Mapped mapped = (from, end) -> nodes.firstRun(inode, from, end);
    long logical = Extent.logical(leaf, last) + keep;
    int freed = clusters.free(handle, mapped, logical, first + keep, count - keep, metadata);
    BlockCount.add(inode.raw, -freed, geometry.blockSizeBytes());
    if (keep == 0) {
      editor.remove(handle, inode, path);
    } else {
      editor.access(handle, path, 0);
      Extent.count(leaf, last, keep, Extent.unwritten(leaf, last));
      editor.dirty(handle, inode, path, 0);
    }
  }

  /// Makes the run that begins at `logical`, up to `maxCount` blocks of it, unwritten if it is
  /// written; returns where it ends. Credits as for an allocation. ENOSPC if the tree needs a
  /// block.
  long makeUnwritten(Handle handle, Inode inode, long logical, int maxCount) throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      MemorySegment leaf = path.leaf();
      int position = path.position(0);
      int most = Math.min(maxCount, Extent.MAX_UNWRITTEN_COUNT);
      if (position < 0 || logical >= Extent.end(leaf, position)) {
        return Math.min(logical + most, path.endOfHole());
      }
      nodes.checkExtent(inode, path.blockNr(0), leaf, position);
      BlockMap.Run run = path.run(logical, most);
      if (!run.unwritten()) {
        cuts.convert(handle, inode, path, run);
      }
      return logical + run.count();
    } finally {
      try {
        inodes.update(handle, inode, true);
      } finally {
        inode.mapLock.writeLock().unlock();
      }
    }
  }

  /// Sees to it that no extent crosses the bound before `logical`. Credits and ENOSPC as for an
  /// allocation.
  void split(Handle handle, Inode inode, long logical) throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      MemorySegment leaf = path.leaf();
      int position = path.position(0);
      if (position >= 0
          && Extent.logical(leaf, position) < logical
          && logical < Extent.end(leaf, position)) {
        nodes.checkExtent(inode, path.blockNr(0), leaf, position);
        cuts.split(handle, inode, path, logical);
      }
    } finally {
      try {
        inodes.update(handle, inode, true);
      } finally {
        inode.mapLock.writeLock().unlock();
      }
    }
  }

  /// The logical block behind the last extent.
  long end(Inode inode) throws IOException {
    inode.mapLock.readLock().lock();
    try (ExtentPath path = nodes.find(inode, ExtentNodes.MAX_LOGICAL_BLOCKS - 1)) {
      int last = path.position(0);
      return last < 0 ? 0 : Extent.end(path.leaf(), last);
    } finally {
      inode.mapLock.readLock().unlock();
    }
  }

  /// Moves the extents at and behind `fromLogical` in the leaf where the first of them is `by`
  /// blocks towards the beginning, where a hole is. Returns where the next leaf begins, or [#DONE].
  long shiftDown(Handle handle, Inode inode, long fromLogical, long by) throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, fromLogical)) {
      int first = firstAtOrBehind(path, fromLogical);
      shift(handle, inode, path, first, -by);
      long next = path.endOfLeaf();
      return next == ExtentNodes.MAX_LOGICAL_BLOCKS ? DONE : next;
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  /// Moves the extents in `[fromLogical, toLogical)`, of the last leaf that has any, `by` blocks
  /// towards the end, where nothing is. Returns what to pass as `toLogical` for the next leaf, or
  /// [#DONE].
  long shiftUp(Handle handle, Inode inode, long fromLogical, long toLogical, long by)
      throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, toLogical - 1)) {
      MemorySegment leaf = path.leaf();
      if (path.position(0) < 0) {
        return DONE;
      }
      long leafStart = ExtentHeader.logical(leaf, 0);
      shift(handle, inode, path, firstAtOrBehind(path, fromLogical), by);
      return leafStart <= fromLogical ? DONE : leafStart;
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  private static int firstAtOrBehind(ExtentPath path, long logical) {
    MemorySegment leaf = path.leaf();
    int at = ExtentNodes.lastAtOrBefore(leaf, logical);
    return at >= 0 && ExtentHeader.logical(leaf, at) == logical ? at : at + 1;
  }

  /// Moves the entries of the leaf from `first` on.
  private void shift(Handle handle, Inode inode, ExtentPath path, int first, long by)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int entries = ExtentHeader.entries(leaf);
    if (first >= entries) {
      return;
    }
    editor.access(handle, path, 0);
    for (int i = first; i < entries; i++) {
      ExtentHeader.logical(leaf, i, ExtentHeader.logical(leaf, i) + by);
    }
    if (first == 0) {
      editor.keyChanged(handle, inode, path, 0);
    } else {
      ExtentEditor.mergeWithNext(leaf, first - 1);
    }
    editor.dirty(handle, inode, path, 0);
    inodes.update(handle, inode, true);
  }
}
