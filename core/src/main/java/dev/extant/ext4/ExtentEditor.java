package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.Geometry;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Changes the nodes of an extent tree within one handle: adds extents (with split and growth),
/// takes entries and nodes away, and keeps each parent's key equal to its child's first key.
///
/// A change either happens whole or, when there is no block for a new node, not at all: the blocks
/// it needs are taken before the first byte changes. The caller holds `mapLock` for writing.
final class ExtentEditor {
  private final Geometry geometry;
  private final BufferCache buffers;
  private final BlockSource blocks;
  private final ExtentNodes nodes;

  ExtentEditor(Geometry geometry, BufferCache buffers, BlockSource blocks, ExtentNodes nodes) {
    this.geometry = geometry;
    this.buffers = buffers;
    this.blocks = blocks;
    this.nodes = nodes;
  }

  /// Adds an extent behind the path's position in the leaf, merging it with its neighbours there.
  void insert(
      Handle handle,
      Inode inode,
      ExtentPath path,
      long logical,
      long blockNr,
      int count,
      boolean unwritten)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    if (position >= 0 && follows(leaf, position, logical, blockNr, count, unwritten)) {
      access(handle, path, 0);
      Extent.count(leaf, position, Extent.count(leaf, position) + count, unwritten);
      mergeWithNext(leaf, position);
      dirty(handle, inode, path, 0);
      return;
    }
    int next = position + 1;
    if (next < ExtentHeader.entries(leaf)
        && precedes(leaf, next, logical, blockNr, count, unwritten)) {
      access(handle, path, 0);
      int total = count + Extent.count(leaf, next);
      ExtentHeader.put(leaf, next, logical, Extent.body(blockNr, total, unwritten));
      dirty(handle, inode, path, 0);
      if (next == 0) {
        firstKey(handle, inode, path, 0, logical);
      }
      return;
    }
    insertApart(handle, inode, path, logical, Extent.body(blockNr, count, unwritten));
  }

  /// Adds an extent behind the path's position in the leaf as an entry of its own.
  void insertApart(Handle handle, Inode inode, ExtentPath path, long logical, long body)
      throws IOException {
    int position = path.position(0) + 1;
    Spares spares = takeSpares(handle, inode, path);
    if (position == 0) {
      firstKey(handle, inode, path, 0, logical);
    }
    add(new Change(handle, inode, path, spares), 0, position, logical, body);
  }

  private static boolean follows(
      MemorySegment leaf, int index, long logical, long blockNr, int count, boolean unwritten) {
    return Extent.unwritten(leaf, index) == unwritten
        && Extent.end(leaf, index) == logical
        && Extent.blockNr(leaf, index) + Extent.count(leaf, index) == blockNr
        && Extent.count(leaf, index) + count <= Extent.maxCount(unwritten);
  }

  private static boolean precedes(
      MemorySegment leaf, int index, long logical, long blockNr, int count, boolean unwritten) {
    return Extent.unwritten(leaf, index) == unwritten
        && logical + count == Extent.logical(leaf, index)
        && blockNr + count == Extent.blockNr(leaf, index)
        && Extent.count(leaf, index) + count <= Extent.maxCount(unwritten);
  }

  /// Joins extent `index` of a leaf and the one behind it if they are one run.
  static void mergeWithNext(MemorySegment leaf, int index) {
    if (index + 1 >= ExtentHeader.entries(leaf)) {
      return;
    }
    boolean unwritten = Extent.unwritten(leaf, index);
    int nextCount = Extent.count(leaf, index + 1);
    if (unwritten == Extent.unwritten(leaf, index + 1)
        && follows(
            leaf,
            index,
            Extent.logical(leaf, index + 1),
            Extent.blockNr(leaf, index + 1),
            nextCount,
            unwritten)) {
      Extent.count(leaf, index, Extent.count(leaf, index) + nextCount, unwritten);
      ExtentHeader.remove(leaf, index + 1);
    }
  }

  /// Announces a change of the node at `height`.
  void access(Handle handle, ExtentPath path, int height) throws IOException {
    Buffer buffer = path.buffer(height);
    if (buffer != null) {
      handle.writeAccess(buffer);
    }
  }

  /// The announced change was made. The root goes with the inode, which the caller stores.
  void dirty(Handle handle, Inode inode, ExtentPath path, int height) throws IOException {
    Buffer buffer = path.buffer(height);
    if (buffer != null) {
      handle.dirty(buffer, nodes.sealer(inode));
    }
  }

  /// The first key of the node at `height` became another: tells the parents.
  void keyChanged(Handle handle, Inode inode, ExtentPath path, int height) throws IOException {
    firstKey(handle, inode, path, height, ExtentHeader.logical(path.node(height), 0));
  }

  /// The first key of the node at `height` becomes `logical`: tells the parents.
  private void firstKey(Handle handle, Inode inode, ExtentPath path, int height, long logical)
      throws IOException {
    for (int above = height + 1; above <= path.depth(); above++) {
      int position = path.position(above);
      if (ExtentHeader.logical(path.node(above), position) == logical) {
        return;
      }
      access(handle, path, above);
      ExtentHeader.logical(path.node(above), position, logical);
      dirty(handle, inode, path, above);
      if (position > 0) {
        return;
      }
    }
  }

  /// Blocks for the nodes that one more entry in the leaf needs.
  private static final class Spares {
    final long[] blockNrs = new long[ExtentHeader.MAX_DEPTH + 1];
    int count;

    long take() {
      return blockNrs[--count];
    }
  }

  /// One insertion on its way up the tree.
  private record Change(Handle handle, Inode inode, ExtentPath path, Spares spares) {}

  private Spares takeSpares(Handle handle, Inode inode, ExtentPath path) throws IOException {
    int needed = 0;
    while (needed <= path.depth()) {
      MemorySegment node = path.node(needed);
      if (ExtentHeader.entries(node) < ExtentHeader.max(node)) {
        break;
      }
      needed++;
    }
    if (needed == ExtentHeader.MAX_DEPTH + 1) {
      throw new FsException(
          Errno.EFBIG, "inode " + inode.ino() + ": the extent tree has its greatest depth");
    }
    Spares spares = new Spares();
    try {
      while (spares.count < needed) {
        spares.blockNrs[spares.count] = blocks.allocate(handle, blocks.goalOf(inode), 1).blockNr();
        spares.count++;
      }
    } catch (FsException e) {
      for (int i = 0; i < spares.count; i++) {
        blocks.free(handle, spares.blockNrs[i], 1, true);
      }
      throw e;
    }
    countNodes(inode, needed);
    return spares;
  }

  /// Adds an entry at `position` of the path's node at `height`. There are spares for all splits.
  private void add(Change change, int height, int position, long logical, long body)
      throws IOException {
    ExtentPath path = change.path;
    int at = position;
    if (full(path, height) && height == path.depth()) {
      grow(change, position == 0 ? logical : ExtentHeader.logical(path.node(height), 0));
    }
    if (full(path, height)) {
      at = split(change, height, position, logical);
    }
    access(change.handle, path, height);
    ExtentHeader.insert(path.node(height), at, logical, body);
    path.position(height, at);
    dirty(change.handle, change.inode, path, height);
  }

  private static boolean full(ExtentPath path, int height) {
    MemorySegment node = path.node(height);
    return ExtentHeader.entries(node) >= ExtentHeader.max(node);
  }

  /// Moves the root's entries into a block, which becomes its only child and begins at `key`.
  private void grow(Change change, long key) throws IOException {
    ExtentPath path = change.path;
    int depth = path.depth();
    MemorySegment root = path.node(depth);
    Buffer buffer = newNode(change, depth);
    int entries = ExtentHeader.entries(root);
    ExtentHeader.copyEntries(root, 0, buffer.data(), 0, entries);
    ExtentHeader.entries(buffer.data(), entries);
    ExtentHeader.initialise(root, depth + 1);
    ExtentHeader.insert(root, 0, key, ExtentIndex.body(buffer.blockNr()));
    path.grow(buffer);
    dirty(change.handle, change.inode, path, depth);
  }

  /// Splits the full node at `height` and leaves the half in the path to which an entry at
  /// `position` belongs; returns its position there. Whoever appends gets an empty node, so that a
  /// file written from front to end has full nodes.
  private int split(Change change, int height, int position, long logical) throws IOException {
    ExtentPath path = change.path;
    MemorySegment node = path.node(height);
    int entries = ExtentHeader.entries(node);
    boolean appends = position == entries;
    int keep = appends ? entries : entries / 2;
    long key = appends ? logical : ExtentHeader.logical(node, keep);

    Buffer right = newNode(change, height);
    boolean toRight = appends || position > keep;
    try {
      access(change.handle, path, height);
      ExtentHeader.copyEntries(node, keep, right.data(), 0, entries - keep);
      ExtentHeader.entries(right.data(), entries - keep);
      ExtentHeader.entries(node, keep);
      dirty(change.handle, change.inode, path, height);
      change.handle.dirty(right, nodes.sealer(change.inode));
      add(
          change,
          height + 1,
          path.position(height + 1) + 1,
          key,
          ExtentIndex.body(right.blockNr()));
    } finally {
      if (toRight) {
        path.replace(height, right);
      } else {
        right.close();
      }
    }
    return toRight ? position - keep : position;
  }

  private Buffer newNode(Change change, int depth) throws IOException {
    Buffer buffer = buffers.fresh(change.spares.take());
    try {
      change.handle.createAccess(buffer);
      ExtentHeader.initialise(buffer.data(), depth);
      return buffer;
    } catch (IOException e) {
      buffer.close();
      throw e;
    }
  }

  /// Takes the entry at the path's position out of the leaf, and nodes that become empty out of the
  /// tree.
  void remove(Handle handle, Inode inode, ExtentPath path) throws IOException {
    int height = 0;
    while (height < path.depth() && ExtentHeader.entries(path.node(height)) <= 1) {
      freeNode(handle, inode, path, height);
      height++;
    }
    MemorySegment node = path.node(height);
    access(handle, path, height);
    if (ExtentHeader.entries(node) > 1) {
      ExtentHeader.remove(node, path.position(height));
      if (path.position(height) == 0) {
        keyChanged(handle, inode, path, height);
      }
    } else {
      ExtentHeader.initialise(node, 0);
    }
    dirty(handle, inode, path, height);
  }

  /// While the root has one child whose entries fit into it, the child's entries move up.
  void collapse(Handle handle, Inode inode, ExtentPath path) throws IOException {
    int depth = path.depth();
    MemorySegment root = path.node(depth);
    while (depth > 0 && ExtentHeader.entries(root) == 1) {
      MemorySegment child = path.node(depth - 1);
      int entries = ExtentHeader.entries(child);
      if (entries > ExtentHeader.capacity(root.byteSize())) {
        return;
      }
      ExtentHeader.initialise(root, depth - 1);
      ExtentHeader.copyEntries(child, 0, root, 0, entries);
      ExtentHeader.entries(root, entries);
      freeNode(handle, inode, path, depth - 1);
      depth--;
    }
  }

  private void freeNode(Handle handle, Inode inode, ExtentPath path, int height)
      throws IOException {
    blocks.free(handle, path.blockNr(height), 1, true);
    countNodes(inode, -1);
  }

  /// Each node has a cluster of its own.
  private void countNodes(Inode inode, int nodeCount) {
    long blockCount = (long) nodeCount * geometry.blocksPerCluster();
    BlockCount.add(inode.raw, blockCount, geometry.blockSizeBytes());
  }
}
