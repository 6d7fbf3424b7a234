package dev.extant.ext4;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// One step from a file system's size to another: the numbers before and after.
///
/// The table of descriptors grows into the blocks that the resize inode keeps for it, or, when
/// those are used up, into the groups themselves (meta_bg; then there is no resize inode any more).
/// A step that would need both only does the first; the next step does the other.
record SizePlan(
    Geometry before,
    Geometry after,
    GroupLayout layoutBefore,
    GroupLayout layoutAfter,
    MemorySegment superblock,
    boolean losesResizeInode) {
  /// A last group with less room for data than this is not worth having.
  static final int MIN_DATA_BLOCKS = 50;

  /// Bounds what one step holds in memory.
  private static final int MAX_GROUPS_PER_STEP = 4096;

  private static final long MAX_INODES = 0xffff_ffffL;
  private static final long MAX_BLOCKS_32BIT = 0xffff_ffffL;

  /// The first step of growing to `blocksCount` blocks; null if that is no growth.
  static SizePlan growth(MemorySegment superblock, long blocksCount) throws FsException {
    Geometry before = Superblock.geometry(superblock, Long.MAX_VALUE);
    GroupLayout layout = new GroupLayout(superblock, before);
    long first = before.firstDataBlock();
    long groups = ceil(blocksCount - first, before.blocksPerGroup());
    requirePossible(superblock, blocksCount, groups * before.inodesPerGroup());
    groups = Math.min(groups, (long) before.groupCount() + MAX_GROUPS_PER_STEP);
    Features features = Superblock.features(superblock);
    MemorySegment bytes = MemorySegment.ofArray(new byte[Superblock.SIZE]).copyFrom(superblock);
    boolean losesResizeInode = false;
    if (!features.has(Feature.META_BG)) {
      int perBlock = before.descriptorsPerBlock();
      int inTable = layout.descriptorBlocks();
      int reserved = Superblock.reservedGdtBlocks(superblock);
      if (ceil(groups, perBlock) > inTable + reserved) {
        long room = (long) (inTable + reserved) * perBlock;
        if (room > before.groupCount()) {
          groups = room;
        } else {
          losesResizeInode = features.has(Feature.RESIZE_INODE);
          Superblock.features(bytes, features.with(Feature.META_BG).without(Feature.RESIZE_INODE));
          Superblock.firstMetaGroup(bytes, inTable);
        }
      }
      long used = Math.max(0, Math.min(ceil(groups, perBlock), inTable + reserved) - inTable);
      Superblock.reservedGdtBlocks(bytes, (int) (reserved - used));
    }
    long most = Math.min(blocksCount, first + groups * before.blocksPerGroup());
    return withCounts(superblock, bytes, before, layout, most, groups, losesResizeInode);
  }

  /// Shrinking to `blocksCount` blocks or, if those leave too little of the last group, to the end
  /// of the group before; null if that is not smaller. EINVAL if nothing would be left.
  ///
  /// Blocks of descriptors that are not needed any more are kept by the resize inode, where there
  /// is one.
  static SizePlan shrinkage(MemorySegment superblock, long blocksCount) throws FsException {
    Geometry before = Superblock.geometry(superblock, Long.MAX_VALUE);
    GroupLayout layout = new GroupLayout(superblock, before);
    MemorySegment bytes = MemorySegment.ofArray(new byte[Superblock.SIZE]).copyFrom(superblock);
    long blocks = blocksCount;
    if (before.blocksPerCluster() > 1) {
      blocks -= (blocks - before.firstDataBlock()) % before.blocksPerCluster();
    }
    while (true) {
      long groups = ceil(blocks - before.firstDataBlock(), before.blocksPerGroup());
      if (groups < 1) {
        throw new FsException(Errno.EINVAL, blocksCount + " blocks are too few for a file system");
      }
      if (blocks >= before.blocksCount()) {
        return null;
      }
      Superblock.blocksCount(bytes, blocks);
      Superblock.inodesCount(bytes, groups * before.inodesPerGroup());
      shrinkDescriptors(superblock, bytes, layout, (int) groups);
      Geometry after = Superblock.geometry(bytes, Long.MAX_VALUE);
      GroupLayout layoutAfter = new GroupLayout(bytes, after);
      int last = after.groupCount() - 1;
      int needed = layoutAfter.frontBlocks(last) + 2 + after.inodeTableBlocksPerGroup();
      if (after.blocksInGroup(last) >= needed + MIN_DATA_BLOCKS) {
        scaleReserve(superblock, bytes, blocks);
        return new SizePlan(before, after, layout, layoutAfter, bytes, false);
      }
      blocks = before.firstDataBlock() + (groups - 1) * before.blocksPerGroup();
    }
  }

  private static void shrinkDescriptors(
      MemorySegment superblock, MemorySegment bytes, GroupLayout layout, int groups)
      throws FsException {
    Features features = Superblock.features(superblock);
    int perBlock = Superblock.geometry(superblock, Long.MAX_VALUE).descriptorsPerBlock();
    int inTable = (int) ceil(groups, perBlock);
    if (features.has(Feature.META_BG) && Superblock.firstMetaGroup(superblock) > inTable) {
      Superblock.features(bytes, features.without(Feature.META_BG));
      Superblock.firstMetaGroup(bytes, 0);
    }
    if (features.has(Feature.RESIZE_INODE)) {
      int reserved = Superblock.reservedGdtBlocks(superblock);
      int most = (int) (1024L << Superblock.logBlockSize(superblock)) / 4;
      int kept = Math.min(most, reserved + layout.descriptorBlocks() - inTable);
      Superblock.reservedGdtBlocks(bytes, kept);
    }
    for (int i = 0; i < 2; i++) {
      if (Superblock.backupGroup(superblock, i) >= groups) {
        Superblock.backupGroup(bytes, i, 0);
      }
    }
  }

  private static SizePlan withCounts(
      MemorySegment superblock,
      MemorySegment bytes,
      Geometry before,
      GroupLayout layout,
      long wantedBlocks,
      long wantedGroups,
      boolean losesResizeInode)
      throws FsException {
    long blocks = wantedBlocks;
    long groups = wantedGroups;
    while (true) {
      if (blocks <= before.blocksCount()) {
        return null;
      }
      Superblock.blocksCount(bytes, blocks);
      Superblock.inodesCount(bytes, groups * before.inodesPerGroup());
      Geometry after = Superblock.geometry(bytes, Long.MAX_VALUE);
      GroupLayout layoutAfter = new GroupLayout(bytes, after);
      int last = after.groupCount() - 1;
      int needed = layoutAfter.frontBlocks(last) + 2 + after.inodeTableBlocksPerGroup();
      if (last < before.groupCount() || after.blocksInGroup(last) >= needed + MIN_DATA_BLOCKS) {
        scaleReserve(superblock, bytes, blocks);
        return new SizePlan(before, after, layout, layoutAfter, bytes, losesResizeInode);
      }
      groups--;
      blocks = before.firstDataBlock() + groups * before.blocksPerGroup();
    }
  }

  /// The same share of the file system stays reserved.
  private static void scaleReserve(MemorySegment before, MemorySegment after, long blocks) {
    double share = (double) Superblock.reservedBlocks(before) / Superblock.blocksCount(before);
    Superblock.reservedBlocks(after, (long) (share * blocks));
  }

  private static void requirePossible(MemorySegment superblock, long blocks, long inodes)
      throws FsException {
    if (inodes > MAX_INODES) {
      throw new FsException(
          Errno.EFBIG,
          blocks + " blocks would bring " + inodes + " inodes, and a file system has 2^32 - 1");
    }
    if (blocks > MAX_BLOCKS_32BIT && !Superblock.features(superblock).has(Feature.BIT64)) {
      throw new FsException(
          Errno.EFBIG,
          blocks + " blocks are more than a file system without the feature 64bit holds");
    }
  }

  /// Behind the last block of the group's bitmaps and inode table.
  static long endOfMetadata(GroupTable table, int group) throws IOException {
    long bitmaps = Math.max(table.blockBitmap(group), table.inodeBitmap(group)) + 1;
    long inodes = table.inodeTable(group) + table.geometry().inodeTableBlocksPerGroup();
    return Math.max(bitmaps, inodes);
  }

  /// Groups that are new.
  int newGroups() {
    return after.groupCount() - before.groupCount();
  }

  /// The first block of descriptors that changes.
  int firstChangedDescriptorBlock() {
    return (before.groupCount() - 1) / before.descriptorsPerBlock();
  }

  private static long ceil(long value, long unit) {
    return (value + unit - 1) / unit;
  }
}
