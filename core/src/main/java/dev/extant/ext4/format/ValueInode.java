package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The fields of an inode with EXT4_EA_INODE_FL, whose content is the value of an extended
/// attribute, as far as they mean something else there (Linux documentation, "Extended Attributes",
/// feature ea_inode). The rest is [RawInode]'s.
///
/// | offset | field |
/// | --- | --- |
/// | 0x08 | i_atime: checksum of the value ([Checksums#xattrValueHash]) |
/// | 0x0C | i_ctime: upper 32 bits of the number of attributes that have this value |
/// | 0x10 | i_mtime: in images of Lustre the one inode that has the attribute |
/// | 0x24 | i_version: lower 32 bits of the number |
public final class ValueInode {
  private static final int I_ATIME = 0x08;
  private static final int I_CTIME = 0x0C;
  private static final int I_MTIME = 0x10;
  private static final int I_VERSION = 0x24;
  private static final int I_CTIME_EXTRA = 0x84;
  private static final int I_ATIME_EXTRA = 0x8C;

  private ValueInode() {}

  public static int hash(MemorySegment inode) {
    return Le.i32(inode, I_ATIME);
  }

  public static void hash(MemorySegment inode, int value) {
    Le.put32(inode, I_ATIME, value);
    // As seconds it is not negative: the next bit of the epoch is set.
    clearExtra(inode, I_ATIME_EXTRA, value < 0 ? 1 : 0);
  }

  public static long references(MemorySegment inode) {
    return Le.u32(inode, I_CTIME) << 32 | Le.u32(inode, I_VERSION);
  }

  public static void references(MemorySegment inode, long value) {
    Le.put32(inode, I_CTIME, value >>> 32);
    clearExtra(inode, I_CTIME_EXTRA, 0);
    Le.put32(inode, I_VERSION, value);
  }

  private static void clearExtra(MemorySegment inode, int offset, int value) {
    if (RawInode.hasField(inode, offset, 4)) {
      Le.put32(inode, offset, value);
    }
  }

  /// True if it has the form of Lustre: no checksum and no number, but the inode that it belongs
  /// to.
  public static boolean ofLustre(MemorySegment inode, MemorySegment owner, long ownerIno) {
    return Le.u32(inode, I_MTIME) == ownerIno
        && RawInode.generation(inode) == RawInode.generation(owner);
  }
}
