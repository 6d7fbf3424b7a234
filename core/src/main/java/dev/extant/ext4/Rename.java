package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.RenameMode;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/// Renames, replaces and exchanges names atomically.
///
/// Locks: a rename between two directories, or of one directory over or with another, first takes
/// `treeLock`, so that the shape of the tree above it stands still; then the two directories, an
/// ancestor before its descendant; then the inodes that the names mean, directories before others,
/// each kind by ascending number.
///
/// Who does not hold `treeLock` locks at most one directory and one of its children, and every
/// chain of such waits leads downwards. The one holder may lock unrelated directories in any order:
/// a circle through it would need a second one.
final class Rename {
  private final Mount mount;
  private final Namespace namespace;
  private final ReentrantLock treeLock = new ReentrantLock();

  Rename(Mount mount, Namespace namespace) {
    this.mount = mount;
    this.namespace = namespace;
  }

  void rename(Inode from, FileName fromName, Inode to, FileName toName, RenameMode mode)
      throws IOException {
    Namespace.checkDirectory(from);
    Namespace.checkDirectory(to);
    if (fromName.isDot() || fromName.isDotDot() || toName.isDot() || toName.isDotDot()) {
      throw new FsException(Errno.EBUSY, "cannot rename . or ..");
    }
    Namespace.checkLength(fromName);
    Namespace.checkLength(toName);
    if (mode != RenameMode.EXCHANGE) {
      Namespace.checkNew(toName);
    }
    Names names = new Names(from, fromName, to, toName, mode);
    if (from == to) {
      boolean done;
      try {
        done = withinDirectory(names, false);
      } finally {
        names.release();
      }
      if (done) {
        return;
      }
    }
    treeLock.lock();
    try {
      if (from == to) {
        withinDirectory(names, true);
      } else {
        betweenDirectories(names);
      }
    } finally {
      treeLock.unlock();
      names.release();
    }
  }

  /// False, and nothing was done, if this needs the `treeLock` that is not held.
  private boolean withinDirectory(Names names, boolean treeLocked) throws IOException {
    names.from.lock.writeLock().lock();
    try {
      find(names);
      boolean twoDirectories =
          names.target != null && names.source.isDirectory() && names.target.isDirectory();
      if (twoDirectories && !treeLocked) {
        return false;
      }
      withInodes(names, 0, 0);
      return true;
    } finally {
      names.from.lock.writeLock().unlock();
    }
  }

  /// What is renamed; `source` and `target` are found under the directories' locks and retained
  /// until [#release].
  private static final class Names {
    final Inode from;
    final FileName fromName;
    final Inode to;
    final FileName toName;
    final RenameMode mode;
    Inode source;
    Inode target;

    Names(Inode from, FileName fromName, Inode to, FileName toName, RenameMode mode) {
      this.from = from;
      this.fromName = fromName;
      this.to = to;
      this.toName = toName;
      this.mode = mode;
    }

    void release() {
      Inode first = source;
      Inode second = target;
      source = null;
      target = null;
      Namespace.release(first);
      Namespace.release(second);
    }
  }

  private void betweenDirectories(Names names) throws IOException {
    long fromBelowTo = childTowards(names.to, names.from);
    long toBelowFrom = childTowards(names.from, names.to);
    Inode first = fromBelowTo != 0 ? names.to : names.from;
    Inode second = first == names.to ? names.from : names.to;
    first.lock.writeLock().lock();
    second.lock.writeLock().lock();
    try {
      find(names);
      withInodes(names, toBelowFrom, fromBelowTo);
    } finally {
      second.lock.writeLock().unlock();
      first.lock.writeLock().unlock();
    }
  }

  /// The child of `ancestor` on the way down to `descendant`, or 0 if it is not above it.
  /// `treeLock` is held.
  private long childTowards(Inode ancestor, Inode descendant) throws IOException {
    Inode child = descendant.retain();
    try {
      for (int depth = 0; depth < 1 << 20; depth++) {
        if (child == ancestor || child.ino() == Mount.ROOT_INO) {
          return 0;
        }
        Inode parent = parentOf(child);
        if (parent == ancestor || parent == child) {
          parent.close();
          return parent == child ? 0 : child.ino();
        }
        child.close();
        child = parent;
      }
    } finally {
      child.close();
    }
    throw new FsException(
        Errno.EUCLEAN, "directories above inode " + descendant.ino() + " form a circle");
  }

  /// The directory above, retained. It is fetched under the child's lock: as long as the child has
  /// its name the parent cannot be removed.
  private Inode parentOf(Inode child) throws IOException {
    child.lock.readLock().lock();
    try {
      Namespace.checkAlive(child);
      DirectoryEntry entry = mount.directories.lookup(child, FileName.of(".."));
      if (entry == null) {
        throw new FsException(Errno.EUCLEAN, "directory with inode " + child.ino() + " has no ..");
      }
      Inode parent = mount.inodes.get(entry.ino());
      if (!parent.isDirectory()) {
        parent.close();
        throw new FsException(
            Errno.EUCLEAN, "directory with inode " + child.ino() + " has a file as its ..");
      }
      return parent;
    } finally {
      child.lock.readLock().unlock();
    }
  }

  /// Finds what the names mean. The directories' locks are held.
  private void find(Names names) throws IOException {
    Namespace.checkAlive(names.to);
    names.source = namespace.existing(names.from, names.fromName);
    DirectoryEntry existing = mount.directories.lookup(names.to, names.toName);
    if (existing != null) {
      names.target = namespace.child(names.to, names.toName, existing);
    }
  }

  /// `sourceTrap`: the directory in `from` that contains `to`, which must not be moved below
  /// itself; `targetTrap`: the one in `to` that contains `from`, which cannot be empty.
  private void withInodes(Names names, long sourceTrap, long targetTrap) throws IOException {
    checkMode(names);
    if (names.source.ino() == sourceTrap) {
      throw new FsException(
          Errno.EINVAL, "cannot move a directory below itself: " + names.fromName);
    }
    if (names.target != null && names.target.ino() == targetTrap) {
      throw names.mode == RenameMode.EXCHANGE
          ? new FsException(Errno.EINVAL, "cannot move a directory below itself: " + names.toName)
          : new FsException(Errno.ENOTEMPTY, "directory not empty: " + names.toName);
    }
    if (names.source == names.target) {
      return;
    }
    Inode first = names.source;
    Inode second = names.target;
    if (second != null && before(second, first)) {
      first = names.target;
      second = names.source;
    }
    first.lock.writeLock().lock();
    try {
      if (second != null) {
        second.lock.writeLock().lock();
      }
      try {
        change(names);
      } finally {
        if (second != null) {
          second.lock.writeLock().unlock();
        }
      }
    } finally {
      first.lock.writeLock().unlock();
    }
  }

  private static boolean before(Inode a, Inode b) {
    if (a.isDirectory() != b.isDirectory()) {
      return a.isDirectory();
    }
    return a.ino() < b.ino();
  }

  private void checkMode(Names names) throws FsException {
    if (names.mode == RenameMode.NO_REPLACE && names.target != null) {
      throw new FsException(Errno.EEXIST, "file exists: " + names.toName);
    }
    if (names.mode == RenameMode.EXCHANGE && names.target == null) {
      throw new FsException(Errno.ENOENT, "no such file or directory: " + names.toName);
    }
  }

  private void change(Names names) throws IOException {
    if (names.mode == RenameMode.EXCHANGE) {
      exchange(names);
      return;
    }
    Inode source = names.source;
    Inode target = names.target;
    boolean across = names.from != names.to;
    if (target != null) {
      checkReplaceable(names);
    } else if (source.isDirectory() && across) {
      mount.links.checkRoom(names.to);
    }
    int credits = mount.directories.addCredits(names.to) + 6 * Credits.INODE + 2 + Credits.ORPHAN;
    mount.retryWhenFull(
        credits,
        handle -> {
          if (target == null) {
            mount.directories.add(handle, names.to, names.toName, source.ino(), source.type());
          } else {
            mount.directories.replace(handle, names.to, names.toName, source.ino(), source.type());
          }
          mount.directories.remove(handle, names.from, names.fromName);
          mount.syncs.renamed(handle, source);
          if (source.isDirectory() && across) {
            mount.directories.setParent(handle, source, names.to.ino());
            mount.links.drop(names.from);
            mount.links.add(names.to);
          }
          if (target != null) {
            dropTarget(handle, names.to, target);
          }
          RawInode.changed(source.raw, mount.now());
          mount.inodes.update(handle, source, true);
          namespace.touch(handle, names.from);
          namespace.touch(handle, names.to);
          return null;
        });
  }

  private void checkReplaceable(Names names) throws IOException {
    Inode target = names.target;
    if (names.source.isDirectory() && !target.isDirectory()) {
      throw new FsException(Errno.ENOTDIR, "not a directory: " + names.toName);
    }
    if (!names.source.isDirectory() && target.isDirectory()) {
      throw new FsException(Errno.EISDIR, "is a directory: " + names.toName);
    }
    if (target.isDirectory() && !mount.directories.isEmpty(target)) {
      throw new FsException(Errno.ENOTEMPTY, "directory not empty: " + names.toName);
    }
  }

  private void dropTarget(Handle handle, Inode directory, Inode target) throws IOException {
    if (target.isDirectory()) {
      namespace.dropDirectory(handle, target);
      mount.links.drop(directory);
    } else {
      namespace.dropName(handle, target);
    }
  }

  private void exchange(Names names) throws IOException {
    Inode source = names.source;
    Inode target = names.target;
    boolean across = names.from != names.to;
    if (across && source.isDirectory() && !target.isDirectory()) {
      mount.links.checkRoom(names.to);
    }
    if (across && target.isDirectory() && !source.isDirectory()) {
      mount.links.checkRoom(names.from);
    }
    try (Handle handle = mount.start(8 + 4 * Credits.INODE)) {
      mount.directories.replace(handle, names.to, names.toName, source.ino(), source.type());
      mount.directories.replace(handle, names.from, names.fromName, target.ino(), target.type());
      mount.syncs.renamed(handle, source);
      mount.syncs.renamed(handle, target);
      if (across) {
        moved(handle, source, names.from, names.to);
        moved(handle, target, names.to, names.from);
      }
      RawInode.changed(source.raw, mount.now());
      RawInode.changed(target.raw, mount.now());
      mount.inodes.update(handle, source, true);
      mount.inodes.update(handle, target, true);
      namespace.touch(handle, names.from);
      namespace.touch(handle, names.to);
    }
  }

  private void moved(Handle handle, Inode inode, Inode from, Inode to) throws IOException {
    if (inode.isDirectory()) {
      mount.directories.setParent(handle, inode, to.ino());
      mount.links.drop(from);
      mount.links.add(to);
    }
  }
}
