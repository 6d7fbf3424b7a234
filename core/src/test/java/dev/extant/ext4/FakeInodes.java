package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// Inodes whose "table on disk" is a map of byte arrays.
final class FakeInodes implements InodeTable {
  private final Map<Long, byte[]> stored = new HashMap<>();

  /// A regular file of 256-byte inodes with an empty extent tree.
  Inode newFile(long ino) {
    Inode inode = newFileWithPointers(ino);
    ExtentTree.initialise(inode.raw);
    return inode;
  }

  /// The same with block pointers, none of which is in use.
  Inode newFileWithPointers(long ino) {
    MemorySegment raw = Arena.ofAuto().allocate(256, 8);
    RawInode.mode(raw, 0x81A4);
    RawInode.linksCount(raw, 1);
    RawInode.extraIsize(raw, 32);
    RawInode.generation(raw, 0x1234);
    return new Inode(this, ino, raw);
  }

  @Override
  public synchronized Inode get(long ino) {
    MemorySegment raw = Arena.ofAuto().allocate(256, 8);
    raw.copyFrom(MemorySegment.ofArray(stored.get(ino)));
    return new Inode(this, ino, raw);
  }

  @Override
  public Inode create(Handle handle, long ino, MemorySegment raw) {
    throw new UnsupportedOperationException();
  }

  @Override
  public synchronized void update(Handle handle, Inode inode, boolean dataRelevant) {
    stored.put(inode.ino(), inode.raw.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    inode.syncTid = handle.tid();
    if (dataRelevant) {
      inode.datasyncTid = handle.tid();
    }
  }

  @Override
  public void retain(Inode inode) {}

  @Override
  public void release(Inode inode) {}
}
