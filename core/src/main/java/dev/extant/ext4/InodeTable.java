package dev.extant.ext4;

import dev.extant.journal.Handle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The inodes in memory and their way to and from the inode tables on disk.
interface InodeTable {
  /// The inode, retained. FsException EUCLEAN if its checksum or mode is wrong or it is not in use,
  /// saying which inode.
  Inode get(long ino) throws IOException;

  /// Registers a newly allocated inode whose bytes are given (exactly the inode size), retained.
  /// Stores it.
  Inode create(Handle handle, long ino, MemorySegment raw) throws IOException;

  /// Copies the inode's bytes to its table block within the handle, sealing the checksum, and sets
  /// syncTid; with `dataRelevant` (size, block map) also datasyncTid. Needs 1 credit.
  void update(Handle handle, Inode inode, boolean dataRelevant) throws IOException;

  void retain(Inode inode);

  /// Gives a reference back. The last reference of an inode with no links frees it (through the
  /// hook that the mount set); of another one keeps it cached in a bounded LRU.
  void release(Inode inode);
}
