package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct dx_root` (Linux documentation, "Hash Tree Directories"): block 0 of an indexed
/// directory. To who knows no index it is a block with the entries `.` and `..` only.
///
/// | offset | field |
/// | --- | --- |
/// | 0x00 | entry `.`, rec_len 12 |
/// | 0x0C | entry `..`, rec_len to the end of the block |
/// | 0x18 | reserved_zero, u32 |
/// | 0x1C | hash_version, u8: see [DirHash] |
/// | 0x1D | info_length, u8: 8 |
/// | 0x1E | indirect_levels, u8: levels of nodes between root and leaves |
/// | 0x1F | unused_flags, u8 |
/// | 0x20 | [DxEntries] |
public final class DxRoot {
  public static final int DOT = 0;
  public static final int DOT_DOT = 0x0C;
  public static final int ENTRIES = 0x20;

  /// Levels of nodes without the feature large_dir, and with it.
  public static final int MAX_INDIRECT_LEVELS = 1;

  public static final int MAX_INDIRECT_LEVELS_LARGE_DIR = 2;

  private static final int INFO = 0x18;
  private static final int INFO_LENGTH = 8;

  private DxRoot() {}

  /// True if the block looks like one that holds `.` and `..` and nothing else that is seen, as
  /// roots do.
  public static boolean looksLikeRoot(MemorySegment block) {
    return DirEntry.recLen(block, DOT) == DOT_DOT
        && isDots(block, DOT, 1)
        && DirEntry.recLen(block, DOT_DOT) == block.byteSize() - DOT_DOT
        && isDots(block, DOT_DOT, 2);
  }

  private static boolean isDots(MemorySegment block, int offset, int count) {
    return DirEntry.nameLength(block, offset) == count
        && Le.u8(block, offset + DirEntry.HEADER_SIZE) == '.'
        && (count == 1 || Le.u8(block, offset + DirEntry.HEADER_SIZE + 1) == '.');
  }

  /// Always 0.
  public static long reserved(MemorySegment block) {
    return Le.u32(block, INFO);
  }

  public static int hashVersion(MemorySegment block) {
    return Le.u8(block, 0x1C);
  }

  public static int infoLength(MemorySegment block) {
    return Le.u8(block, 0x1D);
  }

  public static boolean infoLengthValid(MemorySegment block) {
    return infoLength(block) == INFO_LENGTH;
  }

  public static int indirectLevels(MemorySegment block) {
    return Le.u8(block, 0x1E);
  }

  public static void indirectLevels(MemorySegment block, int value) {
    Le.put8(block, 0x1E, value);
  }

  public static int unusedFlags(MemorySegment block) {
    return Le.u8(block, 0x1F);
  }

  /// The room for entries.
  public static int limit(MemorySegment block, boolean checksums) {
    return ((int) block.byteSize() - ENTRIES - (checksums ? DxTail.SIZE : 0))
        / DxEntries.ENTRY_SIZE;
  }

  /// Turns a block that begins with `.` and `..` into a root with one entry, for block 1 of the
  /// directory.
  public static void initialise(MemorySegment block, int hashVersion, boolean checksums) {
    DirEntry.recLen(block, DOT_DOT, (int) block.byteSize() - DOT_DOT);
    block.asSlice(INFO).fill((byte) 0);
    Le.put8(block, 0x1C, hashVersion);
    Le.put8(block, 0x1D, INFO_LENGTH);
    DxEntries.initialise(block, ENTRIES, limit(block, checksums), 1);
    DxEntries.logical(block, ENTRIES, 0, 1);
  }
}
