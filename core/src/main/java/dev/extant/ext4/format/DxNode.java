package dev.extant.ext4.format;

import java.lang.foreign.MemorySegment;

/// `struct dx_node` (Linux documentation, "Hash Tree Directories"): a block of a directory index
/// below the root. To who knows no index it is a block with one unused entry.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | fake unused entry, rec_len the whole block |
/// | 0x8 | [DxEntries] |
public final class DxNode {
  public static final int ENTRIES = 8;

  private DxNode() {}

  public static boolean looksLikeNode(MemorySegment block) {
    return DirEntry.ino(block, 0) == 0 && DirEntry.recLen(block, 0) == block.byteSize();
  }

  /// The room for entries.
  public static int limit(MemorySegment block, boolean checksums) {
    return ((int) block.byteSize() - ENTRIES - (checksums ? DxTail.SIZE : 0))
        / DxEntries.ENTRY_SIZE;
  }

  /// Makes a zeroed block a node without entries.
  public static void initialise(MemorySegment block, boolean checksums) {
    DirEntry.putUnused(block, 0, (int) block.byteSize());
    DxEntries.initialise(block, ENTRIES, limit(block, checksums), 0);
  }
}
