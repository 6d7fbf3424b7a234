package dev.extant.ext4.format;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// A block of extended attributes: `struct ext4_xattr_header`, entries, values (Linux
/// documentation, "Extended Attributes"). Segments are exactly the block.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | h_magic 0xEA020000 |
/// | 0x4 | h_refcount: inodes that use this block |
/// | 0x8 | h_blocks, always 1 |
/// | 0xC | h_hash of all entries; 0 if one of them has none: the block is not shared |
/// | 0x10 | h_checksum ([Checksums#sealXattrBlock]) |
/// | 0x20 | entries ([XattrEntry]), in the order [Xattr#BLOCK_ORDER] |
public final class XattrBlock {
  public static final long EXT4_XATTR_MAGIC = 0xEA020000L;
  public static final int H_CHECKSUM = 0x10;

  /// No more inodes share one block (EXT4_XATTR_REFCOUNT_MAX).
  public static final int MAX_REFCOUNT = 1024;

  private static final int HEADER_SIZE = 32;

  private XattrBlock() {}

  private static XattrTable table(MemorySegment block) {
    return new XattrTable(block, HEADER_SIZE, 0);
  }

  public static boolean hasMagic(MemorySegment block) {
    return Le.u32(block, 0) == EXT4_XATTR_MAGIC;
  }

  public static long refcount(MemorySegment block) {
    return Le.u32(block, 4);
  }

  public static void refcount(MemorySegment block, long value) {
    Le.put32(block, 4, value);
  }

  public static long blocks(MemorySegment block) {
    return Le.u32(block, 8);
  }

  public static int hash(MemorySegment block) {
    return Le.i32(block, 12);
  }

  /// The attributes, in a list of the caller's own; EUCLEAN naming the block if it is none or they
  /// cannot be read.
  public static List<Xattr> read(MemorySegment block, long blockNr) throws FsException {
    String where = "block " + blockNr;
    if (!hasMagic(block) || blocks(block) != 1) {
      throw new FsException(Errno.EUCLEAN, where + " is not a block of extended attributes");
    }
    return table(block).read(where);
  }

  public static boolean fits(int blockSizeBytes, List<Xattr> xattrs) {
    long bytes = xattrs.stream().mapToLong(Xattr::storedBytes).sum();
    return bytes <= blockSizeBytes - HEADER_SIZE - XattrEntry.END_SIZE;
  }

  /// Makes these the block's attributes. They fit. What the block held before does not matter;
  /// refcount and checksum are the caller's to set.
  public static void write(MemorySegment block, List<Xattr> xattrs) {
    List<Xattr> sorted = new ArrayList<>(xattrs);
    sorted.sort(Xattr.BLOCK_ORDER);
    block.asSlice(0, HEADER_SIZE).fill((byte) 0);
    Le.put32(block, 0, EXT4_XATTR_MAGIC);
    Le.put32(block, 8, 1);
    table(block).write(sorted, XattrBlock::entryHash);
    Le.put32(block, 12, hash(sorted.stream().mapToInt(XattrBlock::entryHash)));
  }

  /// Keeps a right hash of the other kind; [XattrEntry#hashValid].
  private static int entryHash(Xattr xattr) {
    boolean kept = xattr.valueInum() != 0 || XattrEntry.hashValid(xattr, 0);
    return kept ? xattr.hash() : XattrEntry.hash(xattr.name(), xattr.value());
  }

  private static int hash(IntStream entryHashes) {
    int hash = 0;
    for (int entryHash : entryHashes.toArray()) {
      if (entryHash == 0) {
        return 0;
      }
      hash = Integer.rotateLeft(hash, 16) ^ entryHash;
    }
    return hash;
  }

  /// What h_hash of a block with these attributes is.
  public static int hash(List<Xattr> xattrs) {
    return hash(xattrs.stream().sorted(Xattr.BLOCK_ORDER).mapToInt(XattrBlock::entryHash));
  }

  /// True if h_hash is that of the entries as they were read.
  public static boolean hashValid(MemorySegment block, List<Xattr> xattrs) {
    return hash(block) == hash(xattrs.stream().mapToInt(Xattr::hash));
  }

  /// True if the block has exactly these attributes, in whatever order.
  public static boolean holds(MemorySegment block, long blockNr, List<Xattr> xattrs)
      throws FsException {
    List<Xattr> held = read(block, blockNr);
    held.sort(Xattr.BLOCK_ORDER);
    return held.equals(xattrs.stream().sorted(Xattr.BLOCK_ORDER).toList());
  }
}
