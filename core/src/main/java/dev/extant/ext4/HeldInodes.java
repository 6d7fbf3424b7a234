package dev.extant.ext4;

import java.util.ArrayList;
import java.util.List;

/// References to inodes that one operation takes on its way and gives back at its end, when it
/// holds neither a handle nor a lock of an inode: giving back may free them.
final class HeldInodes implements AutoCloseable {
  private final List<Inode> inodes = new ArrayList<>();

  Inode add(Inode inode) {
    inodes.add(inode);
    return inode;
  }

  /// Null if it is not held.
  Inode find(long ino) {
    for (Inode inode : inodes) {
      if (inode.ino() == ino) {
        return inode;
      }
    }
    return null;
  }

  int count() {
    return inodes.size();
  }

  @Override
  public void close() {
    inodes.forEach(Inode::close);
  }
}
