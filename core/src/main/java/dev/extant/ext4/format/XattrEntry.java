package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_xattr_entry`: the fixed part and the name of one extended attribute (Linux
/// documentation, "Extended Attributes"). Entries lie one behind the other, four zero bytes behind
/// the last.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | e_name_len |
/// | 0x1 | e_name_index: the name space, see the constants |
/// | 0x2 | e_value_offs: from the first entry (in an inode) or the start of the block |
/// | 0x4 | e_value_inum: the inode that holds the value, 0 for none |
/// | 0x8 | e_value_size |
/// | 0xC | e_hash |
/// | 0x10 | e_name, padded to 4 bytes with zeroes |
public final class XattrEntry {
  public static final int EXT4_XATTR_INDEX_USER = 1;
  public static final int EXT4_XATTR_INDEX_POSIX_ACL_ACCESS = 2;
  public static final int EXT4_XATTR_INDEX_POSIX_ACL_DEFAULT = 3;
  public static final int EXT4_XATTR_INDEX_TRUSTED = 4;
  public static final int EXT4_XATTR_INDEX_SECURITY = 6;

  /// `system.`: the only one is `data`, with the rest of an inline file's content.
  public static final int EXT4_XATTR_INDEX_SYSTEM = 7;

  public static final int EXT4_XATTR_INDEX_RICHACL = 8;

  /// Longest name without its name space.
  public static final int MAX_NAME_BYTES = 255;

  static final int NAME = 16;

  /// The zeroes behind the last entry.
  static final int END_SIZE = 4;

  private XattrEntry() {}

  public static boolean isEnd(MemorySegment area, long at) {
    return Le.u32(area, at) == 0;
  }

  public static int nameLength(MemorySegment area, long at) {
    return Le.u8(area, at);
  }

  public static int nameIndex(MemorySegment area, long at) {
    return Le.u8(area, at + 1);
  }

  public static int valueOffset(MemorySegment area, long at) {
    return Le.u16(area, at + 2);
  }

  public static long valueInum(MemorySegment area, long at) {
    return Le.u32(area, at + 4);
  }

  public static long valueSize(MemorySegment area, long at) {
    return Le.u32(area, at + 8);
  }

  public static int hash(MemorySegment area, long at) {
    return Le.i32(area, at + 12);
  }

  static void put(MemorySegment area, long at, Xattr xattr, int valueOffset, int hash) {
    Le.put8(area, at, xattr.name().length);
    Le.put8(area, at + 1, xattr.nameIndex());
    Le.put16(area, at + 2, valueOffset);
    Le.put32(area, at + 4, xattr.valueInum());
    Le.put32(area, at + 8, xattr.valueSize());
    Le.put32(area, at + 12, hash);
    MemorySegment.copy(
        MemorySegment.ofArray(xattr.name()), 0, area, at + NAME, xattr.name().length);
  }

  /// Bytes of an entry with a name of that length.
  public static int size(int nameLength) {
    return padded(NAME + nameLength);
  }

  static int padded(int length) {
    return length + 3 & ~3;
  }

  /// e_hash of an entry in a block: over the name, then over the value in words of four bytes,
  /// padded with zeroes. In an inode it is 0.
  public static int hash(byte[] name, byte[] value) {
    return valueHash(nameHash(name, 0xFF), value);
  }

  /// e_hash of an entry whose value is in an inode of its own: the value's checksum takes its
  /// place, as one word.
  static int hash(byte[] name, int valueWord) {
    return Integer.rotateLeft(nameHash(name, 0xFF), 16) ^ valueWord;
  }

  /// True if the hash that was read is right. Linux took the bytes of a name as signed on some
  /// machines and accepts both now. `valueHash` is the checksum of a value in an inode of its own,
  /// ignored otherwise.
  public static boolean hashValid(Xattr xattr, int valueHash) {
    for (int mask : new int[] {0xFF, ~0}) {
      int ofName = nameHash(xattr.name(), mask);
      int hash =
          xattr.valueInum() == 0
              ? valueHash(ofName, xattr.value())
              : Integer.rotateLeft(ofName, 16) ^ valueHash;
      if (hash == xattr.hash()) {
        return true;
      }
    }
    return false;
  }

  /// `mask` is 0xFF for unsigned bytes, ~0 for signed ones.
  private static int nameHash(byte[] name, int mask) {
    int hash = 0;
    for (byte b : name) {
      hash = Integer.rotateLeft(hash, 5) ^ b & mask;
    }
    return hash;
  }

  private static int valueHash(int ofName, byte[] value) {
    int hash = ofName;
    for (int at = 0; at < value.length; at += 4) {
      int word = 0;
      for (int i = Math.min(3, value.length - at - 1); i >= 0; i--) {
        word = word << 8 | value[at + i] & 0xFF;
      }
      hash = Integer.rotateLeft(hash, 16) ^ word;
    }
    return hash;
  }
}
