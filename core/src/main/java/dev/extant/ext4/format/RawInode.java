package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// `struct ext4_inode` (Linux documentation, "Index Nodes"): accessors over its bytes, edited in
/// place so that unknown bytes survive. A segment is exactly `inodeSizeBytes` long (128 or more).
///
/// | offset | field | | offset | field |
/// | --- | --- | --- | --- | --- |
/// | 0x00 | i_mode | | 0x28 | i_block[15] |
/// | 0x02 | i_uid (low) | | 0x64 | i_generation |
/// | 0x04 | i_size_lo | | 0x68 | i_file_acl_lo |
/// | 0x08 | i_atime | | 0x6C | i_size_high |
/// | 0x0C | i_ctime | | 0x74 | i_blocks_high |
/// | 0x10 | i_mtime | | 0x76 | i_file_acl_high |
/// | 0x14 | i_dtime (or next orphan) | | 0x78 | i_uid_high |
/// | 0x18 | i_gid (low) | | 0x7A | i_gid_high |
/// | 0x1A | i_links_count | | 0x7C | i_checksum_lo |
/// | 0x1C | i_blocks_lo | | 0x80 | i_extra_isize |
/// | 0x20 | i_flags | | 0x82 | i_checksum_hi |
/// | 0x24 | i_version | | 0x84.. | i_ctime_extra, i_mtime_extra, i_atime_extra, i_crtime, i_crtime_extra, i_version_hi, i_projid |
public final class RawInode {
  public static final int GOOD_OLD_INODE_SIZE = 128;
  public static final int I_BLOCK = 0x28;
  public static final int I_BLOCK_SIZE = 60;
  public static final int I_CHECKSUM_LO = 0x7C;
  public static final int I_CHECKSUM_HI = 0x82;

  public static final long EXT4_SECRM_FL = 0x1;
  public static final long EXT4_SYNC_FL = 0x8;
  public static final long EXT4_IMMUTABLE_FL = 0x10;
  public static final long EXT4_APPEND_FL = 0x20;
  public static final long EXT4_NODUMP_FL = 0x40;
  public static final long EXT4_NOATIME_FL = 0x80;
  public static final long EXT4_INDEX_FL = 0x1000;
  public static final long EXT4_JOURNAL_DATA_FL = 0x4000;
  public static final long EXT4_TOPDIR_FL = 0x20000;
  public static final long EXT4_HUGE_FILE_FL = 0x40000;
  public static final long EXT4_EXTENTS_FL = 0x80000;
  public static final long EXT4_VERITY_FL = 0x100000;
  public static final long EXT4_EA_INODE_FL = 0x200000;
  public static final long EXT4_ENCRYPT_FL = 0x800;
  public static final long EXT4_INLINE_DATA_FL = 0x10000000;
  public static final long EXT4_CASEFOLD_FL = 0x40000000;

  private static final int I_CTIME_EXTRA = 0x84;
  private static final int I_MTIME_EXTRA = 0x88;
  private static final int I_ATIME_EXTRA = 0x8C;
  private static final int I_CRTIME = 0x90;
  private static final int I_CRTIME_EXTRA = 0x94;

  private RawInode() {}

  public static int mode(MemorySegment inode) {
    return Le.u16(inode, 0);
  }

  public static void mode(MemorySegment inode, int value) {
    Le.put16(inode, 0, value);
  }

  public static long uid(MemorySegment inode) {
    return Le.u16(inode, 2) | (long) Le.u16(inode, 0x78) << 16;
  }

  public static void uid(MemorySegment inode, long value) {
    Le.put16(inode, 2, (int) value);
    Le.put16(inode, 0x78, (int) (value >>> 16));
  }

  public static long gid(MemorySegment inode) {
    return Le.u16(inode, 0x18) | (long) Le.u16(inode, 0x7A) << 16;
  }

  public static void gid(MemorySegment inode, long value) {
    Le.put16(inode, 0x18, (int) value);
    Le.put16(inode, 0x7A, (int) (value >>> 16));
  }

  public static long size(MemorySegment inode) {
    return Le.u32(inode, 4) | Le.u32(inode, 0x6C) << 32;
  }

  public static void size(MemorySegment inode, long value) {
    Le.put32(inode, 4, value);
    Le.put32(inode, 0x6C, value >>> 32);
  }

  /// The deletion time, or the next inode of the orphan list while the inode is on it.
  public static long dtime(MemorySegment inode) {
    return Le.u32(inode, 0x14);
  }

  public static void dtime(MemorySegment inode, long value) {
    Le.put32(inode, 0x14, value);
  }

  public static int linksCount(MemorySegment inode) {
    return Le.u16(inode, 0x1A);
  }

  public static void linksCount(MemorySegment inode, int value) {
    Le.put16(inode, 0x1A, value);
  }

  /// Allocated space in 512-byte units (or in blocks, for a huge file: see [#EXT4_HUGE_FILE_FL]).
  public static long blocks(MemorySegment inode) {
    return Le.u32(inode, 0x1C) | (long) Le.u16(inode, 0x74) << 32;
  }

  public static void blocks(MemorySegment inode, long value) {
    Le.put32(inode, 0x1C, value);
    Le.put16(inode, 0x74, (int) (value >>> 32));
  }

  public static long flags(MemorySegment inode) {
    return Le.u32(inode, 0x20);
  }

  public static void flags(MemorySegment inode, long value) {
    Le.put32(inode, 0x20, value);
  }

  public static boolean hasFlag(MemorySegment inode, long flag) {
    return (flags(inode) & flag) != 0;
  }

  public static int generation(MemorySegment inode) {
    return Le.i32(inode, 0x64);
  }

  public static void generation(MemorySegment inode, int value) {
    Le.put32(inode, 0x64, value);
  }

  /// Block of the extended attributes, 0 for none.
  public static long fileAcl(MemorySegment inode) {
    return Le.u32(inode, 0x68) | (long) Le.u16(inode, 0x76) << 32;
  }

  public static void fileAcl(MemorySegment inode, long value) {
    Le.put32(inode, 0x68, value);
    Le.put16(inode, 0x76, (int) (value >>> 32));
  }

  /// Bytes used behind the first 128; 0 in a 128-byte inode.
  public static int extraIsize(MemorySegment inode) {
    return inode.byteSize() > GOOD_OLD_INODE_SIZE ? Le.u16(inode, 0x80) : 0;
  }

  public static void extraIsize(MemorySegment inode, int value) {
    Le.put16(inode, 0x80, value);
  }

  /// True if the field of `length` bytes at `offset` lies within the used part of the inode.
  public static boolean hasField(MemorySegment inode, int offset, int length) {
    return offset + length <= GOOD_OLD_INODE_SIZE + extraIsize(inode);
  }

  public static Instant accessed(MemorySegment inode) {
    return time(inode, 0x08, I_ATIME_EXTRA);
  }

  public static void accessed(MemorySegment inode, Instant value) {
    time(inode, 0x08, I_ATIME_EXTRA, value);
  }

  public static Instant changed(MemorySegment inode) {
    return time(inode, 0x0C, I_CTIME_EXTRA);
  }

  public static void changed(MemorySegment inode, Instant value) {
    time(inode, 0x0C, I_CTIME_EXTRA, value);
  }

  public static Instant modified(MemorySegment inode) {
    return time(inode, 0x10, I_MTIME_EXTRA);
  }

  public static void modified(MemorySegment inode, Instant value) {
    time(inode, 0x10, I_MTIME_EXTRA, value);
  }

  /// The creation time, or null where the inode has no room for it.
  public static Instant created(MemorySegment inode) {
    return hasField(inode, I_CRTIME, 4) ? time(inode, I_CRTIME, I_CRTIME_EXTRA) : null;
  }

  /// Does nothing where the inode has no room for it.
  public static void created(MemorySegment inode, Instant value) {
    if (hasField(inode, I_CRTIME, 4)) {
      time(inode, I_CRTIME, I_CRTIME_EXTRA, value);
    }
  }

  /// 32 signed bits of seconds, 2 more of epoch and 30 of nanoseconds in the extra field (spec:
  /// "Inode Timestamps").
  private static Instant time(MemorySegment inode, int offset, int extraOffset) {
    long seconds = Le.i32(inode, offset);
    long nanos = 0;
    if (hasField(inode, extraOffset, 4)) {
      long extra = Le.u32(inode, extraOffset);
      seconds += (extra & 3) << 32;
      nanos = extra >>> 2;
    }
    return Instant.ofEpochSecond(seconds, Math.min(nanos, 999_999_999));
  }

  private static void time(MemorySegment inode, int offset, int extraOffset, Instant value) {
    long seconds = value.getEpochSecond();
    if (hasField(inode, extraOffset, 4)) {
      long clamped = Math.clamp(seconds, Integer.MIN_VALUE, 0x3_7fff_ffffL);
      Le.put32(inode, offset, clamped);
      long epoch = (clamped - (int) clamped) >> 32 & 3;
      Le.put32(inode, extraOffset, epoch | (long) value.getNano() << 2);
    } else {
      Le.put32(inode, offset, Math.clamp(seconds, Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
  }
}
