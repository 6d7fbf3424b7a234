package dev.extant.mkfs;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Stores where a file's blocks are as an extent tree (Linux documentation, "Extent Tree") of at
/// most two levels: four extents in the inode, or four leaves of as many as fit into a block.
final class ExtentMap {
  private static final int MAX_EXTENT = 32_768;
  private static final int HEADER_SIZE = 12;
  private static final int ENTRY_SIZE = 12;
  private static final int IN_INODE = 4;

  private record Extent(long logical, long blockNr, int count) {}

  /// A leaf block to be written.
  record Leaf(long blockNr, MemorySegment block) {}

  private final int blockSizeBytes;
  private final List<Extent> extents = new ArrayList<>();

  ExtentMap(List<UsedBlocks.Run> runs, int blockSizeBytes) {
    this.blockSizeBytes = blockSizeBytes;
    long logical = 0;
    for (UsedBlocks.Run run : runs) {
      for (long at = run.blockNr(); at < run.end(); at += MAX_EXTENT) {
        int count = (int) Math.min(MAX_EXTENT, run.end() - at);
        extents.add(new Extent(logical, at, count));
        logical += count;
      }
    }
  }

  /// How many blocks the tree needs besides the inode; -1 if two levels do not suffice.
  int leafCount() {
    if (extents.size() <= IN_INODE) {
      return 0;
    }
    int leaves = (extents.size() + perLeaf() - 1) / perLeaf();
    return leaves <= IN_INODE ? leaves : -1;
  }

  private int perLeaf() {
    return (blockSizeBytes - HEADER_SIZE - 4) / ENTRY_SIZE;
  }

  /// Writes the root into the inode and returns the leaves, which go to the given blocks.
  List<Leaf> store(MemorySegment inode, List<Long> leafBlocks, Checksums checksums, int inodeSeed) {
    RawInode.flags(inode, RawInode.EXT4_EXTENTS_FL);
    MemorySegment root = inode.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    if (leafBlocks.isEmpty()) {
      fillLeaf(root, IN_INODE, extents);
      return List.of();
    }
    List<Leaf> leaves = new ArrayList<>();
    header(root, leafBlocks.size(), IN_INODE, 1);
    for (int i = 0; i < leafBlocks.size(); i++) {
      List<Extent> part =
          extents.subList(i * perLeaf(), Math.min((i + 1) * perLeaf(), extents.size()));
      int at = HEADER_SIZE + i * ENTRY_SIZE;
      Le.put32(root, at, part.getFirst().logical());
      Le.put32(root, at + 4, leafBlocks.get(i));
      Le.put16(root, at + 8, (int) (leafBlocks.get(i) >>> 32));
      MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
      fillLeaf(block, perLeaf(), part);
      checksums.sealExtentBlock(block, inodeSeed);
      leaves.add(new Leaf(leafBlocks.get(i), block));
    }
    return leaves;
  }

  private static void fillLeaf(MemorySegment node, int max, List<Extent> part) {
    header(node, part.size(), max, 0);
    for (int i = 0; i < part.size(); i++) {
      Extent extent = part.get(i);
      int at = HEADER_SIZE + i * ENTRY_SIZE;
      Le.put32(node, at, extent.logical());
      Le.put16(node, at + 4, extent.count());
      Le.put16(node, at + 6, (int) (extent.blockNr() >>> 32));
      Le.put32(node, at + 8, extent.blockNr());
    }
  }

  private static void header(MemorySegment node, int entries, int max, int depth) {
    Le.put16(node, 0, 0xF30A);
    Le.put16(node, 2, entries);
    Le.put16(node, 4, max);
    Le.put16(node, 6, depth);
  }
}
