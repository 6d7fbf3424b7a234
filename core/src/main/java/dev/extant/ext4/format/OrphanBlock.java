package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// A block of the orphan file (Linux documentation, "Orphan file"; `struct
/// ext4_orphan_block_tail`): accessors over its bytes. Its checksum is sealed by [Checksums].
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | inode numbers, 32 bits each, 0 in an empty slot |
/// | block size - 8 | ob_magic |
/// | block size - 4 | ob_checksum |
public final class OrphanBlock {
  public static final long MAGIC = 0x0B10CA04L;

  private static final int TAIL_SIZE = 8;

  private OrphanBlock() {}

  /// Slots in a block.
  public static int slots(int blockSizeBytes) {
    return (blockSizeBytes - TAIL_SIZE) / 4;
  }

  /// The inode number in a slot, 0 if it is empty.
  public static long inode(MemorySegment block, int slot) {
    return Le.u32(block, 4L * slot);
  }

  public static void inode(MemorySegment block, int slot, long ino) {
    Le.put32(block, 4L * slot, ino);
  }

  public static long magic(MemorySegment block) {
    return Le.u32(block, block.byteSize() - TAIL_SIZE);
  }
}
