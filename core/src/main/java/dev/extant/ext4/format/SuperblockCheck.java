package dev.extant.ext4.format;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;

/// Checks every number of a superblock on which the layout depends, and makes the [Geometry] of
/// them. Rules are those of the Linux documentation ("The Super Block", "Layout").
final class SuperblockCheck {
  /// 64 KiB.
  private static final int MAX_LOG_BLOCK_SIZE = 6;

  /// Extents and descriptors hold 48 bits of block number.
  private static final long MAX_BLOCKS = 1L << 48;

  /// 1 GiB.
  private static final int MAX_LOG_CLUSTER_SIZE = 20;

  private static final int MAX_DESCRIPTOR_SIZE = 1024;
  private static final int MAX_LOG_GROUPS_PER_FLEX = 31;

  private final MemorySegment sb;
  private final long deviceSizeBytes;
  private final Features features;

  SuperblockCheck(MemorySegment sb, long deviceSizeBytes) {
    this.sb = sb;
    this.deviceSizeBytes = deviceSizeBytes;
    this.features = Superblock.features(sb);
  }

  Geometry geometry() throws FsException {
    if (!Superblock.hasMagic(sb)) {
      throw new FsException(Errno.EUCLEAN, "not an ext2, ext3 or ext4 file system (no magic)");
    }
    require(
        Superblock.revision(sb) <= Superblock.REVISION_DYNAMIC,
        "s_rev_level",
        Superblock.revision(sb),
        "only 0 and 1 are known");
    requireChecksumType();
    int blockSizeBytes = blockSize();
    long firstDataBlock = firstDataBlock(blockSizeBytes);
    int logBlocksPerCluster = logBlocksPerCluster();
    int blocksPerGroup = blocksPerGroup(blockSizeBytes, logBlocksPerCluster);
    int inodeSizeBytes = inodeSize(blockSizeBytes);
    int descriptorSizeBytes = descriptorSize(blockSizeBytes);
    int inodesPerGroup = inodesPerGroup(blockSizeBytes, inodeSizeBytes);
    long blocksCount = blocksCount(blockSizeBytes, firstDataBlock);
    int groupCount = groupCount(blocksCount - firstDataBlock, blocksPerGroup);
    long inodesCount = inodesCount(inodesPerGroup, groupCount);
    Geometry geometry =
        new Geometry(
            blockSizeBytes,
            blocksCount,
            firstDataBlock,
            blocksPerGroup,
            inodesPerGroup,
            inodeSizeBytes,
            descriptorSizeBytes,
            groupCount,
            inodesCount,
            firstInode(inodesCount),
            logGroupsPerFlex(),
            logBlocksPerCluster);
    requireDescriptorTable(geometry);
    return geometry;
  }

  private void requireChecksumType() throws FsException {
    if (features.has(Feature.METADATA_CSUM)) {
      int type = Superblock.checksumType(sb);
      require(
          type == Superblock.CHECKSUM_TYPE_CRC32C,
          "s_checksum_type",
          type,
          "only 1 (crc32c) is known");
    }
  }

  private int blockSize() throws FsException {
    long log = Superblock.logBlockSize(sb);
    require(log <= MAX_LOG_BLOCK_SIZE, "s_log_block_size", log, "the largest is 6 (64 KiB)");
    return 1024 << log;
  }

  private int logBlocksPerCluster() throws FsException {
    long blockLog = Superblock.logBlockSize(sb);
    long clusterLog = Superblock.logClusterSize(sb);
    if (features.has(Feature.BIGALLOC)) {
      require(
          clusterLog >= blockLog && clusterLog <= MAX_LOG_CLUSTER_SIZE,
          "s_log_cluster_size",
          clusterLog,
          "it must be from s_log_block_size to " + MAX_LOG_CLUSTER_SIZE);
    } else {
      require(
          clusterLog == blockLog,
          "s_log_cluster_size",
          clusterLog,
          "without bigalloc it must be s_log_block_size");
    }
    return (int) (clusterLog - blockLog);
  }

  private long firstDataBlock(int blockSizeBytes) throws FsException {
    long first = Superblock.firstDataBlock(sb);
    int wanted = blockSizeBytes == 1024 && !features.has(Feature.BIGALLOC) ? 1 : 0;
    require(first == wanted, "s_first_data_block", first, "it must be " + wanted);
    return first;
  }

  private int blocksPerGroup(int blockSizeBytes, int logBlocksPerCluster) throws FsException {
    long count = Superblock.blocksPerGroup(sb);
    long most = Math.min(8L * blockSizeBytes << logBlocksPerCluster, Integer.MAX_VALUE);
    long multiple = 8L << logBlocksPerCluster;
    require(
        count >= multiple && count <= most && count % multiple == 0,
        "s_blocks_per_group",
        count,
        "it must be a multiple of " + multiple + " up to " + most);
    long clusters = Superblock.clustersPerGroup(sb);
    require(
        clusters == count >>> logBlocksPerCluster,
        "s_clusters_per_group",
        clusters,
        count + " blocks per group make " + (count >>> logBlocksPerCluster));
    return (int) count;
  }

  private int inodeSize(int blockSizeBytes) throws FsException {
    int size = Superblock.inodeSize(sb);
    require(
        size >= RawInode.GOOD_OLD_INODE_SIZE
            && size <= blockSizeBytes
            && Integer.bitCount(size) == 1,
        "s_inode_size",
        size,
        "it must be a power of two from 128 to the block size");
    return size;
  }

  private int descriptorSize(int blockSizeBytes) throws FsException {
    if (!features.has(Feature.BIT64)) {
      return GroupDescriptor.MIN_SIZE;
    }
    int size = Superblock.descriptorSize(sb);
    require(
        size >= GroupDescriptor.MIN_SIZE_64BIT
            && size <= Math.min(MAX_DESCRIPTOR_SIZE, blockSizeBytes)
            && Integer.bitCount(size) == 1,
        "s_desc_size",
        size,
        "with 64bit it must be a power of two from 64 to 1024");
    return size;
  }

  private int inodesPerGroup(int blockSizeBytes, int inodeSizeBytes) throws FsException {
    long count = Superblock.inodesPerGroup(sb);
    int least = blockSizeBytes / inodeSizeBytes;
    require(
        count >= least && count <= 8L * blockSizeBytes,
        "s_inodes_per_group",
        count,
        "it must be from " + least + " to " + 8L * blockSizeBytes);
    return (int) count;
  }

  private long blocksCount(int blockSizeBytes, long firstDataBlock) throws FsException {
    long count = Superblock.blocksCount(sb);
    require(
        count > firstDataBlock + 1 && count <= MAX_BLOCKS,
        "s_blocks_count",
        count,
        "it must be from " + (firstDataBlock + 2) + " to 2^48");
    require(
        count <= deviceSizeBytes / blockSizeBytes,
        "s_blocks_count",
        count,
        "the device has only " + deviceSizeBytes / blockSizeBytes + " blocks");
    return count;
  }

  private int groupCount(long blocks, int blocksPerGroup) throws FsException {
    long groups = (blocks + blocksPerGroup - 1) / blocksPerGroup;
    require(
        groups <= Integer.MAX_VALUE,
        "s_blocks_per_group",
        blocksPerGroup,
        "that makes " + groups + " groups");
    return (int) groups;
  }

  private long inodesCount(int inodesPerGroup, int groupCount) throws FsException {
    long count = Superblock.inodesCount(sb);
    long wanted = (long) inodesPerGroup * groupCount;
    require(
        count == wanted,
        "s_inodes_count",
        count,
        groupCount + " groups of " + inodesPerGroup + " inodes make " + wanted);
    return count;
  }

  private int firstInode(long inodesCount) throws FsException {
    long first = Superblock.firstInode(sb);
    require(
        first >= Superblock.GOOD_OLD_FIRST_INO
            && first <= Integer.MAX_VALUE
            && first <= inodesCount,
        "s_first_ino",
        first,
        "it must be from 11 to s_inodes_count");
    return (int) first;
  }

  private int logGroupsPerFlex() throws FsException {
    if (!features.has(Feature.FLEX_BG)) {
      return 0;
    }
    int log = Superblock.logGroupsPerFlex(sb);
    require(log <= MAX_LOG_GROUPS_PER_FLEX, "s_log_groups_per_flex", log, "the largest is 31");
    return log;
  }

  /// The descriptors must lie in the first group, and the inode table must be countable.
  private void requireDescriptorTable(Geometry geometry) throws FsException {
    int reserved = Superblock.reservedGdtBlocks(sb);
    require(
        reserved <= geometry.blockSizeBytes() / 4,
        "s_reserved_gdt_blocks",
        reserved,
        "the largest is " + geometry.blockSizeBytes() / 4);
    long tableBlocks = GroupLayout.descriptorBlocks(geometry);
    long inFirstGroup = tableBlocks;
    if (features.has(Feature.META_BG)) {
      long firstMeta = Superblock.firstMetaGroup(sb);
      require(
          firstMeta <= tableBlocks,
          "s_first_meta_bg",
          firstMeta,
          "there are only " + tableBlocks + " descriptor blocks");
      inFirstGroup = firstMeta;
    }
    require(
        1 + inFirstGroup + reserved < geometry.blocksInGroup(0),
        "s_blocks_per_group",
        geometry.blocksPerGroup(),
        inFirstGroup + " descriptor blocks and " + reserved + " reserved do not fit into a group");
  }

  private static void require(boolean holds, String field, long value, String rule)
      throws FsException {
    if (!holds) {
      throw new FsException(
          Errno.EUCLEAN, "the superblock is corrupt: " + field + " is " + value + ", but " + rule);
    }
  }
}
