package dev.extant.ext4.format;

import dev.extant.util.Le;
import dev.extant.vfs.FileName;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// `struct ext4_dir_entry_2` (Linux documentation, "Directory Entries"): accessors at a byte offset
/// of a directory block.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | inode, 0 for an unused entry |
/// | 0x4 | rec_len: distance to the next entry |
/// | 0x6 | name_len |
/// | 0x7 | file_type (0 without the feature filetype) |
/// | 0x8 | name[name_len] |
public final class DirEntry {
  public static final int HEADER_SIZE = 8;
  public static final int MAX_NAME_LENGTH = 255;

  /// The shortest record: a name of one to four bytes.
  public static final int MIN_RECORD_LENGTH = 12;

  /// In a block of 64 KiB, a record of the whole block, whose length has no place in 16 bits.
  private static final int WHOLE_64K_BLOCK = 0xffff;

  private DirEntry() {}

  /// The bytes that an entry with a name of this length needs.
  public static int recordLength(int nameLength) {
    return HEADER_SIZE + nameLength + 3 & ~3;
  }

  public static long ino(MemorySegment block, int offset) {
    return Le.u32(block, offset);
  }

  public static void ino(MemorySegment block, int offset, long value) {
    Le.put32(block, offset, value);
  }

  public static int recLen(MemorySegment block, int offset) {
    int stored = Le.u16(block, offset + 4);
    boolean whole = block.byteSize() == 1 << 16 && (stored == WHOLE_64K_BLOCK || stored == 0);
    return whole ? 1 << 16 : stored;
  }

  public static void recLen(MemorySegment block, int offset, int value) {
    Le.put16(block, offset + 4, value == 1 << 16 ? WHOLE_64K_BLOCK : value);
  }

  public static int nameLength(MemorySegment block, int offset) {
    return Le.u8(block, offset + 6);
  }

  /// See [dev.extant.vfs.FileType#entryCode()].
  public static int typeCode(MemorySegment block, int offset) {
    return Le.u8(block, offset + 7);
  }

  public static void typeCode(MemorySegment block, int offset, int value) {
    Le.put8(block, offset + 7, value);
  }

  /// The bytes that the entry really needs: none if it is unused.
  public static int usedLength(MemorySegment block, int offset) {
    return ino(block, offset) == 0 ? 0 : recordLength(nameLength(block, offset));
  }

  /// A copy of the name's bytes.
  public static byte[] name(MemorySegment block, int offset) {
    return block
        .asSlice(offset + HEADER_SIZE, nameLength(block, offset))
        .toArray(ValueLayout.JAVA_BYTE);
  }

  /// True if the entry is in use and has exactly this name.
  public static boolean matches(MemorySegment block, int offset, FileName name) {
    int length = name.length();
    if (nameLength(block, offset) != length || ino(block, offset) == 0) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (block.get(ValueLayout.JAVA_BYTE, offset + HEADER_SIZE + i) != name.byteAt(i)) {
        return false;
      }
    }
    return true;
  }

  /// Writes all of an entry; the bytes between name and end of the record stay as they are.
  public static void put(
      MemorySegment block, int offset, int recLen, long ino, int typeCode, FileName name) {
    header(block, offset, recLen, ino, typeCode, name.length());
    for (int i = 0; i < name.length(); i++) {
      block.set(ValueLayout.JAVA_BYTE, offset + HEADER_SIZE + i, name.byteAt(i));
    }
  }

  /// Writes an unused entry without a name.
  public static void putUnused(MemorySegment block, int offset, int recLen) {
    header(block, offset, recLen, 0, 0, 0);
  }

  private static void header(
      MemorySegment block, int offset, int recLen, long ino, int typeCode, int nameLength) {
    ino(block, offset, ino);
    recLen(block, offset, recLen);
    Le.put8(block, offset + 6, nameLength);
    typeCode(block, offset, typeCode);
  }
}
