package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.PointerShape;
import dev.extant.journal.Handle;
import java.io.IOException;

/// Takes blocks out of block-mapped files and gives them back, from the end of a range backwards,
/// and with them the indirect blocks that become empty.
///
/// The caller holds `mapLock` for writing and stores the inode in the same handle.
final class PointerRemoval {
  /// More than a revoke takes in the log, so that those of one piece fit into one block of it.
  private static final int REVOKE_BYTES = 16;

  /// What freeing a piece takes: a bitmap, a descriptor, a block of revokes, the block that held
  /// the pointers, the inode.
  private static final int PIECE_CREDITS = 5;

  private final Geometry geometry;
  private final BlockSource blocks;
  private final PointerShape shape;
  private final PointerBlocks pointers;

  PointerRemoval(
      Geometry geometry, BlockSource blocks, PointerShape shape, PointerBlocks pointers) {
    this.geometry = geometry;
    this.blocks = blocks;
    this.shape = shape;
    this.pointers = pointers;
  }

  /// Frees the blocks from `from` to `to` (exclusive) as far as the credits go. True when all is
  /// freed. See [BlockMap#punch].
  boolean remove(Handle handle, Inode inode, long from, long to, boolean metadata)
      throws IOException {
    long end = Math.min(to, shape.limit());
    while (end > from) {
      try (PointerPath path = pointers.find(inode, end - 1)) {
        if (path.last() != 0) {
          if (!room(handle)) {
            return false;
          }
          end = freePiece(handle, inode, path, from, end, metadata);
        }
        if (!freeEmpty(handle, inode, path)) {
          return false;
        }
        if (path.last() == 0) {
          long start = path.logicalAt(path.reached(), endOfUsed(path, path.index(path.reached())));
          end = Math.min(end, start);
        }
      }
    }
    return true;
  }

  private static boolean room(Handle handle) {
    return handle.creditsLeft() >= PIECE_CREDITS || handle.extend(PIECE_CREDITS);
  }

  /// The index behind the last pointer in the path's last table, before `limit`, that is not 0.
  private static int endOfUsed(PointerPath path, int limit) {
    int end = limit;
    while (end > 0 && path.pointer(path.reached(), end - 1) == 0) {
      end--;
    }
    return end;
  }

  /// Frees the neighbours on the disk, within one group, that end with the path's block; returns
  /// the logical block of the first.
  private long freePiece(
      Handle handle, Inode inode, PointerPath path, long from, long end, boolean metadata)
      throws IOException {
    int level = path.depth();
    int index = path.index(level);
    long blockNr = path.last();
    int most = (int) Math.min(index + 1L, end - from);
    if (metadata) {
      most = Math.min(most, geometry.blockSizeBytes() / REVOKE_BYTES);
    }
    int count = 1;
    while (count < most
        && path.pointer(level, index - count) == blockNr - count
        && geometry.validDataBlock(blockNr - count)
        && geometry.groupOfBlock(blockNr - count) == geometry.groupOfBlock(blockNr)) {
      count++;
    }
    long first = blockNr - count + 1;
    pointers.check(inode, first, count, "logical block " + (end - count));
    BlockPointers.access(handle, path, level);
    blocks.free(handle, first, count, metadata);
    for (int i = 0; i < count; i++) {
      path.pointer(level, index - i, 0);
    }
    dirty(handle, path, level);
    BlockCount.add(inode.raw, -count, geometry.blockSizeBytes());
    return end - count;
  }

  /// Frees the indirect blocks of the path that hold no pointer any more, from below. False if the
  /// credits ended.
  private boolean freeEmpty(Handle handle, Inode inode, PointerPath path) throws IOException {
    while (path.reached() > 0 && endOfUsed(path, path.size(path.reached())) == 0) {
      if (!room(handle)) {
        return false;
      }
      long blockNr = path.buffer(path.reached()).blockNr();
      path.ascend();
      int level = path.reached();
      BlockPointers.access(handle, path, level);
      blocks.free(handle, blockNr, 1, true);
      path.pointer(level, path.index(level), 0);
      dirty(handle, path, level);
      BlockCount.add(inode.raw, -1, geometry.blockSizeBytes());
    }
    return true;
  }

  private static void dirty(Handle handle, PointerPath path, int level) throws IOException {
    if (path.buffer(level) != null) {
      handle.dirty(path.buffer(level));
    }
  }
}
