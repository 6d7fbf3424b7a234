package dev.extant.testkit;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.RenameMode;

/// The names of a [MemoryVolume], whose lock its callers hold: what may be made, removed and
/// renamed, and the link counts and times that follow.
final class MemoryTree {
  private static final int MAX_NAME_BYTES = 255;
  private static final int MAX_LINKS = 65_000;

  private final MemoryTimes times;

  MemoryTree(MemoryTimes times) {
    this.times = times;
  }

  private static void check(FileName name) throws FsException {
    if (name.length() > MAX_NAME_BYTES) {
      throw new FsException(Errno.ENAMETOOLONG, "a name of " + name.length() + " bytes");
    }
    for (byte b : name.bytes()) {
      if (b == 0 || b == '/') {
        throw new FsException(Errno.EINVAL, "a name with a slash or NUL: " + name);
      }
    }
    if (name.length() == 0) {
      throw new FsException(Errno.ENOENT, "an empty name");
    }
  }

  /// What a name other than `.` and `..` stands for.
  static MemoryInode existing(MemoryInode directory, FileName name) throws FsException {
    check(name);
    MemoryInode child = directory.child(name);
    if (child == null) {
      throw new FsException(Errno.ENOENT, "no " + name + " in inode " + directory.ino);
    }
    return child;
  }

  /// Refuses a name that cannot be made in a directory.
  private static void requireFree(MemoryInode directory, FileName name) throws FsException {
    check(name);
    if (name.isDot() || name.isDotDot() || directory.child(name) != null) {
      throw new FsException(Errno.EEXIST, name + " exists in inode " + directory.ino);
    }
    if (directory.isRemoved()) {
      throw new FsException(Errno.ENOENT, "inode " + directory.ino + " was removed");
    }
  }

  /// Gives a new inode its name.
  void add(MemoryInode directory, FileName name, MemoryInode inode) throws FsException {
    requireFree(directory, name);
    inode.nlink = inode.isDirectory() ? 2 : 1;
    directory.put(name, inode);
    if (inode.isDirectory()) {
      directory.nlink++;
    }
    times.modify(directory);
  }

  void link(MemoryInode inode, MemoryInode directory, FileName name) throws FsException {
    requireFree(directory, name);
    if (inode.isDirectory()) {
      throw new FsException(Errno.EPERM, "a hard link to directory " + inode.ino);
    }
    if (inode.nlink == 0) {
      throw new FsException(Errno.ENOENT, "inode " + inode.ino + " has no name any more");
    }
    if (inode.nlink >= MAX_LINKS) {
      throw new FsException(Errno.EMLINK, "inode " + inode.ino + " has " + inode.nlink);
    }
    inode.nlink++;
    directory.put(name, inode);
    times.change(inode);
    times.modify(directory);
  }

  /// Returns the inode that lost its name.
  MemoryInode unlink(MemoryInode directory, FileName name) throws FsException {
    if (name.isDot() || name.isDotDot()) {
      throw new FsException(Errno.EISDIR, "unlink of " + name);
    }
    MemoryInode inode = existing(directory, name);
    if (inode.isDirectory()) {
      throw new FsException(Errno.EISDIR, name + " is a directory");
    }
    directory.remove(name);
    times.modify(directory);
    return withoutName(inode);
  }

  /// Returns the directory that lost its name.
  MemoryInode rmdir(MemoryInode directory, FileName name) throws FsException {
    if (name.isDot() || name.isDotDot()) {
      throw new FsException(name.isDot() ? Errno.EINVAL : Errno.ENOTEMPTY, "rmdir of " + name);
    }
    MemoryInode inode = existing(directory, name);
    if (!inode.isDirectory()) {
      throw new FsException(Errno.ENOTDIR, name + " is not a directory");
    }
    if (inode.hasEntries()) {
      throw new FsException(Errno.ENOTEMPTY, name + " has entries");
    }
    directory.remove(name);
    directory.nlink--;
    times.modify(directory);
    return withoutName(inode);
  }

  private MemoryInode withoutName(MemoryInode inode) {
    inode.nlink = inode.isDirectory() ? 0 : inode.nlink - 1;
    times.change(inode);
    return inode;
  }

  /// Returns the inode that lost its name, or null.
  MemoryInode rename(
      MemoryInode source, FileName from, MemoryInode target, FileName to, RenameMode mode)
      throws FsException {
    if (from.isDot() || from.isDotDot() || to.isDot() || to.isDotDot()) {
      throw new FsException(Errno.EBUSY, "rename of . or ..");
    }
    check(to);
    MemoryInode moved = existing(source, from);
    MemoryInode there = target.child(to);
    requireRenamable(source, moved, target, there, mode);
    if (moved == there) {
      return null;
    }
    boolean exchange = mode == RenameMode.EXCHANGE;
    adjustLinks(source, target, moved, exchange ? there : null);
    if (exchange) {
      source.put(from, there);
      times.change(there);
    } else {
      source.remove(from);
      if (there != null && there.isDirectory()) {
        target.nlink--;
      }
    }
    target.put(to, moved);
    times.change(moved);
    times.modify(source);
    times.modify(target);
    return exchange || there == null ? null : withoutName(there);
  }

  private static void requireRenamable(
      MemoryInode source, MemoryInode moved, MemoryInode target, MemoryInode there, RenameMode mode)
      throws FsException {
    if (target.isRemoved()) {
      throw new FsException(Errno.ENOENT, "inode " + target.ino + " was removed");
    }
    if (there == null && mode == RenameMode.EXCHANGE) {
      throw new FsException(Errno.ENOENT, "nothing to exchange with");
    }
    if (there != null && mode == RenameMode.NO_REPLACE) {
      throw new FsException(Errno.EEXIST, "the new name exists");
    }
    if (moved.isDirectory() && moved.contains(target)) {
      throw new FsException(Errno.EINVAL, "a directory would be in itself");
    }
    if (there != null && there.isDirectory() && there.contains(source)) {
      boolean exchange = mode == RenameMode.EXCHANGE;
      throw new FsException(
          exchange ? Errno.EINVAL : Errno.ENOTEMPTY, "the new name is above the old one");
    }
    if (there == null || there == moved || mode == RenameMode.EXCHANGE) {
      return;
    }
    if (moved.isDirectory() != there.isDirectory()) {
      throw new FsException(
          moved.isDirectory() ? Errno.ENOTDIR : Errno.EISDIR, "the new name is of another kind");
    }
    if (there.hasEntries()) {
      throw new FsException(Errno.ENOTEMPTY, "the new name is a directory with entries");
    }
  }

  /// Moves the `..` of directories that change places.
  private static void adjustLinks(
      MemoryInode source, MemoryInode target, MemoryInode moved, MemoryInode there) {
    if (moved.isDirectory()) {
      source.nlink--;
      target.nlink++;
    }
    if (there != null && there.isDirectory()) {
      target.nlink--;
      source.nlink++;
    }
  }
}
