package dev.extant.ext4;

import dev.extant.ext4.AttributeStore.Change;
import dev.extant.ext4.AttributeStore.Placed;
import dev.extant.ext4.format.PosixAclValue;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Xattr;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.PosixAcl;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The extended attributes of inodes by their full names.
///
/// Which inodes may have which is as in Linux: `user.` only regular files and directories, ACLs all
/// but symbolic links, default ACLs only directories.
///
/// Every method takes the inode's `lock` itself; callers hold neither a handle nor a lock.
final class ExtendedAttributes {
  /// No value is longer (XATTR_SIZE_MAX).
  static final int MAX_VALUE_BYTES = 65_536;

  private final Mount mount;
  private final AttributeStore store;

  ExtendedAttributes(Mount mount) {
    this.mount = mount;
    this.store = mount.attributes;
  }

  List<XattrName> names(Inode inode) throws IOException {
    requireOwner(inode);
    inode.lock.readLock().lock();
    try {
      Placed placed = store.load(inode);
      List<XattrName> names = new ArrayList<>();
      for (List<Xattr> list : List.of(placed.body(), placed.block())) {
        for (Xattr xattr : list) {
          XattrName name = XattrKey.nameOf(xattr);
          if (name != null) {
            names.add(name);
          }
        }
      }
      return names;
    } finally {
      inode.lock.readLock().unlock();
    }
  }

  byte[] get(Inode inode, XattrName name) throws IOException {
    requireOwner(inode);
    XattrKey key = XattrKey.of(name);
    requireAclsAllowed(inode, key);
    byte[] value = value(inode, key);
    if (value == null) {
      throw missing(inode, name);
    }
    return value;
  }

  /// Null if there is none.
  private byte[] value(Inode inode, XattrKey key) throws IOException {
    try (HeldInodes held = new HeldInodes()) {
      inode.lock.readLock().lock();
      try {
        Xattr xattr = store.load(inode).find(key);
        if (xattr == null || key.isUser() && !mayHaveUserAttributes(inode)) {
          return null;
        }
        byte[] value = store.value(inode, xattr, held);
        return key.isAcl() ? PosixAclValue.decode(value, inode.ino()).xattr() : value.clone();
      } finally {
        inode.lock.readLock().unlock();
      }
    }
  }

  void set(Inode inode, XattrName name, byte[] value, XattrMode mode) throws IOException {
    requireOwner(inode);
    XattrKey key = XattrKey.of(name);
    requireAllowed(inode, key, name);
    if (value.length > MAX_VALUE_BYTES) {
      throw new FsException(
          Errno.E2BIG, "an extended attribute cannot have " + value.length + " bytes");
    }
    if (key.isAcl()) {
      setAcl(inode, key, name, PosixAcl.parse(value), mode);
    } else {
      change(inode, new Edit(key, name, value.clone(), mode, null));
    }
  }

  private void setAcl(Inode inode, XattrKey key, XattrName name, PosixAcl acl, XattrMode mode)
      throws IOException {
    boolean ofMode = key.isAccessAcl() && !acl.isEmpty();
    boolean dropped = acl.isEmpty() || ofMode && acl.equivalentToMode();
    byte[] value = dropped ? null : PosixAclValue.encode(acl);
    change(inode, new Edit(key, name, value, mode, ofMode ? acl : null));
  }

  void remove(Inode inode, XattrName name) throws IOException {
    requireOwner(inode);
    XattrKey key = XattrKey.of(name);
    requireAclsAllowed(inode, key);
    change(inode, new Edit(key, name, null, XattrMode.REPLACE, null));
  }

  /// One attribute to be set or, with a null value, removed. The permissions become those of
  /// `ofMode` if that is not null.
  private record Edit(
      XattrKey key, XattrName name, byte[] value, XattrMode mode, PosixAcl ofMode) {}

  private void change(Inode inode, Edit edit) throws IOException {
    try (HeldInodes held = new HeldInodes()) {
      inode.lock.writeLock().lock();
      try {
        change(inode, edit, held);
      } catch (FsException e) {
        boolean inline = inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL);
        if (e.errno() != Errno.ENOSPC || !inline || inode.type() != FileType.REGULAR) {
          throw e;
        }
        // The content makes room for the attribute.
        mount.files.leaveInode(inode);
        change(inode, edit, held);
      } finally {
        inode.lock.writeLock().unlock();
      }
    }
  }

  private void change(Inode inode, Edit edit, HeldInodes held) throws IOException {
    Placed old = store.load(inode);
    requireMode(inode, edit, old.find(edit.key));
    Placed now =
        edit.value == null
            ? old.without(edit.key)
            : store.place(inode, inode.raw, old, edit.key, edit.value, held);
    Change change = store.prepare(old, now, held);
    mount.retryWhenFull(
        Credits.INODE + change.credits(),
        handle -> {
          store.apply(handle, inode, change);
          if (edit.ofMode != null) {
            RawInode.mode(inode.raw, edit.ofMode.permissions(RawInode.mode(inode.raw)));
          }
          RawInode.changed(inode.raw, mount.now());
          mount.inodes.update(handle, inode, false);
          return null;
        });
  }

  private static void requireMode(Inode inode, Edit edit, Xattr there) throws FsException {
    if (edit.mode == XattrMode.CREATE && there != null) {
      throw new FsException(
          Errno.EEXIST, "inode " + inode.ino() + " has an attribute " + edit.name + " already");
    }
    if (edit.mode == XattrMode.REPLACE && there == null) {
      throw missing(inode, edit.name);
    }
  }

  private static FsException missing(Inode inode, XattrName name) {
    return new FsException(Errno.ENODATA, "inode " + inode.ino() + " has no attribute " + name);
  }

  /// An inode that holds the value of an attribute has none itself, and no name by which anybody
  /// could ask.
  private static void requireOwner(Inode inode) throws FsException {
    if (inode.hasFlag(RawInode.EXT4_EA_INODE_FL)) {
      throw new FsException(
          Errno.EUCLEAN,
          "inode " + inode.ino() + " holds the value of an attribute, but has a name");
    }
  }

  private static boolean mayHaveUserAttributes(Inode inode) {
    return inode.type() == FileType.REGULAR || inode.isDirectory();
  }

  private static void requireAclsAllowed(Inode inode, XattrKey key) throws FsException {
    if (key.isAcl() && inode.type() == FileType.SYMLINK) {
      throw new FsException(
          Errno.EOPNOTSUPP, "inode " + inode.ino() + " is a symbolic link, which has no ACL");
    }
  }

  private static void requireAllowed(Inode inode, XattrKey key, XattrName name) throws FsException {
    requireAclsAllowed(inode, key);
    if (key.isUser() && !mayHaveUserAttributes(inode)) {
      throw new FsException(
          Errno.EPERM,
          "inode " + inode.ino() + " cannot have " + name + ", being a " + inode.type());
    }
    if (key.isAcl() && !key.isAccessAcl() && !inode.isDirectory()) {
      throw new FsException(
          Errno.EACCES, "inode " + inode.ino() + " cannot have a default ACL: it is no directory");
    }
  }
}
