package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// What the front of each group holds (Linux documentation, "Layout", "Meta Block Groups"): a copy
/// of the superblock, descriptor blocks, blocks reserved for more of them.
final class GroupFront {
  private final FsLayout layout;
  private final boolean sparse;
  private final long[] sparse2Groups;
  private final int reservedBlocks;

  /// Descriptor blocks from this index on lie in the groups that they describe.
  private final long firstMetaIndex;

  GroupFront(MemorySegment sb, FsLayout layout) {
    Features features = Superblock.features(sb);
    this.layout = layout;
    this.sparse = features.has(Feature.SPARSE_SUPER);
    this.sparse2Groups =
        features.has(Feature.SPARSE_SUPER2)
            ? new long[] {Superblock.backupGroup(sb, 0), Superblock.backupGroup(sb, 1)}
            : null;
    boolean metaGroups = features.has(Feature.META_BG);
    this.firstMetaIndex =
        metaGroups
            ? Math.min(Superblock.firstMetaGroup(sb), layout.blocksPerGroup())
            : layout.descriptorBlocks();
    this.reservedBlocks = metaGroups ? 0 : Superblock.reservedGdtBlocks(sb);
  }

  boolean hasSuperblock(int group) {
    if (group == 0) {
      return true;
    }
    if (sparse2Groups != null) {
      return group == sparse2Groups[0] || group == sparse2Groups[1];
    }
    return !sparse || group == 1 || power(group, 3) || power(group, 5) || power(group, 7);
  }

  private static boolean power(int value, int base) {
    long power = base;
    while (power < value) {
      power *= base;
    }
    return power == value;
  }

  /// The block that holds the group's superblock, if it has one. With 1 KiB blocks and clusters
  /// block 0 is the boot block and counts to group 0.
  long superblockNr(int group) {
    return layout.firstBlockOfGroup(group) + bootBlocks(group);
  }

  private int bootBlocks(int group) {
    return group == 0 && layout.blockSizeBytes() == 1024 && layout.firstDataBlock() == 0 ? 1 : 0;
  }

  /// Where the group's part of the descriptor table begins; meaningful if [#descriptorBlocks] > 0.
  long firstDescriptorBlock(int group) {
    return superblockNr(group) + (hasSuperblock(group) ? 1 : 0);
  }

  /// Descriptor blocks in the group: of the whole table's copy, or the one of its meta group.
  int descriptorBlocks(int group) {
    int perBlock = layout.descriptorsPerBlock();
    if (group / perBlock < firstMetaIndex) {
      return hasSuperblock(group) ? (int) firstMetaIndex : 0;
    }
    int inMeta = group % perBlock;
    return inMeta == 0 || inMeta == 1 || inMeta == perBlock - 1 ? 1 : 0;
  }

  /// Blocks behind the table that are kept for its growth.
  int reservedBlocks(int group) {
    return hasSuperblock(group) && group / layout.descriptorsPerBlock() < firstMetaIndex
        ? reservedBlocks
        : 0;
  }

  /// Everything in front, the boot block included.
  int blocks(int group) {
    return bootBlocks(group)
        + (hasSuperblock(group) ? 1 : 0)
        + descriptorBlocks(group)
        + reservedBlocks(group);
  }

  /// The descriptor block with that index, in the copy that group `copy` holds (0 for the primary
  /// one). Blocks of meta groups have no copy there; their primary place is given.
  long descriptorBlockNr(int index, int copy) {
    if (index < firstMetaIndex) {
      return firstDescriptorBlock(copy) + index;
    }
    return firstDescriptorBlock(index * layout.descriptorsPerBlock());
  }
}
