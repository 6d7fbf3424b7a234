package dev.extant.testkit;

import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/// A volume in memory that does what POSIX says and nothing else: the model that real volumes are
/// compared with, and something to test fronts on.
///
/// It is a tree of [MemoryInode]s under one lock. What a real file system is free in differs, and
/// is not to be compared: inode numbers, the order of directory entries, the size of directories
/// (always 4096 here) and the space files occupy. A truncate sets the times even when the size
/// stays.
public final class MemoryVolume implements Volume {
  public static final long DEFAULT_CAPACITY_BYTES = 1L << 30;

  private static final int MAX_TARGET_BYTES = 4095;
  public static final long DEFAULT_MAX_FILE_BYTES = ((1L << 32) - 1) * SparseBytes.BLOCK_BYTES;
  private static final long ROOT_INO = 2;
  private static final int BATCH = 256;

  private final long maxFileBytes;
  private final MountOptions options;
  private final MemoryTimes times;
  private final MemoryTree tree;
  private final MemoryXattrs xattrs;
  private final long totalBlocks;

  /// Guards all below and every inode.
  private final ReentrantLock lock = new ReentrantLock();

  private final MemoryInode root;
  private long lastIno = 10;
  private long inodes = 1;
  private long usedBlocks;
  private long references;
  private boolean closed;

  public MemoryVolume() {
    this(MountOptions.defaults(), DEFAULT_CAPACITY_BYTES);
  }

  /// Of the options `readOnly`, `accessTime` and `clock` count. The capacity bounds the data of
  /// files, in blocks of 4096 bytes.
  public MemoryVolume(MountOptions options, long capacityBytes) {
    this(options, capacityBytes, DEFAULT_MAX_FILE_BYTES);
  }

  /// The same with a size that no file exceeds.
  public MemoryVolume(MountOptions options, long capacityBytes, long maxFileBytes) {
    this.options = options;
    this.maxFileBytes = maxFileBytes;
    this.times = new MemoryTimes(options);
    this.tree = new MemoryTree(times);
    this.xattrs = new MemoryXattrs(times);
    this.totalBlocks = capacityBytes / SparseBytes.BLOCK_BYTES;
    this.root = inode(ROOT_INO, FileType.DIRECTORY, new NewFile(0755, 0, 0));
    root.parent = root;
    root.nlink = 2;
  }

  /// How many references to inodes are not closed.
  public long openReferences() {
    lock.lock();
    try {
      return references;
    } finally {
      lock.unlock();
    }
  }

  @FunctionalInterface
  private interface Body<T> {
    T run() throws FsException;
  }

  private <T> T reading(Body<T> body) throws FsException {
    lock.lock();
    try {
      if (closed) {
        throw new FsException(Errno.EBADF, "the volume is closed");
      }
      return body.run();
    } finally {
      lock.unlock();
    }
  }

  private <T> T changing(Body<T> body) throws FsException {
    return reading(
        () -> {
          if (options.readOnly()) {
            throw new FsException(Errno.EROFS, "the volume is read-only");
          }
          return body.run();
        });
  }

  private MemoryInode inode(Node node) {
    if (node instanceof MemoryNode memory && memory.volume() == this) {
      return memory.inode();
    }
    throw new IllegalArgumentException("a node of another volume: " + node);
  }

  private MemoryInode directory(Node node) throws FsException {
    MemoryInode inode = inode(node);
    if (!inode.isDirectory()) {
      throw new FsException(Errno.ENOTDIR, "inode " + inode.ino + " is not a directory");
    }
    return inode;
  }

  private MemoryInode regular(Node node) throws FsException {
    MemoryInode inode = inode(node);
    if (inode.type != FileType.REGULAR) {
      Errno errno = inode.isDirectory() ? Errno.EISDIR : Errno.EINVAL;
      throw new FsException(errno, "inode " + inode.ino + " is not a regular file");
    }
    return inode;
  }

  private MemoryInode inode(long ino, FileType type, NewFile file) {
    MemoryInode inode = new MemoryInode(ino, type);
    inode.permissions = file.permissions() & 07777;
    inode.uid = file.uid();
    inode.gid = file.gid();
    times.create(inode);
    return inode;
  }

  /// Needs no lock held by the caller.
  Node retain(MemoryInode inode) {
    lock.lock();
    try {
      inode.references++;
      references++;
      return new MemoryNode(this, inode);
    } finally {
      lock.unlock();
    }
  }

  void release(MemoryInode inode) {
    lock.lock();
    try {
      inode.references--;
      references--;
      freeIfUnused(inode);
    } finally {
      lock.unlock();
    }
  }

  private void freeIfUnused(MemoryInode inode) {
    if (inode.references == 0 && inode.nlink == 0) {
      usedBlocks -= inode.contents.blockCount();
      inode.contents.truncate(0);
      inodes--;
    }
  }

  @Override
  public boolean readOnly() {
    return options.readOnly();
  }

  @Override
  public Node root() throws FsException {
    return reading(() -> retain(root));
  }

  @Override
  public Node lookup(Node node, FileName name) throws FsException {
    return reading(
        () -> {
          MemoryInode directory = directory(node);
          if (directory.isRemoved() && (name.isDot() || name.isDotDot())) {
            throw new FsException(Errno.ENOENT, "inode " + directory.ino + " was removed");
          }
          if (name.isDot()) {
            return retain(directory);
          }
          return retain(name.isDotDot() ? directory.parent : MemoryTree.existing(directory, name));
        });
  }

  private MemoryInode make(Node directory, FileName name, FileType type, NewFile file)
      throws FsException {
    MemoryInode inode = inode(lastIno + 1, type, file);
    tree.add(directory(directory), name, inode);
    xattrs.inherit(directory(directory), inode);
    lastIno++;
    inodes++;
    return inode;
  }

  @Override
  public Node create(Node directory, FileName name, NewFile file) throws FsException {
    return changing(() -> retain(make(directory, name, FileType.REGULAR, file)));
  }

  @Override
  public Node mkdir(Node directory, FileName name, NewFile file) throws FsException {
    return changing(() -> retain(make(directory, name, FileType.DIRECTORY, file)));
  }

  @Override
  public Node symlink(Node directory, FileName name, byte[] target, NewFile file)
      throws FsException {
    return changing(
        () -> {
          if (target.length == 0) {
            throw new FsException(Errno.ENOENT, "an empty symbolic link");
          }
          if (target.length > MAX_TARGET_BYTES) {
            throw new FsException(Errno.ENAMETOOLONG, "a target of " + target.length + " bytes");
          }
          MemoryInode link = make(directory, name, FileType.SYMLINK, file);
          link.target = target.clone();
          return retain(link);
        });
  }

  @Override
  public Node mknod(Node directory, FileName name, FileType type, long rdev, NewFile file)
      throws FsException {
    return changing(
        () -> {
          switch (type) {
            case REGULAR, DIRECTORY, SYMLINK ->
                throw new FsException(Errno.EINVAL, "mknod of a " + type);
            default -> {
              MemoryInode inode = make(directory, name, type, file);
              inode.rdev = rdev;
              return retain(inode);
            }
          }
        });
  }

  @Override
  public void link(Node target, Node directory, FileName name) throws FsException {
    changing(
        () -> {
          tree.link(inode(target), directory(directory), name);
          return null;
        });
  }

  @Override
  public void unlink(Node directory, FileName name) throws FsException {
    changing(
        () -> {
          freeIfUnused(tree.unlink(directory(directory), name));
          return null;
        });
  }

  @Override
  public void rmdir(Node directory, FileName name) throws FsException {
    changing(
        () -> {
          freeIfUnused(tree.rmdir(directory(directory), name));
          return null;
        });
  }

  @Override
  public void rename(
      Node fromDirectory, FileName from, Node toDirectory, FileName to, RenameMode mode)
      throws FsException {
    changing(
        () -> {
          MemoryInode replaced =
              tree.rename(directory(fromDirectory), from, directory(toDirectory), to, mode);
          if (replaced != null) {
            freeIfUnused(replaced);
          }
          return null;
        });
  }

  @Override
  public byte[] readlink(Node symlink) throws FsException {
    return reading(
        () -> {
          MemoryInode inode = inode(symlink);
          if (inode.type != FileType.SYMLINK) {
            throw new FsException(Errno.EINVAL, "inode " + inode.ino + " is no symbolic link");
          }
          times.access(inode);
          return inode.target.clone();
        });
  }

  @Override
  public Attributes attributes(Node node) throws FsException {
    return reading(
        () -> {
          MemoryInode inode = inode(node);
          long size =
              switch (inode.type) {
                case DIRECTORY -> SparseBytes.BLOCK_BYTES;
                case SYMLINK -> inode.target.length;
                default -> inode.contents.sizeBytes();
              };
          return new Attributes(
              inode.ino,
              0,
              inode.type,
              inode.type.modeBits() | inode.permissions,
              inode.nlink,
              inode.uid,
              inode.gid,
              size,
              inode.contents.blockCount() * SparseBytes.BLOCK_BYTES,
              SparseBytes.BLOCK_BYTES,
              inode.rdev,
              new FileTimes(inode.accessed, inode.modified, inode.changed, inode.created));
        });
  }

  @Override
  public void setAttributes(Node node, AttributeChange change) throws FsException {
    changing(
        () -> {
          MemoryInode inode = inode(node);
          if (change.permissions() != null) {
            inode.permissions = change.permissions() & 07777;
            xattrs.permissionsChanged(inode);
          }
          inode.uid = change.uid() == null ? inode.uid : change.uid();
          inode.gid = change.gid() == null ? inode.gid : change.gid();
          times.set(inode, change);
          return null;
        });
  }

  @Override
  public int read(Node file, long offset, MemorySegment target) throws FsException {
    return reading(
        () -> {
          MemoryInode inode = regular(file);
          requireOffset(offset);
          if (target.byteSize() > 0) {
            times.access(inode);
          }
          return inode.contents.read(offset, target);
        });
  }

  private static void requireOffset(long offset) throws FsException {
    if (offset < 0) {
      throw new FsException(Errno.EINVAL, "a negative offset");
    }
  }

  @Override
  public int write(Node file, long offset, MemorySegment source) throws FsException {
    return changing(
        () -> {
          MemoryInode inode = regular(file);
          requireOffset(offset);
          long wanted = Math.min(source.byteSize(), Integer.MAX_VALUE);
          return (int) write(inode, offset, source.asSlice(0, wanted), 1);
        });
  }

  /// Writes what there is room for, which must be `least` bytes at least unless nothing is given.
  private long write(MemoryInode inode, long offset, MemorySegment source, long least)
      throws FsException {
    if (source.byteSize() == 0) {
      return 0;
    }
    long allowed = Math.min(source.byteSize(), maxFileBytes - offset);
    if (allowed < least) {
      throw new FsException(Errno.EFBIG, "inode " + inode.ino + " would be too large");
    }
    long before = inode.contents.blockCount();
    long count = inode.contents.writable(offset, allowed, totalBlocks - usedBlocks);
    if (count < least) {
      throw new FsException(Errno.ENOSPC, "all " + totalBlocks + " blocks are in use");
    }
    inode.contents.write(offset, source.asSlice(0, count));
    usedBlocks += inode.contents.blockCount() - before;
    times.modify(inode);
    return count;
  }

  @Override
  public long append(Node file, MemorySegment source) throws FsException {
    return changing(
        () -> {
          MemoryInode inode = regular(file);
          long offset = inode.contents.sizeBytes();
          write(inode, offset, source, source.byteSize());
          return offset;
        });
  }

  @Override
  public void truncate(Node file, long sizeBytes) throws FsException {
    changing(
        () -> {
          MemoryInode inode = regular(file);
          requireOffset(sizeBytes);
          if (sizeBytes > maxFileBytes) {
            throw new FsException(Errno.EFBIG, "inode " + inode.ino + " would be too large");
          }
          usedBlocks -= inode.contents.blockCount();
          inode.contents.truncate(sizeBytes);
          usedBlocks += inode.contents.blockCount();
          times.modify(inode);
          return null;
        });
  }

  /// The visitor runs without the lock.
  @Override
  public void readDirectory(Node node, long cookie, DirectoryVisitor visitor) throws FsException {
    long last = cookie;
    while (true) {
      List<MemoryInode.Entry> batch = entries(node, last);
      for (MemoryInode.Entry entry : batch) {
        MemoryInode inode = entry.inode();
        last = entry.cookie();
        if (!visitor.entry(entry.name(), inode.ino, inode.type, last)) {
          return;
        }
      }
      if (batch.size() < BATCH) {
        return;
      }
    }
  }

  private List<MemoryInode.Entry> entries(Node node, long cookie) throws FsException {
    return reading(
        () -> {
          MemoryInode directory = directory(node);
          times.access(directory);
          List<MemoryInode.Entry> entries = new ArrayList<>();
          MemoryInode.Entry entry = directory.after(cookie);
          while (entry != null && entries.size() < BATCH) {
            entries.add(entry);
            entry = directory.after(entry.cookie());
          }
          return entries;
        });
  }

  @Override
  public CompletableFuture<Void> fsync(Node node, boolean dataOnly) {
    try {
      return reading(
          () -> {
            inode(node);
            return CompletableFuture.completedFuture(null);
          });
    } catch (FsException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void sync() throws FsException {
    reading(() -> null);
  }

  @Override
  public VolumeStatistics statistics() throws FsException {
    return reading(
        () ->
            new VolumeStatistics(
                SparseBytes.BLOCK_BYTES,
                totalBlocks,
                totalBlocks - usedBlocks,
                totalBlocks - usedBlocks,
                Integer.MAX_VALUE,
                Integer.MAX_VALUE - inodes,
                "",
                "00000000-0000-0000-0000-000000000000"));
  }

  @Override
  public long seekData(Node file, long offset) throws FsException {
    return reading(
        () -> {
          requireOffset(offset);
          return regular(file).contents.nextData(offset);
        });
  }

  @Override
  public long seekHole(Node file, long offset) throws FsException {
    return reading(
        () -> {
          requireOffset(offset);
          return regular(file).contents.nextHole(offset);
        });
  }

  @Override
  public void allocate(Node file, AllocateMode mode, long offset, long lengthBytes)
      throws FsException {
    changing(
        () -> {
          MemoryInode inode = regular(file);
          long before = inode.contents.blockCount();
          MemoryRanges.allocate(inode.contents, mode, offset, lengthBytes, maxFileBytes);
          usedBlocks += inode.contents.blockCount() - before;
          times.modify(inode);
          return null;
        });
  }

  @Override
  public List<XattrName> xattrs(Node node) throws FsException {
    return reading(() -> xattrs.names(inode(node)));
  }

  @Override
  public byte[] xattr(Node node, XattrName name) throws FsException {
    return reading(() -> xattrs.get(inode(node), name));
  }

  @Override
  public void setXattr(Node node, XattrName name, byte[] value, XattrMode mode) throws FsException {
    changing(
        () -> {
          xattrs.set(inode(node), name, value, mode);
          return null;
        });
  }

  @Override
  public void removeXattr(Node node, XattrName name) throws FsException {
    changing(
        () -> {
          xattrs.remove(inode(node), name);
          return null;
        });
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }
}
