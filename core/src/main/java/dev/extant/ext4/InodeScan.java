package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Bits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Goes through all inodes in use of a mount that nobody else uses.
final class InodeScan {
  interface Visitor {
    /// Called outside handles and locks.
    void visit(Inode inode) throws IOException;
  }

  private final Mount mount;

  InodeScan(Mount mount) {
    this.mount = mount;
  }

  /// Reserved inodes that hold nothing are left out, and so is that of bad blocks.
  void forEachFrom(int firstGroup, Visitor visitor) throws IOException {
    Geometry geometry = mount.geometry;
    for (int group = firstGroup; group < geometry.groupCount(); group++) {
      MemorySegment used = mount.inodeAllocator.used(group);
      if (used == null) {
        continue;
      }
      for (int index = 0; index < geometry.inodesPerGroup(); index++) {
        if (Bits.test(used, index)) {
          visit((long) group * geometry.inodesPerGroup() + index + 1, visitor);
        }
      }
    }
  }

  private void visit(long ino, Visitor visitor) throws IOException {
    boolean reserved = ino < mount.geometry.firstInode() && ino != Mount.ROOT_INO;
    if (reserved && RawInode.linksCount(mount.inodes.readRaw(ino)) == 0) {
      return;
    }
    try (Inode inode = mount.inodes.get(ino)) {
      visitor.visit(inode);
    }
  }
}
