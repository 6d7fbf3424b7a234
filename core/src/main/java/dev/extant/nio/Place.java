package dev.extant.nio;

import dev.extant.vfs.FileName;
import dev.extant.vfs.Node;

/// Where a path leads: a name in a directory and the inode of that name, null if there is none. The
/// place of the root is `.` in the root.
record Place(Node directory, FileName name, Node node) implements AutoCloseable {
  @Override
  public void close() {
    directory.close();
    if (node != null) {
      node.close();
    }
  }
}
