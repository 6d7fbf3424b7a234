package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// Takes the layout from a superblock, if its numbers are possible (Linux documentation, "The Super
/// Block").
final class SuperblockReader {
  private static final int MAX_LOG_BLOCK_SIZE = 6;
  private static final int MAX_DESCRIPTOR_SIZE = 1024;
  private static final int MAX_LOG_GROUPS_PER_FLEX = 31;
  private static final long MAX_BLOCKS = 1L << 48;

  /// So many more blocks than the device has are still checked; memory is in proportion to them.
  private static final long MISSING_BLOCKS_FACTOR = 4;

  private static final long MISSING_BLOCKS = 1 << 20;

  /// Of those that have a name, what nobody can check.
  private static final Set<Feature> UNKNOWN =
      EnumSet.of(
          Feature.COMPRESSION,
          Feature.DIRDATA,
          Feature.BTREE_DIR,
          Feature.HAS_SNAPSHOT,
          Feature.REPLICA);

  private final MemorySegment sb;
  private final long deviceSizeBytes;
  private final Features features;

  SuperblockReader(MemorySegment sb, long deviceSizeBytes) {
    this.sb = sb;
    this.deviceSizeBytes = deviceSizeBytes;
    this.features = Superblock.features(sb);
  }

  /// Refuses what this check does not know.
  static void requireKnown(MemorySegment sb) throws CannotCheckException {
    if (!Superblock.checksumValid(sb)) {
      return;
    }
    if (Superblock.revision(sb) > Superblock.REVISION_DYNAMIC) {
      throw new CannotCheckException(
          "the file system has revision " + Superblock.revision(sb) + ", which is not known");
    }
    Features features = Superblock.features(sb);
    if (features.has(Feature.JOURNAL_DEV)) {
      throw new CannotCheckException("this is an external journal, not a file system");
    }
    List<String> unknown = unknown(features);
    if (!unknown.isEmpty()) {
      throw new CannotCheckException(
          "the file system has unsupported features: " + String.join(" ", unknown));
    }
  }

  private static List<String> unknown(Features features) {
    Features known = Features.NONE;
    for (Feature feature : Feature.values()) {
      known = UNKNOWN.contains(feature) ? known : known.with(feature);
    }
    return new Features(
            features.compat() & ~known.compat(),
            features.incompat() & ~known.incompat(),
            features.roCompat() & ~known.roCompat())
        .names();
  }

  FsLayout layout() throws ImpossibleSuperblockException {
    require(Superblock.hasMagic(sb), "bad magic number in super-block");
    require(Superblock.checksumValid(sb), "superblock checksum does not match superblock");
    int blockSize = blockSize();
    int clusterShift = clusterShift();
    long firstDataBlock = Superblock.firstDataBlock(sb);
    long wantedFirst = blockSize == 1024 && clusterShift == 0 ? 1 : 0;
    requireValue(firstDataBlock == wantedFirst, "s_first_data_block", firstDataBlock);
    int blocksPerGroup = blocksPerGroup(blockSize, clusterShift);
    int inodeSize = inodeSize(blockSize);
    long blocks = blocksCount(blockSize, firstDataBlock);
    long groups = (blocks - firstDataBlock + blocksPerGroup - 1) / blocksPerGroup;
    require(groups <= Integer.MAX_VALUE, "s_blocks_per_group makes too many groups");
    int inodesPerGroup = inodesPerGroup(blockSize, inodeSize);
    long inodes = Superblock.inodesCount(sb);
    requireValue(inodes == groups * inodesPerGroup, "s_inodes_count", inodes);
    long firstInode = Superblock.firstInode(sb);
    requireValue(
        firstInode >= Superblock.GOOD_OLD_FIRST_INO
            && firstInode <= inodes
            && firstInode <= Integer.MAX_VALUE,
        "s_first_ino",
        firstInode);
    int flexLog = Superblock.logGroupsPerFlex(sb);
    requireValue(flexLog <= MAX_LOG_GROUPS_PER_FLEX, "s_log_groups_per_flex", flexLog);
    FsLayout layout =
        new FsLayout(
            blockSize,
            blocks,
            firstDataBlock,
            blocksPerGroup,
            clusterShift,
            inodesPerGroup,
            inodeSize,
            descriptorSize(blockSize),
            (int) groups,
            inodes,
            (int) firstInode);
    requireDescriptors(layout);
    return layout;
  }

  private int blockSize() throws ImpossibleSuperblockException {
    long log = Superblock.logBlockSize(sb);
    requireValue(log <= MAX_LOG_BLOCK_SIZE, "s_log_block_size", log);
    return 1024 << log;
  }

  private int clusterShift() throws ImpossibleSuperblockException {
    long shift = Superblock.logClusterSize(sb) - Superblock.logBlockSize(sb);
    requireValue(
        features.has(Feature.BIGALLOC) ? shift >= 0 && shift <= 20 : shift == 0,
        "s_log_cluster_size",
        Superblock.logClusterSize(sb));
    return (int) shift;
  }

  private int blocksPerGroup(int blockSize, int clusterShift) throws ImpossibleSuperblockException {
    long clusters = Superblock.clustersPerGroup(sb);
    requireValue(
        clusters >= 8 && clusters <= 8L * blockSize && clusters % 8 == 0,
        "s_clusters_per_group",
        clusters);
    long blocks = Superblock.blocksPerGroup(sb);
    requireValue(
        blocks == clusters << clusterShift && blocks <= 1 << 30, "s_blocks_per_group", blocks);
    return (int) blocks;
  }

  private int inodeSize(int blockSize) throws ImpossibleSuperblockException {
    int size = Superblock.inodeSize(sb);
    requireValue(
        size >= RawInode.GOOD_OLD_INODE_SIZE && size <= blockSize && Integer.bitCount(size) == 1,
        "s_inode_size",
        size);
    return size;
  }

  private long blocksCount(int blockSize, long firstDataBlock)
      throws ImpossibleSuperblockException {
    long blocks = Superblock.blocksCount(sb);
    requireValue(blocks > firstDataBlock + 1 && blocks <= MAX_BLOCKS, "s_blocks_count", blocks);
    long onDevice = deviceSizeBytes / blockSize;
    require(
        blocks <= Math.max(MISSING_BLOCKS, onDevice * MISSING_BLOCKS_FACTOR),
        "s_blocks_count is " + blocks + ", but the device has only " + onDevice + " blocks");
    long reserved = Superblock.reservedBlocks(sb);
    requireValue(reserved >= 0 && reserved <= blocks / 2, "s_r_blocks_count", reserved);
    return blocks;
  }

  private int inodesPerGroup(int blockSize, int inodeSize) throws ImpossibleSuperblockException {
    long count = Superblock.inodesPerGroup(sb);
    requireValue(
        count >= blockSize / inodeSize && count <= 8L * blockSize, "s_inodes_per_group", count);
    return (int) count;
  }

  private int descriptorSize(int blockSize) throws ImpossibleSuperblockException {
    int size = Superblock.descriptorSize(sb);
    if (!features.has(Feature.BIT64)) {
      requireValue(size <= MAX_DESCRIPTOR_SIZE && Integer.bitCount(size) <= 1, "s_desc_size", size);
      return GroupDescriptor.MIN_SIZE;
    }
    requireValue(
        size >= GroupDescriptor.MIN_SIZE_64BIT
            && size <= Math.min(MAX_DESCRIPTOR_SIZE, blockSize)
            && Integer.bitCount(size) == 1,
        "s_desc_size",
        size);
    return size;
  }

  /// The table of descriptors must lie inside the file system.
  private void requireDescriptors(FsLayout layout) throws ImpossibleSuperblockException {
    int reserved = Superblock.reservedGdtBlocks(sb);
    requireValue(reserved <= layout.blockSizeBytes() / 4, "s_reserved_gdt_blocks", reserved);
    GroupFront front = new GroupFront(sb, layout);
    for (int index : new int[] {0, layout.descriptorBlocks() - 1}) {
      require(
          front.descriptorBlockNr(index, 0) < layout.blocksCount(),
          "the group descriptors do not fit into the file system");
    }
  }

  private static void requireValue(boolean possible, String field, long value)
      throws ImpossibleSuperblockException {
    require(possible, "the superblock is corrupt: " + field + " is " + value);
  }

  private static void require(boolean holds, String otherwise)
      throws ImpossibleSuperblockException {
    if (!holds) {
      throw new ImpossibleSuperblockException(otherwise);
    }
  }
}
