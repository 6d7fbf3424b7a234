package dev.extant.ext4;

import dev.extant.journal.Handle;
import java.io.IOException;

/// Frees an inode that has no names and no references: its blocks, its attribute block, itself.
///
/// It stays on the orphan list until the last step, so a crash in between is finished at the next
/// mount.
final class Eviction implements Inodes.Lifecycle {
  private final Mount mount;

  Eviction(Mount mount) {
    this.mount = mount;
  }

  /// Nobody else can reach the inode. An error is reported to [Health] and leaves the orphan for
  /// later. Once the mount is being closed nothing is done: that frees what is left.
  @Override
  public void evict(Inode inode) {
    if (!mount.gate.tryEnter()) {
      return;
    }
    try {
      freeForgotten(inode);
    } finally {
      mount.gate.leave();
    }
  }

  /// Frees an inode without names that nobody uses any more, even if somebody has a reference.
  void freeForgotten(Inode inode) {
    if (mount.health.readOnly()) {
      mount.files.drop(inode);
      return;
    }
    try {
      free(inode);
    } catch (IOException e) {
      mount.files.drop(inode);
      mount.health.evictionFailed(inode.ino(), e);
    }
  }

  @Override
  public boolean drop(Inode inode) {
    return mount.files.dropIfClean(inode);
  }

  private void free(Inode inode) throws IOException {
    if (inode.mapsBlocks()) {
      mount.files.freeAll(inode);
    }
    mount.attributes.releaseValues(inode);
    try (Handle handle = mount.start(Credits.FREE_INODE + Credits.ORPHAN)) {
      mount.attributes.dropBlock(handle, inode);
      mount.orphans.remove(handle, inode);
      mount.inodes.clearOnDisk(handle, inode);
      mount.inodeAllocator.free(handle, inode.ino(), inode.isDirectory());
    }
  }
}
