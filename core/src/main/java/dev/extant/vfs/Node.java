package dev.extant.vfs;

/// A counted reference to an inode of a [Volume]: it keeps the inode alive, even when its last name
/// is gone. Close it once. Closing the last reference of an inode without names frees its blocks.
public interface Node extends AutoCloseable {
  /// The inode number.
  long ino();

  /// The inode's type; it never changes.
  FileType type();

  /// One more reference to the same inode.
  Node retain();

  /// Gives the reference back; errors while freeing are kept by the volume, not thrown here.
  @Override
  void close();
}
