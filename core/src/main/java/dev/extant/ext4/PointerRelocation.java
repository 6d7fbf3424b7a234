package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.PointerShape;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;

/// [MapRelocation] of block pointers.
final class PointerRelocation implements MapRelocation {
  private final BufferCache buffers;
  private final BlockSource blocks;
  private final InodeTable inodes;
  private final PointerShape shape;
  private final PointerBlocks pointers;

  PointerRelocation(
      BufferCache buffers,
      BlockSource blocks,
      InodeTable inodes,
      PointerShape shape,
      PointerBlocks pointers) {
    this.buffers = buffers;
    this.blocks = blocks;
    this.inodes = inodes;
    this.shape = shape;
    this.pointers = pointers;
  }

  /// Two tables, a bitmap and a descriptor for either block, the inode.
  @Override
  public int credits(Inode inode) {
    return 2 + 4 + 1;
  }

  @Override
  public void remap(Handle handle, Inode inode, BlockMap.Run part, long toBlockNr)
      throws IOException {
    requireAddressable(toBlockNr + part.count());
    inode.mapLock.writeLock().lock();
    try (PointerPath path = pointers.find(inode, part.logical())) {
      int level = path.depth();
      int index = path.index(level);
      BlockPointers.access(handle, path, level);
      for (int i = 0; i < part.count(); i++) {
        path.pointer(level, index + i, toBlockNr + i);
      }
      stored(handle, inode, path, level);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  private static void requireAddressable(long endBlockNr) throws FsException {
    if (endBlockNr > PointerShape.MAX_BLOCKS) {
      throw new FsException(
          Errno.ENOSPC, "no free blocks are left in front of block 2^32, for a file with pointers");
    }
  }

  private void stored(Handle handle, Inode inode, PointerPath path, int level) throws IOException {
    if (path.buffer(level) != null) {
      handle.dirty(path.buffer(level));
    }
    inodes.update(handle, inode, true);
  }

  @Override
  public Set<Long> nodes(Inode inode) throws IOException {
    Set<Long> found = new LinkedHashSet<>();
    inode.mapLock.readLock().lock();
    try {
      for (long logical = 0; logical < shape.limit(); ) {
        try (PointerPath path = pointers.find(inode, logical)) {
          for (int level = 1; level <= path.reached(); level++) {
            found.add(path.buffer(level).blockNr());
          }
          logical = next(path);
        }
      }
    } finally {
      inode.mapLock.readLock().unlock();
    }
    return found;
  }

  /// The first logical block that is found through another table, or through none.
  private static long next(PointerPath path) {
    int level = path.reached();
    return path.logicalAt(level, path.complete() ? path.size(level) : path.index(level) + 1);
  }

  @Override
  public long nextNode(Inode inode, long fromLogical, long limit) throws IOException {
    inode.mapLock.readLock().lock();
    try {
      for (long logical = fromLogical; logical < shape.limit(); ) {
        try (PointerPath path = pointers.find(inode, logical)) {
          if (topmost(path, limit) > 0) {
            return logical;
          }
          logical = next(path);
        }
      }
      return -1;
    } finally {
      inode.mapLock.readLock().unlock();
    }
  }

  /// The first level whose table is a block at or behind `limit`, or 0.
  private static int topmost(PointerPath path, long limit) {
    for (int level = 1; level <= path.reached(); level++) {
      if (path.buffer(level).blockNr() >= limit) {
        return level;
      }
    }
    return 0;
  }

  @Override
  public void moveNode(Handle handle, Inode inode, long logical, long limit) throws IOException {
    inode.mapLock.writeLock().lock();
    try (PointerPath path = pointers.find(inode, logical)) {
      int level = topmost(path, limit);
      long oldNr = path.buffer(level).blockNr();
      long newNr = blocks.allocate(handle, blocks.goalOf(inode), 1).blockNr();
      requireAddressable(newNr + 1);
      try (Buffer moved = buffers.fresh(newNr)) {
        handle.createAccess(moved);
        moved.data().copyFrom(path.buffer(level).data());
        handle.dirty(moved);
      }
      BlockPointers.access(handle, path, level - 1);
      path.pointer(level - 1, path.index(level - 1), newNr);
      blocks.free(handle, oldNr, 1, true);
      stored(handle, inode, path, level - 1);
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }
}
