package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
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
      if (context.features().has(Feature.QUOTA) && ino == Superblock.quotaInode(sb, type)) {
        return true;
      }
    }
    return false;
  }

  /// Checks that the inodes of quotas are files. What is in them is not looked at.
  static void checkQuotas(CheckContext context) {
    for (int type = 0; type < Superblock.QUOTA_TYPES; type++) {
      long ino = Superblock.quotaInode(context.superblock(), type);
      if (ino != 0 && context.features().has(Feature.QUOTA)) {
        MemorySegment raw = ino > Superblock.ROOT_INO ? context.readInode(ino) : null;
        boolean file =
            raw != null
                && new ScannedInode(ino, raw, true).regular()
                && RawInode.linksCount(raw) > 0
                && RawInode.size(raw) > 0;
        if (!file) {
          context.report(Problem.QUOTA_INODE, ino, 0, "type " + type);
        }
      }
    }
  }
}
