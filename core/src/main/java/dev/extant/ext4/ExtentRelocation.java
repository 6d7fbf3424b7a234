package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.journal.Handle;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;

/// [MapRelocation] of extent trees.
final class ExtentRelocation implements MapRelocation {
  private final BufferCache buffers;
  private final BlockSource blocks;
  private final InodeTable inodes;
  private final ExtentNodes nodes;
  private final ExtentEditor editor;

  ExtentRelocation(
      BufferCache buffers,
      BlockSource blocks,
      InodeTable inodes,
      ExtentNodes nodes,
      ExtentEditor editor) {
    this.buffers = buffers;
    this.blocks = blocks;
    this.inodes = inodes;
    this.nodes = nodes;
    this.editor = editor;
  }

  /// The tree may gain an entry, and nodes with it.
  @Override
  public int credits(Inode inode) {
    int depth = Math.min(ExtentHeader.depth(ExtentNodes.root(inode.raw)), ExtentHeader.MAX_DEPTH);
    return depth + 3 * (depth + 1) + 3;
  }

  @Override
  public void remap(Handle handle, Inode inode, BlockMap.Run part, long toBlockNr)
      throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, part.logical())) {
      MemorySegment leaf = path.leaf();
      int position = path.position(0);
      int before = (int) (part.logical() - Extent.logical(leaf, position));
      int whole = Extent.count(leaf, position);
      boolean unwritten = Extent.unwritten(leaf, position);
      if (before + part.count() != whole) {
        throw new IllegalArgumentException("no end of a run: " + part);
      }
      editor.access(handle, path, 0);
      if (before == 0) {
        long body = Extent.body(toBlockNr, whole, unwritten);
        ExtentHeader.put(leaf, position, part.logical(), body);
        ExtentEditor.mergeWithNext(leaf, position);
        if (position > 0) {
          ExtentEditor.mergeWithNext(leaf, position - 1);
        }
      } else {
        Extent.count(leaf, position, before, unwritten);
      }
      editor.dirty(handle, inode, path, 0);
      if (before > 0) {
        try {
          editor.insert(handle, inode, path, part.logical(), toBlockNr, part.count(), unwritten);
        } catch (FsException e) {
          Extent.count(leaf, position, whole, unwritten);
          throw e;
        }
      }
      inodes.update(handle, inode, true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  @Override
  public Set<Long> nodes(Inode inode) throws IOException {
    Set<Long> found = new LinkedHashSet<>();
    inode.mapLock.readLock().lock();
    try {
      for (long logical = 0; logical < ExtentNodes.MAX_LOGICAL_BLOCKS; ) {
        try (ExtentPath path = nodes.find(inode, logical)) {
          for (int height = path.depth() - 1; height >= 0; height--) {
            found.add(path.blockNr(height));
          }
          logical = path.endOfLeaf();
        }
      }
    } finally {
      inode.mapLock.readLock().unlock();
    }
    return found;
  }

  @Override
  public long nextNode(Inode inode, long fromLogical, long limit) throws IOException {
    inode.mapLock.readLock().lock();
    try {
      for (long logical = fromLogical; logical < ExtentNodes.MAX_LOGICAL_BLOCKS; ) {
        try (ExtentPath path = nodes.find(inode, logical)) {
          if (topmost(path, limit) >= 0) {
            return logical;
          }
          logical = path.endOfLeaf();
        }
      }
      return -1;
    } finally {
      inode.mapLock.readLock().unlock();
    }
  }

  /// The greatest height of a node at or behind `limit`, or -1.
  private static int topmost(ExtentPath path, long limit) {
    int height = path.depth() - 1;
    while (height >= 0 && path.blockNr(height) < limit) {
      height--;
    }
    return height;
  }

  @Override
  public void moveNode(Handle handle, Inode inode, long logical, long limit) throws IOException {
    inode.mapLock.writeLock().lock();
    try (ExtentPath path = nodes.find(inode, logical)) {
      int height = topmost(path, limit);
      long oldNr = path.blockNr(height);
      long newNr = blocks.allocate(handle, blocks.goalOf(inode), 1).blockNr();
      try (Buffer moved = buffers.fresh(newNr)) {
        handle.createAccess(moved);
        moved.data().copyFrom(path.node(height));
        handle.dirty(moved, nodes.sealer(inode));
      }
      MemorySegment parent = path.node(height + 1);
      int position = path.position(height + 1);
      editor.access(handle, path, height + 1);
      ExtentHeader.put(
          parent, position, ExtentHeader.logical(parent, position), ExtentIndex.body(newNr));
      editor.dirty(handle, inode, path, height + 1);
      blocks.free(handle, oldNr, 1, true);
      inodes.update(handle, inode, true);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }
}
