package dev.extant.ext4;

import dev.extant.ext4.AttributeStore.Placed;
import dev.extant.ext4.format.PosixAclValue;
import dev.extant.ext4.format.Xattr;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.PosixAcl;
import java.io.IOException;

/// How POSIX ACLs and modes go together: an access ACL follows the permissions of its inode, and
/// what is made in a directory with a default ACL gets its permissions and ACLs from that.
///
/// Callers hold the inode's `lock`.
final class Acls {
  private final Mount mount;

  Acls(Mount mount) {
    this.mount = mount;
  }

  /// Permissions and attributes of an inode to be made.
  record Inheritance(int permissions, Placed placed) {}

  private PosixAcl load(Inode inode, Placed placed, XattrKey key, HeldInodes held)
      throws IOException {
    Xattr xattr = placed.find(key);
    if (xattr == null) {
      return null;
    }
    PosixAcl acl = PosixAclValue.decode(mount.attributes.value(inode, xattr, held), inode.ino());
    if (!acl.complete()) {
      throw new FsException(
          Errno.EUCLEAN, "inode " + inode.ino() + " is corrupt: its ACL is not complete");
    }
    return acl;
  }

  /// The attributes after the inode's permissions were set: those that it has, but for the access
  /// ACL.
  Placed withPermissions(Inode inode, Placed placed, int permissions, HeldInodes held)
      throws IOException {
    PosixAcl acl = load(inode, placed, XattrKey.ACCESS_ACL, held);
    if (acl == null) {
      return placed;
    }
    byte[] value = PosixAclValue.encode(acl.withPermissions(permissions));
    return mount.attributes.place(inode, inode.raw, placed, XattrKey.ACCESS_ACL, value, held);
  }

  /// What something gets that is made in `directory`, before there is a handle.
  Inheritance inherit(Inode directory, FileType type, NewFile file, HeldInodes held)
      throws IOException {
    int permissions = file.permissions() & 0xFFF;
    boolean none = !AttributeStore.mayHaveAny(directory) || type == FileType.SYMLINK;
    PosixAcl acl =
        none ? null : load(directory, mount.attributes.load(directory), XattrKey.DEFAULT_ACL, held);
    if (acl == null) {
      return new Inheritance(permissions, Placed.NONE);
    }
    PosixAcl.Inherited inherited = acl.inherited(permissions);
    Placed placed = Placed.NONE;
    if (type == FileType.DIRECTORY) {
      placed = add(directory, placed, XattrKey.DEFAULT_ACL, acl, held);
    }
    if (inherited.access() != null) {
      placed = add(directory, placed, XattrKey.ACCESS_ACL, inherited.access(), held);
    }
    return new Inheritance(inherited.permissions(), placed);
  }

  private Placed add(Inode directory, Placed placed, XattrKey key, PosixAcl acl, HeldInodes held)
      throws IOException {
    byte[] value = PosixAclValue.encode(acl);
    return mount.attributes.place(directory, mount.newInodes.blank(), placed, key, value, held);
  }
}
