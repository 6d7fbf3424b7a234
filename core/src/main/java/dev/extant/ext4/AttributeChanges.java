package dev.extant.ext4;

import dev.extant.ext4.AttributeStore.Change;
import dev.extant.ext4.AttributeStore.Placed;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.AttributeChange;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Changes of what stat(2) tells: permissions, owner, times. The access ACL follows the
/// permissions.
///
/// Takes the inode's `lock` itself.
final class AttributeChanges {
  private final Mount mount;

  AttributeChanges(Mount mount) {
    this.mount = mount;
  }

  void apply(Inode inode, AttributeChange change) throws IOException {
    try (HeldInodes held = new HeldInodes()) {
      inode.lock.writeLock().lock();
      try {
        boolean acl = change.permissions() != null && AttributeStore.mayHaveAny(inode);
        if (acl) {
          Placed old = mount.attributes.load(inode);
          Placed now = mount.acls.withPermissions(inode, old, change.permissions(), held);
          Change ofAcl = mount.attributes.prepare(old, now, held);
          mount.retryWhenFull(
              Credits.INODE + ofAcl.credits(),
              handle -> {
                mount.attributes.apply(handle, inode, ofAcl);
                store(handle, inode, change);
                return null;
              });
        } else {
          try (Handle handle = mount.start(Credits.INODE)) {
            store(handle, inode, change);
          }
        }
      } finally {
        inode.lock.writeLock().unlock();
      }
    }
  }

  private void store(Handle handle, Inode inode, AttributeChange change) throws IOException {
    MemorySegment raw = inode.raw;
    if (change.permissions() != null) {
      RawInode.mode(raw, inode.type().modeBits() | change.permissions() & 0xFFF);
    }
    if (change.uid() != null) {
      RawInode.uid(raw, change.uid());
    }
    if (change.gid() != null) {
      RawInode.gid(raw, change.gid());
    }
    if (change.accessed() != null) {
      RawInode.accessed(raw, change.accessed());
    }
    if (change.modified() != null) {
      RawInode.modified(raw, change.modified());
    }
    if (change.created() != null) {
      RawInode.created(raw, change.created());
    }
    RawInode.changed(raw, mount.now());
    mount.inodes.update(handle, inode, false);
  }
}
