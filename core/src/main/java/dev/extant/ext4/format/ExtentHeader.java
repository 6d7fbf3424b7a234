package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// `struct ext4_extent_header` (Linux documentation, "Extent Tree"): the first 12 bytes of every
/// node of an extent tree, which is the inode's i_block or a whole block. Entries of
/// [#ENTRY_SIZE_BYTES] follow: [Extent]s in a leaf (depth 0), [ExtentIndex]es in other nodes. With
/// metadata_csum a node in a block ends with `struct ext4_extent_tail` right behind room for
/// `eh_max` entries: a crc32c of all bytes before it.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | eh_magic, 0xF30A |
/// | 0x2 | eh_entries |
/// | 0x4 | eh_max |
/// | 0x6 | eh_depth, 0 in a leaf |
/// | 0x8 | eh_generation (unused) |
public final class ExtentHeader {
  public static final int MAGIC = 0xF30A;
  public static final int SIZE_BYTES = 12;
  public static final int ENTRY_SIZE_BYTES = 12;

  /// The most levels below the root that the format allows.
  public static final int MAX_DEPTH = 5;

  private ExtentHeader() {}

  public static int magic(MemorySegment node) {
    return Le.u16(node, 0);
  }

  public static int entries(MemorySegment node) {
    return Le.u16(node, 2);
  }

  public static void entries(MemorySegment node, int value) {
    Le.put16(node, 2, value);
  }

  /// How many entries the node has room for.
  public static int max(MemorySegment node) {
    return Le.u16(node, 4);
  }

  public static int depth(MemorySegment node) {
    return Le.u16(node, 6);
  }

  /// How many entries fit into a node of that many bytes.
  public static int capacity(long nodeSizeBytes) {
    return (int) (nodeSizeBytes - SIZE_BYTES) / ENTRY_SIZE_BYTES;
  }

  /// Where entry `index` begins.
  public static long entryOffset(int index) {
    return SIZE_BYTES + (long) index * ENTRY_SIZE_BYTES;
  }

  /// Makes an empty node with all the room its segment has.
  public static void initialise(MemorySegment node, int depth) {
    Le.put16(node, 0, MAGIC);
    Le.put16(node, 2, 0);
    Le.put16(node, 4, capacity(node.byteSize()));
    Le.put16(node, 6, depth);
    Le.put32(node, 8, 0);
  }

  /// Makes room for an entry at `index`, which must not be full, and stores it: its logical block
  /// and the eight bytes behind it.
  public static void insert(MemorySegment node, int index, long logical, long body) {
    int entries = entries(node);
    copyEntries(node, index, node, index + 1, entries - index);
    put(node, index, logical, body);
    entries(node, entries + 1);
  }

  public static void put(MemorySegment node, int index, long logical, long body) {
    Le.put32(node, entryOffset(index), logical);
    Le.put64(node, entryOffset(index) + 4, body);
  }

  public static void remove(MemorySegment node, int index) {
    int entries = entries(node);
    copyEntries(node, index + 1, node, index, entries - index - 1);
    entries(node, entries - 1);
  }

  /// Copies the bytes of entries; overlap is allowed. Counts stay as they are.
  public static void copyEntries(
      MemorySegment from, int fromIndex, MemorySegment to, int toIndex, int count) {
    MemorySegment.copy(
        from, entryOffset(fromIndex), to, entryOffset(toIndex), (long) count * ENTRY_SIZE_BYTES);
  }

  /// The first logical block of entry `index`, at the same place in leaves and other nodes.
  public static long logical(MemorySegment node, int index) {
    return Le.u32(node, entryOffset(index));
  }

  public static void logical(MemorySegment node, int index, long value) {
    Le.put32(node, entryOffset(index), value);
  }
}
