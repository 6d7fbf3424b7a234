package dev.extant.ext4;

import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.PointerShape;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;

/// Follows the pointers of block-mapped inodes and lets none pass that is wrong: each block that is
/// handed out lies inside the file system and is none of its own structures.
///
/// A way has as many steps as its logical block says, whatever the pointers are, so none can go
/// round in a circle.
final class PointerBlocks {
  private final Geometry geometry;
  private final BufferCache buffers;
  private final BlockSource blocks;
  private final PointerShape shape;

  PointerBlocks(Geometry geometry, BufferCache buffers, BlockSource blocks, PointerShape shape) {
    this.geometry = geometry;
    this.buffers = buffers;
    this.blocks = blocks;
    this.shape = shape;
  }

  /// The path to a logical block below the shape's limit, down to the data's pointer or the first
  /// one that is 0. The caller holds `mapLock` and closes the path.
  PointerPath find(Inode inode, long logical) throws IOException {
    PointerPath path = new PointerPath(inode.raw, shape, logical);
    try {
      while (!path.complete() && path.last() != 0) {
        long blockNr = path.last();
        check(inode, blockNr, 1, "an indirect block");
        path.descend(buffers.read(blockNr));
      }
      return path;
    } catch (IOException | RuntimeException e) {
      path.close();
      throw e;
    }
  }

  /// EUCLEAN if one of the blocks cannot be one of a file.
  void check(Inode inode, long blockNr, int count, String what) throws IOException {
    boolean inside =
        geometry.validDataBlock(blockNr) && geometry.validDataBlock(blockNr + count - 1);
    if (inside && !blocks.ownedBySystem(blockNr, count)) {
      return;
    }
    throw new FsException(
        Errno.EUCLEAN,
        "inode "
            + inode.ino()
            + ": the pointer to "
            + what
            + " in block "
            + blockNr
            + (inside
                ? " leads into the file system's own structures"
                : " leads outside the file system"));
  }
}
