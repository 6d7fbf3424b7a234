package dev.extant.testkit;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.PosixAcl;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.util.List;

/// The extended attributes of a [MemoryVolume], whose lock its callers hold: which inode may have
/// which, and how ACLs and permissions go together.
final class MemoryXattrs {
  private static final int MAX_VALUE_BYTES = 65_536;
  private static final String ACCESS = "system.posix_acl_access";
  private static final String DEFAULT = "system.posix_acl_default";
  private static final List<String> SPACES = List.of("user.", "trusted.", "security.");

  private final MemoryTimes times;

  MemoryXattrs(MemoryTimes times) {
    this.times = times;
  }

  List<XattrName> names(MemoryInode inode) {
    return List.copyOf(inode.xattrs.keySet());
  }

  byte[] get(MemoryInode inode, XattrName name) throws FsException {
    requireKnown(inode, name);
    byte[] value = inode.xattrs.get(name);
    if (value == null) {
      throw new FsException(Errno.ENODATA, "inode " + inode.ino + " has no " + name);
    }
    return value.clone();
  }

  void set(MemoryInode inode, XattrName name, byte[] value, XattrMode mode) throws FsException {
    requireKnown(inode, name);
    String text = name.toString();
    if (text.startsWith("user.") && inode.type != FileType.REGULAR && !inode.isDirectory()) {
      throw new FsException(Errno.EPERM, "inode " + inode.ino + " cannot have " + name);
    }
    if (text.equals(DEFAULT) && !inode.isDirectory()) {
      throw new FsException(Errno.EACCES, "inode " + inode.ino + " cannot have " + name);
    }
    if (value.length > MAX_VALUE_BYTES) {
      throw new FsException(Errno.E2BIG, value.length + " bytes");
    }
    PosixAcl acl = isAcl(text) ? PosixAcl.parse(value) : null;
    if (mode == XattrMode.CREATE && inode.xattrs.containsKey(name)) {
      throw new FsException(Errno.EEXIST, "inode " + inode.ino + " has " + name);
    }
    if (mode == XattrMode.REPLACE) {
      get(inode, name);
    }
    inode.xattrs.put(name, value.clone());
    if (acl != null) {
      put(inode, name, acl);
    }
    times.change(inode);
  }

  private static void put(MemoryInode inode, XattrName name, PosixAcl acl) {
    boolean access = name.toString().equals(ACCESS);
    if (acl.isEmpty() || access && acl.equivalentToMode()) {
      inode.xattrs.remove(name);
    }
    if (access && !acl.isEmpty()) {
      inode.permissions = acl.permissions(inode.permissions);
    }
  }

  void remove(MemoryInode inode, XattrName name) throws FsException {
    get(inode, name);
    inode.xattrs.remove(name);
    times.change(inode);
  }

  private static void requireKnown(MemoryInode inode, XattrName name) throws FsException {
    String text = name.toString();
    if (SPACES.contains(text)) {
      throw new FsException(Errno.EINVAL, "an attribute without a name: " + name);
    }
    boolean acl = isAcl(text);
    if (!acl && SPACES.stream().noneMatch(text::startsWith)
        || acl && inode.type == FileType.SYMLINK) {
      throw new FsException(Errno.EOPNOTSUPP, "inode " + inode.ino + " cannot have " + name);
    }
  }

  private static boolean isAcl(String name) {
    return name.equals(ACCESS) || name.equals(DEFAULT);
  }

  /// After the permissions of an inode were set.
  void permissionsChanged(MemoryInode inode) throws FsException {
    byte[] access = inode.xattrs.get(XattrName.of(ACCESS));
    if (access != null) {
      PosixAcl acl = PosixAcl.parse(access).withPermissions(inode.permissions);
      inode.xattrs.put(XattrName.of(ACCESS), acl.xattr());
    }
  }

  /// What a new inode gets from the directory that it is made in.
  void inherit(MemoryInode directory, MemoryInode inode) throws FsException {
    byte[] value = directory.xattrs.get(XattrName.of(DEFAULT));
    if (value == null || inode.type == FileType.SYMLINK) {
      return;
    }
    PosixAcl.Inherited inherited = PosixAcl.parse(value).inherited(inode.permissions);
    inode.permissions = inherited.permissions();
    if (inherited.access() != null) {
      inode.xattrs.put(XattrName.of(ACCESS), inherited.access().xattr());
    }
    if (inode.isDirectory()) {
      inode.xattrs.put(XattrName.of(DEFAULT), value);
    }
  }
}
