package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;

/// What i_blocks says of the space a file occupies: 512-byte units, or, with EXT4_HUGE_FILE_FL,
/// blocks of the file system.
final class BlockCount {
  /// i_blocks has 48 bits.
  private static final long MAX_COUNT = (1L << 48) - 1;

  private BlockCount() {}

  static long allocatedBytes(MemorySegment raw, int blockSizeBytes) {
    return RawInode.blocks(raw) * unitBytes(raw, blockSizeBytes);
  }

  /// Adds (or, negative, takes away) blocks of the file system. A count that a corrupt inode has
  /// too low stops at 0.
  static void add(MemorySegment raw, long blocks, int blockSizeBytes) {
    int unitBytes = unitBytes(raw, blockSizeBytes);
    long count = RawInode.blocks(raw) + blocks * (blockSizeBytes / unitBytes);
    if (count > MAX_COUNT && unitBytes == 512) {
      count /= blockSizeBytes / 512;
      RawInode.flags(raw, RawInode.flags(raw) | RawInode.EXT4_HUGE_FILE_FL);
    }
    RawInode.blocks(raw, Math.max(0, count));
  }

  private static int unitBytes(MemorySegment raw, int blockSizeBytes) {
    return RawInode.hasFlag(raw, RawInode.EXT4_HUGE_FILE_FL) ? blockSizeBytes : 512;
  }
}
