package dev.extant.mkfs;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Stores where a file's blocks are as an extent tree (Linux documentation, "Extent Tree") of at
/// most two levels: four extents in the inode, or four leaves of as many as fit into a block.
final class ExtentMap implements FileMap {
  private static final int IN_INODE = ExtentHeader.capacity(RawInode.I_BLOCK_SIZE);

  private record Entry(long logical, long blockNr, int count) {}

  private final int blockSizeBytes;
  private final Checksums checksums;
  private final int inodeSeed;
  private final List<Entry> entries = new ArrayList<>();

  ExtentMap(List<UsedBlocks.Run> runs, int blockSizeBytes, Checksums checksums, int inodeSeed) {
    this.blockSizeBytes = blockSizeBytes;
    this.checksums = checksums;
    this.inodeSeed = inodeSeed;
    long logical = 0;
    for (UsedBlocks.Run run : runs) {
      for (long at = run.blockNr(); at < run.end(); at += Extent.MAX_COUNT) {
        int count = (int) Math.min(Extent.MAX_COUNT, run.end() - at);
        entries.add(new Entry(logical, at, count));
        logical += count;
      }
    }
  }

  /// How many leaves the tree has; -1 if two levels do not suffice.
  @Override
  public int blocksNeeded() {
    if (entries.size() <= IN_INODE) {
      return 0;
    }
    int leaves = (entries.size() + perLeaf() - 1) / perLeaf();
    return leaves <= IN_INODE ? leaves : -1;
  }

  private int perLeaf() {
    return ExtentHeader.capacity(blockSizeBytes);
  }

  @Override
  public List<MapBlock> store(MemorySegment inode, List<Long> leafBlocks) {
    RawInode.flags(inode, RawInode.EXT4_EXTENTS_FL);
    MemorySegment root = inode.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    if (leafBlocks.isEmpty()) {
      fillLeaf(root, entries);
      return List.of();
    }
    List<MapBlock> leaves = new ArrayList<>();
    ExtentHeader.initialise(root, 1);
    for (int i = 0; i < leafBlocks.size(); i++) {
      List<Entry> part =
          entries.subList(i * perLeaf(), Math.min((i + 1) * perLeaf(), entries.size()));
      long leafBlock = leafBlocks.get(i);
      ExtentHeader.insert(root, i, part.getFirst().logical(), ExtentIndex.body(leafBlock));
      MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
      fillLeaf(block, part);
      checksums.sealExtentBlock(block, inodeSeed);
      leaves.add(new MapBlock(leafBlock, block));
    }
    return leaves;
  }

  private static void fillLeaf(MemorySegment node, List<Entry> part) {
    ExtentHeader.initialise(node, 0);
    for (int i = 0; i < part.size(); i++) {
      Entry entry = part.get(i);
      ExtentHeader.insert(
          node, i, entry.logical(), Extent.body(entry.blockNr(), entry.count(), false));
    }
  }
}
