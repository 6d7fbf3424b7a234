package dev.extant.ext4;

import dev.extant.ext4.AttributeStore.Change;
import dev.extant.ext4.AttributeStore.Placed;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// Names come and go: creating, linking and removing. Renaming is [Rename]'s.
///
/// Each operation is: lock the directory (and the inode), check everything that can be refused,
/// open one handle, change. What can still fail inside the handle (a full disk) comes first or is
/// undone within it: a new inode that got no name becomes an orphan and is freed by its last
/// release.
final class Namespace {
  private final Mount mount;

  Namespace(Mount mount) {
    this.mount = mount;
  }

  Inode lookup(Inode directory, FileName name) throws IOException {
    checkDirectory(directory);
    checkLength(name);
    DirectoryEntry entry;
    directory.lock.readLock().lock();
    try {
      checkAlive(directory);
      entry = mount.directories.lookup(directory, name);
      if (entry != null) {
        return child(directory, name, entry);
      }
    } finally {
      directory.lock.readLock().unlock();
    }
    throw new FsException(Errno.ENOENT, "no such file or directory: " + name);
  }

  Inode create(Inode directory, FileName name, FileType type, NewFile file) throws IOException {
    return make(directory, name, type, file, (handle, inode) -> {}, 0);
  }

  Inode mknod(Inode directory, FileName name, FileType type, long rdev, NewFile file)
      throws IOException {
    boolean device = type == FileType.CHARACTER_DEVICE || type == FileType.BLOCK_DEVICE;
    Filler filler =
        device ? (handle, inode) -> NewInodes.deviceNumber(inode.raw, rdev) : (handle, inode) -> {};
    return make(directory, name, type, file, filler, 0);
  }

  Inode symlink(Inode directory, FileName name, byte[] target, NewFile file) throws IOException {
    int blockSize = mount.geometry.blockSizeBytes();
    if (target.length == 0) {
      throw new FsException(Errno.ENOENT, "a symbolic link needs a target: " + name);
    }
    for (byte b : target) {
      if (b == 0) {
        throw new FsException(
            Errno.EINVAL, "the target of symbolic link " + name + " must not contain NUL");
      }
    }
    if (target.length >= blockSize) {
      throw new FsException(
          Errno.ENAMETOOLONG, "the target of symbolic link " + name + " is too long");
    }
    return make(
        directory,
        name,
        FileType.SYMLINK,
        file,
        (handle, inode) -> mount.symlinks.store(handle, inode, target),
        mount.symlinks.credits(target.length));
  }

  Inode mkdir(Inode directory, FileName name, NewFile file) throws IOException {
    return make(
        directory,
        name,
        FileType.DIRECTORY,
        file,
        (handle, inode) -> mount.directories.initialise(handle, inode, directory.ino()),
        mount.directories.initialiseCredits());
  }

  /// Fills a new inode within the handle that makes it.
  private interface Filler {
    void fill(Handle handle, Inode inode) throws IOException;
  }

  private Inode make(
      Inode directory, FileName name, FileType type, NewFile file, Filler filler, int fillCredits)
      throws IOException {
    checkDirectory(directory);
    checkNew(name);
    try (HeldInodes held = new HeldInodes()) {
      directory.lock.writeLock().lock();
      try {
        checkAlive(directory);
        checkFree(directory, name);
        if (type == FileType.DIRECTORY) {
          mount.links.checkRoom(directory);
        }
        Acls.Inheritance inheritance = mount.acls.inherit(directory, type, file, held);
        Change attributes = mount.attributes.prepare(Placed.NONE, inheritance.placed(), held);
        int credits =
            Credits.ALLOCATE_INODE
                + Credits.ORPHAN
                + 2 * Credits.INODE
                + fillCredits
                + attributes.credits()
                + mount.directories.addCredits(directory);
        return mount.retryWhenFull(
            credits,
            handle -> {
              Inode inode = allocate(handle, directory, type, file, inheritance.permissions());
              try {
                mount.attributes.apply(handle, inode, attributes);
                filler.fill(handle, inode);
                mount.directories.add(handle, directory, name, inode.ino(), type);
              } catch (IOException e) {
                undo(handle, inode, e);
                throw new Mount.Undone(inode, e);
              }
              addToParent(handle, directory, inode);
              return inode;
            });
      } finally {
        directory.lock.writeLock().unlock();
      }
    }
  }

  private void addToParent(Handle handle, Inode directory, Inode inode) throws IOException {
    mount.inodes.update(handle, inode, true);
    if (inode.isDirectory()) {
      mount.links.add(directory);
    }
    touch(handle, directory);
  }

  /// The new inode becomes an orphan. If that fails too, the journal is aborted and nothing of this
  /// reaches the disk.
  private void undo(Handle handle, Inode inode, IOException reason) {
    RawInode.linksCount(inode.raw, 0);
    try {
      mount.orphans.add(handle, inode);
      mount.inodes.update(handle, inode, true);
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
  }

  /// `inherited` are the permissions that a default ACL leaves; setuid, setgid and sticky bit are
  /// not its business.
  private Inode allocate(Handle handle, Inode directory, FileType type, NewFile file, int inherited)
      throws IOException {
    int links = type == FileType.DIRECTORY ? 2 : 1;
    long ino =
        mount.inodeAllocator.allocate(handle, directory, type.modeBits() | file.permissions());
    MemorySegment raw =
        mount.newInodes.prepare(
            directory, type, file, links, mount.inodeAllocator.nextGeneration(), mount.now());
    RawInode.mode(raw, RawInode.mode(raw) & ~0777 | inherited & 0777);
    return mount.inodes.create(handle, ino, raw);
  }

  void link(Inode target, Inode directory, FileName name) throws IOException {
    checkDirectory(directory);
    checkNew(name);
    directory.lock.writeLock().lock();
    try {
      checkAlive(directory);
      checkFree(directory, name);
      if (target.isDirectory()) {
        throw new FsException(Errno.EPERM, "a directory cannot have a second name: " + name);
      }
      target.lock.writeLock().lock();
      try {
        linkLocked(target, directory, name);
      } finally {
        target.lock.writeLock().unlock();
      }
    } finally {
      directory.lock.writeLock().unlock();
    }
  }

  private void linkLocked(Inode target, Inode directory, FileName name) throws IOException {
    if (RawInode.linksCount(target.raw) == 0) {
      throw new FsException(Errno.ENOENT, "inode " + target.ino() + " is deleted already");
    }
    mount.links.checkRoom(target);
    mount.retryWhenFull(
        2 * Credits.INODE + mount.directories.addCredits(directory),
        handle -> {
          mount.directories.add(handle, directory, name, target.ino(), target.type());
          mount.links.add(target);
          RawInode.changed(target.raw, mount.now());
          mount.inodes.update(handle, target, true);
          touch(handle, directory);
          return null;
        });
  }

  void unlink(Inode directory, FileName name) throws IOException {
    checkDirectory(directory);
    checkLength(name);
    if (name.isDot() || name.isDotDot()) {
      throw new FsException(Errno.EISDIR, "is a directory: " + name);
    }
    Inode victim = null;
    directory.lock.writeLock().lock();
    try {
      victim = existing(directory, name);
      unlinkLocked(directory, name, victim);
    } finally {
      directory.lock.writeLock().unlock();
      release(victim);
    }
  }

  private void unlinkLocked(Inode directory, FileName name, Inode inode) throws IOException {
    if (inode.isDirectory()) {
      throw new FsException(Errno.EISDIR, "is a directory: " + name);
    }
    inode.lock.writeLock().lock();
    try (Handle handle = mount.start(Credits.REMOVE_NAME + Credits.ORPHAN)) {
      mount.directories.remove(handle, directory, name);
      dropName(handle, inode);
      touch(handle, directory);
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  /// Freeing a large file takes long: release victims after the directory's lock.
  static void release(Inode victim) {
    if (victim != null) {
      victim.close();
    }
  }

  void rmdir(Inode directory, FileName name) throws IOException {
    checkDirectory(directory);
    checkLength(name);
    if (name.isDot()) {
      throw new FsException(Errno.EINVAL, "cannot remove .");
    }
    if (name.isDotDot()) {
      throw new FsException(Errno.ENOTEMPTY, "cannot remove ..");
    }
    Inode victim = null;
    directory.lock.writeLock().lock();
    try {
      victim = existing(directory, name);
      rmdirLocked(directory, name, victim);
    } finally {
      directory.lock.writeLock().unlock();
      release(victim);
    }
  }

  private void rmdirLocked(Inode directory, FileName name, Inode inode) throws IOException {
    if (!inode.isDirectory()) {
      throw new FsException(Errno.ENOTDIR, "not a directory: " + name);
    }
    inode.lock.writeLock().lock();
    try {
      if (!mount.directories.isEmpty(inode)) {
        throw new FsException(Errno.ENOTEMPTY, "directory not empty: " + name);
      }
      try (Handle handle = mount.start(Credits.REMOVE_NAME + Credits.ORPHAN)) {
        mount.directories.remove(handle, directory, name);
        dropDirectory(handle, inode);
        mount.links.drop(directory);
        touch(handle, directory);
      }
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  /// One name of a file less; without names it becomes an orphan. The caller holds its lock.
  void dropName(Handle handle, Inode inode) throws IOException {
    mount.links.drop(inode);
    RawInode.changed(inode.raw, mount.now());
    if (RawInode.linksCount(inode.raw) == 0) {
      mount.orphans.add(handle, inode);
    }
    mount.inodes.update(handle, inode, true);
  }

  /// An empty directory loses its name. The caller holds its lock.
  void dropDirectory(Handle handle, Inode inode) throws IOException {
    RawInode.linksCount(inode.raw, 0);
    RawInode.size(inode.raw, 0);
    RawInode.changed(inode.raw, mount.now());
    mount.orphans.add(handle, inode);
    mount.inodes.update(handle, inode, true);
  }

  /// The directory's content changed.
  void touch(Handle handle, Inode directory) throws IOException {
    Instant now = mount.now();
    RawInode.modified(directory.raw, now);
    RawInode.changed(directory.raw, now);
    mount.inodes.update(handle, directory, true);
  }

  /// The inode behind a name, retained; ENOENT. The caller holds the directory's lock.
  Inode existing(Inode directory, FileName name) throws IOException {
    checkAlive(directory);
    DirectoryEntry entry = mount.directories.lookup(directory, name);
    if (entry == null) {
      throw new FsException(Errno.ENOENT, "no such file or directory: " + name);
    }
    return child(directory, name, entry);
  }

  /// The inode that an entry of the directory means, retained. The directory's lock is held.
  Inode child(Inode directory, FileName name, DirectoryEntry entry) throws IOException {
    Inode inode = mount.inodes.get(entry.ino());
    if (inode.isDirectory() && !name.isDot() && !name.isDotDot()) {
      try {
        mount.directories.checkParent(directory, inode);
      } catch (IOException e) {
        inode.close();
        throw e;
      }
    }
    return inode;
  }

  private void checkFree(Inode directory, FileName name) throws IOException {
    if (mount.directories.lookup(directory, name) != null) {
      throw new FsException(Errno.EEXIST, "file exists: " + name);
    }
  }

  static void checkDirectory(Inode inode) throws FsException {
    if (!inode.isDirectory()) {
      throw new FsException(Errno.ENOTDIR, "inode " + inode.ino() + " is not a directory");
    }
  }

  /// A directory that was removed while it was open takes no names and has none.
  static void checkAlive(Inode directory) throws FsException {
    if (RawInode.linksCount(directory.raw) == 0) {
      throw new FsException(
          Errno.ENOENT, "directory with inode " + directory.ino() + " was removed");
    }
  }

  static void checkLength(FileName name) throws FsException {
    if (name.length() > 255) {
      throw new FsException(Errno.ENAMETOOLONG, "file name too long: " + name);
    }
    if (name.length() == 0) {
      throw new FsException(Errno.ENOENT, "a file name is empty");
    }
  }

  static void checkNew(FileName name) throws FsException {
    checkLength(name);
    if (name.isDot() || name.isDotDot()) {
      throw new FsException(Errno.EEXIST, "file exists: " + name);
    }
    for (int i = 0; i < name.length(); i++) {
      if (name.byteAt(i) == '/' || name.byteAt(i) == 0) {
        throw new FsException(Errno.EINVAL, "a file name must not contain / or NUL: " + name);
      }
    }
  }
}
