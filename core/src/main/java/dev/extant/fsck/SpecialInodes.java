package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// The inodes of quotas and of the orphan file, which the superblock names and no directory has.
final class SpecialInodes {
  private SpecialInodes() {}

  /// True if no directory may have an entry for the inode.
  static boolean isHidden(CheckContext context, long ino) {
    MemorySegment sb = context.superblock();
    if (context.features().has(Feature.ORPHAN_FILE) && ino == Superblock.orphanFileInode(sb)) {
      return true;
    }
    for (int type = 0; type < Superblock.QUOTA_TYPES; type++) {
      if (ino == Superblock.quotaInode(sb, type)) {
        return true;
      }
    }
    return false;
  }
}
