package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/// The inodes that a mount after a crash has to finish: deleted ones that were still open, and
/// files that were being truncated (Linux documentation, "Orphan file"; the super block's
/// s_last_orphan and i_dtime).
///
/// Without the `orphan_file` feature, or when the file is full, it is a list through i_dtime that
/// begins in the superblock, newest first. With it, inode numbers stand in slots of [OrphanFile].
final class OrphanList {
  /// Finishes one orphan at mount: frees it or ends its truncation, in handles whose last one calls
  /// [OrphanList#remove], and closes it.
  interface Recovery {
    void finish(Inode orphan) throws IOException;
  }

  /// One member of the list on disk. `newer` is the one whose i_dtime names this, null for the
  /// first.
  private static final class Link {
    final long ino;
    Inode inode;
    Link newer;
    Link older;

    Link(long ino, Inode inode) {
      this.ino = ino;
      this.inode = inode;
    }
  }

  private final SuperblockStore superblock;
  private final Inodes inodes;
  private final Geometry geometry;
  private final OrphanFile file;
  private final ReentrantLock lock = new ReentrantLock();

  /// The list on disk; guarded by `lock`.
  private final Map<Long, Link> links = new HashMap<>();

  /// Guarded by `lock`.
  private Link newest;

  /// All orphans in memory, by number; guarded by `lock`.
  private final Map<Long, Inode> members = new HashMap<>();

  /// `file` is null without the `orphan_file` feature.
  OrphanList(SuperblockStore superblock, Inodes inodes, Geometry geometry, OrphanFile file) {
    this.superblock = superblock;
    this.inodes = inodes;
    this.geometry = geometry;
    this.file = file;
  }

  /// Adds the inode, unless it is in already. Needs 2 credits.
  void add(Handle handle, Inode inode) throws IOException {
    lock.lock();
    try {
      if (inode.orphan) {
        return;
      }
      if (file == null || !file.add(handle, inode.ino())) {
        push(handle, inode);
      }
      inode.orphan = true;
      members.put(inode.ino(), inode);
    } finally {
      lock.unlock();
    }
  }

  private void push(Handle handle, Inode inode) throws IOException {
    RawInode.dtime(inode.raw, newest == null ? 0 : newest.ino);
    inodes.update(handle, inode, false);
    superblock.edit(handle, bytes -> Superblock.lastOrphan(bytes, inode.ino()));
    Link link = new Link(inode.ino(), inode);
    append(newest, link);
    newest = link;
  }

  private void append(Link older, Link newer) {
    newer.older = older;
    if (older != null) {
      older.newer = newer;
    }
    links.put(newer.ino, newer);
  }

  /// Removes the inode, if it is in. Needs 2 credits.
  void remove(Handle handle, Inode inode) throws IOException {
    lock.lock();
    try {
      if (!inode.orphan) {
        return;
      }
      Link link = links.get(inode.ino());
      if (link != null) {
        unlink(handle, link);
      } else {
        file.remove(handle, inode.ino());
      }
      inode.orphan = false;
      members.remove(inode.ino());
    } finally {
      lock.unlock();
    }
  }

  private void unlink(Handle handle, Link link) throws IOException {
    long next = link.older == null ? 0 : link.older.ino;
    if (link.newer == null) {
      superblock.edit(handle, bytes -> Superblock.lastOrphan(bytes, next));
      newest = link.older;
    } else {
      RawInode.dtime(link.newer.inode.raw, next);
      inodes.update(handle, link.newer.inode, false);
      link.newer.older = link.older;
    }
    if (link.older != null) {
      link.older.newer = link.newer;
    }
    links.remove(link.ino);
    RawInode.dtime(link.inode.raw, 0);
    inodes.update(handle, link.inode, false);
  }

  /// Lets the mount finish all orphans that are on disk. Returns how many there were. EUCLEAN if
  /// the list leads to an impossible inode or back to itself.
  int recover(Recovery recovery) throws IOException {
    List<Long> numbers = readList();
    if (file != null) {
      numbers.addAll(file.load());
    }
    for (long ino : numbers) {
      Inode inode = inodes.orphan(ino);
      lock.lock();
      try {
        inode.orphan = true;
        members.put(ino, inode);
        Link link = links.get(ino);
        if (link != null) {
          link.inode = inode;
        }
      } finally {
        lock.unlock();
      }
      recovery.finish(inode);
    }
    return numbers.size();
  }

  /// The list on disk, newest first, which is remembered.
  private List<Long> readList() throws IOException {
    List<Long> numbers = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    long before = 0;
    long ino = Superblock.lastOrphan(superblock.bytes());
    while (ino != 0) {
      if (ino < geometry.firstInode() || ino > geometry.inodesCount() || !seen.add(ino)) {
        throw new FsException(
            Errno.EUCLEAN,
            "the orphan list is corrupt: "
                + (before == 0 ? "the superblock" : "inode " + before)
                + (seen.contains(ino) ? " leads back to" : " names impossible")
                + " inode "
                + ino);
      }
      numbers.add(ino);
      before = ino;
      ino = RawInode.dtime(inodes.readRaw(ino));
    }
    Link older = null;
    for (int i = numbers.size() - 1; i >= 0; i--) {
      Link link = new Link(numbers.get(i), null);
      append(older, link);
      older = link;
    }
    newest = older;
    return numbers;
  }

  /// The orphans that have no names.
  List<Inode> withoutNames() {
    lock.lock();
    try {
      return members.values().stream()
          .filter(inode -> RawInode.linksCount(inode.raw) == 0)
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /// Clears the mark that says the orphan file may hold entries, if it holds none; for a clean
  /// unmount. Needs 1 credit.
  void settle(Handle handle) throws IOException {
    lock.lock();
    try {
      if (file != null) {
        file.settle(handle);
      }
    } finally {
      lock.unlock();
    }
  }
}
