package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_xattr_header`: the head of a block of extended attributes (spec: "Extended
/// Attributes").
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | h_magic 0xEA020000 |
/// | 0x4 | h_refcount: inodes that use this block |
/// | 0x8 | h_blocks, always 1 |
/// | 0xC | h_hash |
/// | 0x10 | h_checksum |
public final class XattrBlock {
  public static final long EXT4_XATTR_MAGIC = 0xEA020000L;
  public static final int H_CHECKSUM = 0x10;

  private XattrBlock() {}

  public static boolean hasMagic(MemorySegment block) {
    return Le.u32(block, 0) == EXT4_XATTR_MAGIC;
  }

  public static long refcount(MemorySegment block) {
    return Le.u32(block, 4);
  }

  public static void refcount(MemorySegment block, long value) {
    Le.put32(block, 4, value);
  }
}
