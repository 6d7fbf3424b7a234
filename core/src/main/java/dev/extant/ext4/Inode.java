package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/// An inode in memory. There is at most one object per inode number and mount ([InodeTable]).
///
/// Lock order: `lock` of a directory, then `lock` of other inodes by ascending number, then a
/// journal handle, then `mapLock`, then locks of the allocators and caches. Nobody takes `lock`
/// while holding a handle.
public final class Inode implements Node {
  private final InodeTable table;
  private final long ino;
  private final FileType type;

  /// The inode's bytes, newest state. Changed only under `lock` (write), except the block map part,
  /// `i_blocks` and `i_flags`' map bits, which `mapLock` guards. Every change ends with
  /// [InodeTable#update] in the same handle.
  final MemorySegment raw;

  /// Guards the file's content, size, attributes, and, of a directory, its entries.
  final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  /// Guards the block map (extent tree). Taken inside handles.
  final ReentrantReadWriteLock mapLock = new ReentrantReadWriteLock();

  /// The transaction of the newest change of anything / of what reading the data back needs. 0:
  /// none since load.
  volatile long syncTid;

  volatile long datasyncTid;

  /// The directory that this one is known to have as its `..`; 0: not known.
  volatile long parentIno;

  /// References handed out; guarded by the inode table.
  int references;

  /// The inode is on the orphan list or in the orphan file; guarded by the orphan list.
  boolean orphan;

  /// State of the inode's data pages, created on first use by [FileData] under `lock`.
  volatile Object dataState;

  Inode(InodeTable table, long ino, MemorySegment raw) {
    this.table = table;
    this.ino = ino;
    this.raw = raw;
    this.type = FileType.ofMode(RawInode.mode(raw));
  }

  @Override
  public long ino() {
    return ino;
  }

  /// Null if the mode names no type (a corrupt inode, which the table refuses to hand out).
  @Override
  public FileType type() {
    return type;
  }

  boolean isDirectory() {
    return type == FileType.DIRECTORY;
  }

  /// True if i_block maps blocks (it holds data, a device number or a short link target otherwise).
  boolean mapsBlocks() {
    if (hasFlag(RawInode.EXT4_INLINE_DATA_FL)) {
      return false;
    }
    return switch (type) {
      case REGULAR, DIRECTORY -> true;
      case SYMLINK -> !Symlinks.inInode(raw);
      default -> false;
    };
  }

  boolean hasFlag(long flag) {
    return RawInode.hasFlag(raw, flag);
  }

  @Override
  public Inode retain() {
    table.retain(this);
    return this;
  }

  @Override
  public void close() {
    table.release(this);
  }
}
