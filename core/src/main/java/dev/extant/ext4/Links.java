package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;

/// The rules of link counts.
///
/// A directory counts its `..`s: with the feature dir_nlink an indexed directory that has more than
/// it can count shows 1, which means "unknown" and never changes again (spec: feature
/// RO_COMPAT_DIR_NLINK).
final class Links {
  /// EXT4_LINK_MAX.
  static final int MAX = 65_000;

  private final boolean dirNlink;

  Links(boolean dirNlink) {
    this.dirNlink = dirNlink;
  }

  void checkRoom(Inode inode) throws FsException {
    if (RawInode.linksCount(inode.raw) >= MAX && !uncounted(inode)) {
      throw new FsException(
          Errno.EMLINK, "inode " + inode.ino() + " has " + MAX + " links already");
    }
  }

  private boolean uncounted(Inode inode) {
    return dirNlink && inode.isDirectory() && inode.hasFlag(RawInode.EXT4_INDEX_FL);
  }

  void add(Inode inode) {
    int links = RawInode.linksCount(inode.raw);
    if (inode.isDirectory() && links == 1) {
      return;
    }
    RawInode.linksCount(inode.raw, links + 1 > MAX && uncounted(inode) ? 1 : links + 1);
  }

  /// One name (or `..`) less. A directory never falls below 2 this way unless it shows 1.
  void drop(Inode inode) {
    int links = RawInode.linksCount(inode.raw);
    if (inode.isDirectory() ? links > 2 : links > 0) {
      RawInode.linksCount(inode.raw, links - 1);
    }
  }
}
