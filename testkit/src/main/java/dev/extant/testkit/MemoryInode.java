package dev.extant.testkit;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.XattrName;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// An inode of a [MemoryVolume], whose lock guards all of it.
final class MemoryInode {
  /// Cookies of `.` and `..`; those of other entries follow.
  static final long DOT_COOKIE = 1;

  static final long DOT_DOT_COOKIE = 2;

  /// A name in a directory.
  record Entry(FileName name, MemoryInode inode, long cookie) {}

  final long ino;
  final FileType type;
  int permissions;
  long uid;
  long gid;
  long rdev;
  int nlink;
  int references;
  Instant accessed;
  Instant modified;
  Instant changed;
  Instant created;

  final TreeMap<XattrName, byte[]> xattrs = new TreeMap<>();

  /// Of a regular file.
  final SparseBytes contents = new SparseBytes();

  /// Of a symbolic link.
  byte[] target = new byte[0];

  /// Of a directory; the root is its own.
  MemoryInode parent;

  private final Map<FileName, Entry> byName = new HashMap<>();
  private final TreeMap<Long, Entry> byCookie = new TreeMap<>();
  private long lastCookie = DOT_DOT_COOKIE;

  MemoryInode(long ino, FileType type) {
    this.ino = ino;
    this.type = type;
  }

  boolean isDirectory() {
    return type == FileType.DIRECTORY;
  }

  /// True for a directory that was removed but is still open.
  boolean isRemoved() {
    return nlink == 0;
  }

  boolean hasEntries() {
    return !byName.isEmpty();
  }

  /// Null if there is none; `.` and `..` are not entries here.
  MemoryInode child(FileName name) {
    Entry entry = byName.get(name);
    return entry == null ? null : entry.inode();
  }

  /// Makes a name stand for an inode. A name that was there keeps its place in the directory.
  void put(FileName name, MemoryInode inode) {
    Entry old = byName.get(name);
    Entry entry = new Entry(name, inode, old == null ? ++lastCookie : old.cookie());
    byName.put(name, entry);
    byCookie.put(entry.cookie(), entry);
    if (inode.isDirectory()) {
      inode.parent = this;
    }
  }

  void remove(FileName name) {
    byCookie.remove(byName.remove(name).cookie());
  }

  /// The first entry behind a cookie, null at the end.
  Entry after(long cookie) {
    if (isRemoved()) {
      return null;
    }
    if (cookie < DOT_COOKIE) {
      return new Entry(FileName.of("."), this, DOT_COOKIE);
    }
    if (cookie < DOT_DOT_COOKIE) {
      return new Entry(FileName.of(".."), parent, DOT_DOT_COOKIE);
    }
    Map.Entry<Long, Entry> next = byCookie.higherEntry(cookie);
    return next == null ? null : next.getValue();
  }

  /// True if this is the other directory or above it.
  boolean contains(MemoryInode other) {
    MemoryInode above = other;
    while (above != this && above.parent != above) {
      above = above.parent;
    }
    return above == this;
  }
}
