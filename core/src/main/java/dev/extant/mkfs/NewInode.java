package dev.extant.mkfs;

import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// Makes the bytes of an inode of a new file system.
final class NewInode {
  private NewInode() {}

  /// An inode with type, permissions, links and times, that maps no blocks yet.
  static MemorySegment of(MemorySegment superblock, int mode, int links) {
    MemorySegment inode = empty(superblock);
    Instant now = Superblock.mkfsTime(superblock);
    RawInode.mode(inode, mode);
    RawInode.linksCount(inode, links);
    if (inode.byteSize() > RawInode.GOOD_OLD_INODE_SIZE) {
      RawInode.extraIsize(inode, Superblock.newExtraIsize(superblock));
    }
    RawInode.accessed(inode, now);
    RawInode.changed(inode, now);
    RawInode.modified(inode, now);
    RawInode.created(inode, now);
    return inode;
  }

  /// A reserved inode that is not in use.
  static MemorySegment empty(MemorySegment superblock) {
    return MemorySegment.ofArray(new byte[Superblock.inodeSize(superblock)]);
  }

  static void blocks(MemorySegment inode, long count, int blockSizeBytes) {
    RawInode.blocks(inode, count * (blockSizeBytes / 512));
  }
}
