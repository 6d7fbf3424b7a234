package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;

/// Walks the block map of an inode, extents or block pointers, and gives its runs to a visitor in
/// the order of the map. Safe for any bytes: it ends, and every run lies within the file system.
/// What cannot be followed is told to the visitor and left out.
final class FileBlocks {
  /// The inode that lists bad blocks has a map, but no type.
  private static final int BAD_BLOCKS_INO = 1;

  private FileBlocks() {}

  /// What a walk meets.
  interface Visitor {
    /// Blocks of the file's content. The logical blocks of one walk may overlap if the map is
    /// wrong.
    void data(long logical, long blockNr, long count, boolean unwritten);

    /// A block of the map itself: an extent node or an indirect block.
    default void map(long blockNr) {}

    /// Whether to follow the map into that block, which was given to [#map].
    default boolean follow(long blockNr) {
      return true;
    }

    /// Something is wrong with the map.
    default void problem(Problem problem, long blockNr, String detail) {}
  }

  /// True if the inode has a block map at all: no fast symbolic link, device, inline data.
  static boolean mapped(ScannedInode inode) {
    if (inode.ino() == BAD_BLOCKS_INO) {
      return true;
    }
    if (inode.has(RawInode.EXT4_INLINE_DATA_FL)) {
      return false;
    }
    return switch (inode.entryType()) {
      case 1, 2 -> true;
      case 7 -> !fastSymbolicLink(inode);
      default -> false;
    };
  }

  /// A symbolic link whose target lies in i_block.
  static boolean fastSymbolicLink(ScannedInode inode) {
    return inode.symbolicLink()
        && inode.size() > 0
        && inode.size() < RawInode.I_BLOCK_SIZE
        && !inode.has(RawInode.EXT4_EXTENTS_FL | RawInode.EXT4_INLINE_DATA_FL);
  }

  static void walk(CheckContext context, ScannedInode inode, Visitor visitor) {
    if (!mapped(inode)) {
      return;
    }
    if (inode.has(RawInode.EXT4_EXTENTS_FL)) {
      new ExtentWalk(context, inode, visitor).walk();
    } else {
      new PointerWalk(context, inode, visitor).walk();
    }
  }
}
