package dev.extant.ext4.format;

import dev.extant.util.Bits;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Where the superblock, the group descriptors and their backups lie (Linux documentation,
/// "Layout", "Flexible Block Groups", "Meta Block Groups", "Lazy Block Group Initialization").
///
/// Group 0 and the groups that hold backups begin with a superblock, then the descriptor table,
/// then blocks reserved for its growth. With meta_bg, behind s_first_meta_bg, each descriptor block
/// lies in the groups it describes instead: in the first, second and last of them.
public final class GroupLayout {
  private final Geometry geometry;
  private final boolean sparseSuper;
  private final boolean sparseSuper2;
  private final long[] backupGroups;
  private final int reservedBlocks;

  /// Descriptor blocks from this index on lie in their meta group; all lie in front without
  /// meta_bg.
  private final long firstMetaIndex;

  private final int descriptorBlocks;

  public GroupLayout(MemorySegment superblock, Geometry geometry) {
    Features features = Superblock.features(superblock);
    this.geometry = geometry;
    this.sparseSuper = features.has(Feature.SPARSE_SUPER);
    this.sparseSuper2 = features.has(Feature.SPARSE_SUPER2);
    this.backupGroups =
        new long[] {Superblock.backupGroup(superblock, 0), Superblock.backupGroup(superblock, 1)};
    this.reservedBlocks = Superblock.reservedGdtBlocks(superblock);
    this.descriptorBlocks = descriptorBlocks(geometry);
    this.firstMetaIndex =
        features.has(Feature.META_BG) ? Superblock.firstMetaGroup(superblock) : descriptorBlocks;
  }

  /// How many blocks the descriptors of all groups fill.
  public static int descriptorBlocks(Geometry geometry) {
    int perBlock = geometry.descriptorsPerBlock();
    return (int) (((long) geometry.groupCount() + perBlock - 1) / perBlock);
  }

  public int descriptorBlocks() {
    return descriptorBlocks;
  }

  /// The block of the primary descriptor table that holds the group's descriptor.
  public long descriptorBlockNr(int group) {
    return descriptorBlockNrAt(group / geometry.descriptorsPerBlock());
  }

  /// Where in [#descriptorBlockNr] the group's descriptor begins.
  public int descriptorOffset(int group) {
    return group % geometry.descriptorsPerBlock() * geometry.descriptorSizeBytes();
  }

  /// The block with the given index in the primary descriptor table.
  public long descriptorBlockNrAt(int index) {
    if (index < firstMetaIndex) {
      return superblockBlock(0) + 1 + index;
    }
    int group = index * geometry.descriptorsPerBlock();
    return hasSuperblock(group) ? superblockBlock(group) + 1 : geometry.firstBlockOfGroup(group);
  }

  /// The group's first block or, since the primary superblock's place is fixed, with bigalloc and
  /// blocks of 1 KiB the second block of group 0.
  private long superblockBlock(int group) {
    return group == 0
        ? Superblock.OFFSET / geometry.blockSizeBytes()
        : geometry.firstBlockOfGroup(group);
  }

  /// Where the copies lie of the block with the given index in the primary descriptor table.
  public List<Long> descriptorBackups(int index) {
    List<Long> backups = new ArrayList<>();
    if (index < firstMetaIndex) {
      long inFront = firstMetaIndex * geometry.descriptorsPerBlock();
      for (int group = 1; group < Math.min(inFront, geometry.groupCount()); group++) {
        if (hasSuperblock(group)) {
          backups.add(geometry.firstBlockOfGroup(group) + 1 + index);
        }
      }
      return backups;
    }
    int perBlock = geometry.descriptorsPerBlock();
    for (int inMeta : new int[] {1, perBlock - 1}) {
      int group = index * perBlock + inMeta;
      if (group < geometry.groupCount()) {
        backups.add(geometry.firstBlockOfGroup(group) + (hasSuperblock(group) ? 1 : 0));
      }
    }
    return backups;
  }

  /// True if the group begins with the superblock or a backup of it.
  public boolean hasSuperblock(int group) {
    if (group == 0) {
      return true;
    }
    if (sparseSuper2) {
      return group == backupGroups[0] || group == backupGroups[1];
    }
    return !sparseSuper
        || group == 1
        || isPower(group, 3)
        || isPower(group, 5)
        || isPower(group, 7);
  }

  private static boolean isPower(int value, int base) {
    long power = base;
    while (power < value) {
      power *= base;
    }
    return power == value;
  }

  /// Blocks at the group's start that hold superblock, descriptors and the room for their growth.
  public int frontBlocks(int group) {
    int superblock = 0;
    if (hasSuperblock(group)) {
      superblock = (int) (superblockBlock(group) - geometry.firstBlockOfGroup(group)) + 1;
    }
    int index = group / geometry.descriptorsPerBlock();
    if (index < firstMetaIndex) {
      int table = (int) Math.min(firstMetaIndex, descriptorBlocks) + reservedBlocks;
      return superblock == 0 ? 0 : superblock + table;
    }
    int inMeta = group % geometry.descriptorsPerBlock();
    boolean holds = inMeta == 0 || inMeta == 1 || inMeta == geometry.descriptorsPerBlock() - 1;
    return superblock + (holds ? 1 : 0);
  }

  /// Fills the block bitmap of a group whose bitmap was never written (BLOCK_UNINIT): what lies at
  /// the group's front, its own bitmaps and inode table where they lie inside it, and all bits
  /// behind its last block. The bitmap is one block long; the descriptor must be valid.
  public void initBlockBitmap(MemorySegment descriptor, int group, MemorySegment bitmap) {
    bitmap.fill((byte) 0);
    int blocks = geometry.blocksInGroup(group);
    Bits.setRange(bitmap, 0, geometry.clusters(Math.min(frontBlocks(group), blocks)));
    setInGroup(bitmap, group, GroupDescriptor.blockBitmap(descriptor), 1);
    setInGroup(bitmap, group, GroupDescriptor.inodeBitmap(descriptor), 1);
    setInGroup(
        bitmap, group, GroupDescriptor.inodeTable(descriptor), geometry.inodeTableBlocksPerGroup());
    Bits.setRange(bitmap, geometry.clusters(blocks), 8 * geometry.blockSizeBytes());
  }

  private void setInGroup(MemorySegment bitmap, int group, long blockNr, int count) {
    long first = geometry.firstBlockOfGroup(group);
    int from = Math.clamp(blockNr - first, 0, geometry.blocksInGroup(group));
    int limit = Math.clamp(blockNr + count - first, 0, geometry.blocksInGroup(group));
    if (from < limit) {
      Bits.setRange(bitmap, from >>> geometry.logBlocksPerCluster(), geometry.clusters(limit));
    }
  }

  /// Fills the inode bitmap of a group whose bitmap was never written (INODE_UNINIT): all free, and
  /// all bits behind the last inode set.
  public void initInodeBitmap(MemorySegment bitmap) {
    bitmap.fill((byte) 0);
    Bits.setRange(bitmap, geometry.inodesPerGroup(), 8 * geometry.blockSizeBytes());
  }
}
