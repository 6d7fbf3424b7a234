package dev.extant.ext4;

/// How many metadata blocks the parts of an operation may change at most.
final class Credits {
  /// An inode's block of the inode table.
  static final int INODE = 1;

  /// Inode bitmap, block bitmap of an uninitialised group, two descriptor blocks.
  static final int ALLOCATE_INODE = 4;

  /// Superblock or orphan file block, and the inode table block of a neighbour in the list.
  static final int ORPHAN = 3;

  /// A directory block and two inodes.
  static final int REMOVE_NAME = 1 + 2 * INODE;

  /// Freeing an inode: bitmap, descriptor, table block, attribute block with its bitmap and
  /// descriptor.
  static final int FREE_INODE = 6;

  static final int SUPERBLOCK = 1;

  private Credits() {}
}
