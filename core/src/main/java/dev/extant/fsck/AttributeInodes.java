package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The inodes that hold the value of an extended attribute each (feature ea_inode; Linux
/// documentation, "Extended Attributes"). Such an inode keeps the hash of its value in i_atime and
/// the number of attributes that refer to it in i_ctime (upper half) and i_version (lower half).
///
/// An older form, made by Lustre, has neither, but the number of the inode with the attribute in
/// i_mtime, and that inode's generation.
final class AttributeInodes {
  private static final int I_ATIME = 0x08;
  private static final int I_CTIME = 0x0C;
  private static final int I_MTIME = 0x10;
  private static final int I_VERSION = 0x24;

  private final CheckContext context;

  AttributeInodes(CheckContext context) {
    this.context = context;
  }

  static int valueHash(MemorySegment raw) {
    return Le.i32(raw, I_ATIME);
  }

  static long refcount(MemorySegment raw) {
    return Le.u32(raw, I_CTIME) << 32 | Le.u32(raw, I_VERSION);
  }

  /// The inode that an inode of the older form names.
  static long owner(MemorySegment raw) {
    return Le.u32(raw, I_MTIME);
  }

  static boolean isLustre(MemorySegment raw, ScannedInode owner) {
    return owner(raw) == owner.ino()
        && RawInode.generation(raw) == RawInode.generation(owner.raw());
  }

  /// What a value in an inode of its own adds to the blocks of the inode with the attribute.
  long chargedBlocks(long valueSize) {
    long clusterBytes = (long) context.layout().blockSizeBytes() * context.layout().clusterBlocks();
    return (valueSize + clusterBytes - 1) / clusterBytes * context.layout().clusterBlocks();
  }

  /// True if an inode with the flag can hold a value: a regular file, where there is the feature.
  static boolean possible(CheckContext context, long ino) {
    return context.features().has(Feature.EA_INODE) && context.inodes().type(ino) == 1;
  }

  void checkFlag(ScannedInode inode) {
    if (inode.has(RawInode.EXT4_EA_INODE_FL) && !possible(context, inode.ino())) {
      String why = inode.regular() ? "no feature ea_inode" : "not a regular file";
      context.report(Problem.EA_INODE_FLAG, inode.ino(), 0, why);
    }
  }

  /// The bytes of the inode that an attribute of `inode` names; null if it cannot hold a value.
  MemorySegment holder(ScannedInode inode, long ino) {
    boolean possible =
        context.features().has(Feature.EA_INODE)
            && context.layout().validInode(ino)
            && ino >= context.layout().firstInode()
            && ino != inode.ino();
    MemorySegment raw = possible ? context.readInode(ino) : null;
    boolean usable =
        raw != null && RawInode.linksCount(raw) > 0 && new ScannedInode(ino, raw, true).regular();
    return usable ? raw : null;
  }
}
