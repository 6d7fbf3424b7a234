package dev.extant.ext4.format;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;

/// `struct ext4_group_desc` (Linux documentation, "Block Group Descriptors"): accessors over its
/// bytes. A segment is exactly `descriptorSizeBytes` long: 32, or 64 and more with the high halves.
/// Without them a setter drops the high half. The checksums are sealed by [Checksums].
///
/// | offset | field | | offset | field |
/// | --- | --- | --- | --- | --- |
/// | 0x00 | bg_block_bitmap_lo | | 0x20 | bg_block_bitmap_hi |
/// | 0x04 | bg_inode_bitmap_lo | | 0x24 | bg_inode_bitmap_hi |
/// | 0x08 | bg_inode_table_lo | | 0x28 | bg_inode_table_hi |
/// | 0x0C | bg_free_blocks_count_lo | | 0x2C | bg_free_blocks_count_hi |
/// | 0x0E | bg_free_inodes_count_lo | | 0x2E | bg_free_inodes_count_hi |
/// | 0x10 | bg_used_dirs_count_lo | | 0x30 | bg_used_dirs_count_hi |
/// | 0x12 | bg_flags | | 0x32 | bg_itable_unused_hi |
/// | 0x14 | bg_exclude_bitmap_lo | | 0x34 | bg_exclude_bitmap_hi |
/// | 0x18 | bg_block_bitmap_csum_lo | | 0x38 | bg_block_bitmap_csum_hi |
/// | 0x1A | bg_inode_bitmap_csum_lo | | 0x3A | bg_inode_bitmap_csum_hi |
/// | 0x1C | bg_itable_unused_lo | | 0x3C | bg_reserved |
/// | 0x1E | bg_checksum | | | |
public final class GroupDescriptor {
  public static final int MIN_SIZE = 32;
  public static final int MIN_SIZE_64BIT = 64;

  /// EXT4_BG_INODE_UNINIT: the inode bitmap was never written; every inode of the group is free.
  public static final int INODE_UNINIT = 0x1;

  /// EXT4_BG_BLOCK_UNINIT: the block bitmap was never written; only the group's own metadata is in
  /// use.
  public static final int BLOCK_UNINIT = 0x2;

  /// EXT4_BG_INODE_ZEROED: the inode table was written with zeroes.
  public static final int INODE_ZEROED = 0x4;

  static final int CHECKSUM = 0x1E;
  private static final int HIGH_HALVES = 0x20;

  private GroupDescriptor() {}

  public static long blockBitmap(MemorySegment descriptor) {
    return u64(descriptor, 0x00, 0x20);
  }

  public static void blockBitmap(MemorySegment descriptor, long blockNr) {
    putU64(descriptor, 0x00, 0x20, blockNr);
  }

  public static long inodeBitmap(MemorySegment descriptor) {
    return u64(descriptor, 0x04, 0x24);
  }

  public static void inodeBitmap(MemorySegment descriptor, long blockNr) {
    putU64(descriptor, 0x04, 0x24, blockNr);
  }

  /// First block of the inode table.
  public static long inodeTable(MemorySegment descriptor) {
    return u64(descriptor, 0x08, 0x28);
  }

  public static void inodeTable(MemorySegment descriptor, long blockNr) {
    putU64(descriptor, 0x08, 0x28, blockNr);
  }

  /// In clusters.
  public static int freeClusters(MemorySegment descriptor) {
    return u32(descriptor, 0x0C, 0x2C);
  }

  public static void freeClusters(MemorySegment descriptor, int count) {
    putU32(descriptor, 0x0C, 0x2C, count);
  }

  public static int freeInodes(MemorySegment descriptor) {
    return u32(descriptor, 0x0E, 0x2E);
  }

  public static void freeInodes(MemorySegment descriptor, int count) {
    putU32(descriptor, 0x0E, 0x2E, count);
  }

  public static int usedDirectories(MemorySegment descriptor) {
    return u32(descriptor, 0x10, 0x30);
  }

  public static void usedDirectories(MemorySegment descriptor, int count) {
    putU32(descriptor, 0x10, 0x30, count);
  }

  public static int flags(MemorySegment descriptor) {
    return Le.u16(descriptor, 0x12);
  }

  public static void flags(MemorySegment descriptor, int flags) {
    Le.put16(descriptor, 0x12, flags);
  }

  public static boolean hasFlag(MemorySegment descriptor, int flag) {
    return (flags(descriptor) & flag) != 0;
  }

  /// Inodes at the end of the table that were never used; only meaningful under a descriptor
  /// checksum.
  public static int unusedInodes(MemorySegment descriptor) {
    return u32(descriptor, 0x1C, 0x32);
  }

  public static void unusedInodes(MemorySegment descriptor, int count) {
    putU32(descriptor, 0x1C, 0x32, count);
  }

  static int blockBitmapChecksum(MemorySegment descriptor) {
    return u32(descriptor, 0x18, 0x38);
  }

  static void blockBitmapChecksum(MemorySegment descriptor, int checksum) {
    putU32(descriptor, 0x18, 0x38, checksum);
  }

  static int inodeBitmapChecksum(MemorySegment descriptor) {
    return u32(descriptor, 0x1A, 0x3A);
  }

  static void inodeBitmapChecksum(MemorySegment descriptor, int checksum) {
    putU32(descriptor, 0x1A, 0x3A, checksum);
  }

  /// True if the checksums of the bitmaps have 32 bits, not 16.
  static boolean hasHighHalves(MemorySegment descriptor) {
    return descriptor.byteSize() > HIGH_HALVES;
  }

  /// Throws EUCLEAN if a place lies outside the file system, two places of the group overlap, or a
  /// count is impossible.
  public static void requireValid(MemorySegment descriptor, int group, Geometry geometry)
      throws FsException {
    int tableBlocks = geometry.inodeTableBlocksPerGroup();
    long blockBitmap = blockBitmap(descriptor);
    long inodeBitmap = inodeBitmap(descriptor);
    long inodeTable = inodeTable(descriptor);
    requirePlace(group, "bg_block_bitmap", blockBitmap, 1, geometry);
    requirePlace(group, "bg_inode_bitmap", inodeBitmap, 1, geometry);
    requirePlace(group, "bg_inode_table", inodeTable, tableBlocks, geometry);
    if (blockBitmap == inodeBitmap) {
      throw bad(group, "bg_inode_bitmap", inodeBitmap, "it is the block bitmap too");
    }
    if (within(blockBitmap, inodeTable, tableBlocks)
        || within(inodeBitmap, inodeTable, tableBlocks)) {
      throw bad(group, "bg_inode_table", inodeTable, "it overlaps a bitmap of the group");
    }
    int inodes = geometry.inodesPerGroup();
    requireCount(
        group, "bg_free_blocks_count", freeClusters(descriptor), geometry.clustersInGroup(group));
    requireCount(group, "bg_free_inodes_count", freeInodes(descriptor), inodes);
    requireCount(group, "bg_used_dirs_count", usedDirectories(descriptor), inodes);
    requireCount(group, "bg_itable_unused", unusedInodes(descriptor), inodes);
  }

  private static boolean within(long blockNr, long start, int count) {
    return blockNr >= start && blockNr < start + count;
  }

  private static void requirePlace(
      int group, String field, long blockNr, int count, Geometry geometry) throws FsException {
    if (blockNr <= geometry.firstDataBlock() || blockNr > geometry.blocksCount() - count) {
      throw bad(group, field, blockNr, "it lies outside the file system");
    }
  }

  private static void requireCount(int group, String field, int value, int limit)
      throws FsException {
    if (value < 0 || value > limit) {
      throw bad(group, field, value & 0xffff_ffffL, "the group has " + limit);
    }
  }

  private static FsException bad(int group, String field, long value, String why) {
    return new FsException(
        Errno.EUCLEAN,
        "group descriptor " + group + " is corrupt: " + field + " is " + value + ", but " + why);
  }

  private static long u64(MemorySegment descriptor, int low, int high) {
    long value = Le.u32(descriptor, low);
    return hasHighHalves(descriptor) ? value | Le.u32(descriptor, high) << 32 : value;
  }

  private static void putU64(MemorySegment descriptor, int low, int high, long value) {
    Le.put32(descriptor, low, value);
    if (hasHighHalves(descriptor)) {
      Le.put32(descriptor, high, value >>> 32);
    }
  }

  private static int u32(MemorySegment descriptor, int low, int high) {
    int value = Le.u16(descriptor, low);
    return hasHighHalves(descriptor) ? value | Le.u16(descriptor, high) << 16 : value;
  }

  private static void putU32(MemorySegment descriptor, int low, int high, int value) {
    Le.put16(descriptor, low, value);
    if (hasHighHalves(descriptor)) {
      Le.put16(descriptor, high, value >>> 16);
    }
  }
}
