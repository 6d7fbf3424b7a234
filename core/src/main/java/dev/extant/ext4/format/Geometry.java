package dev.extant.ext4.format;

/// The layout constants of one file system, as read (and checked) from its superblock.
///
/// `firstDataBlock` is 1 with 1 KiB blocks, else 0. `inodesPerGroup`, `blocksPerGroup` count per
/// block group. `descriptorSizeBytes` is 32 or, with 64bit, 64 or more. Block numbers are below
/// `blocksCount`.
///
/// A cluster is what a bit of a block bitmap stands for: one block or, with bigalloc,
/// 2^`logBlocksPerCluster` of them. Free counts of group descriptors are in clusters.
public record Geometry(
    int blockSizeBytes,
    long blocksCount,
    long firstDataBlock,
    int blocksPerGroup,
    int inodesPerGroup,
    int inodeSizeBytes,
    int descriptorSizeBytes,
    int groupCount,
    long inodesCount,
    int firstInode,
    int logGroupsPerFlex,
    int logBlocksPerCluster) {

  public int blockShift() {
    return Integer.numberOfTrailingZeros(blockSizeBytes);
  }

  public int groupOfBlock(long blockNr) {
    return (int) ((blockNr - firstDataBlock) / blocksPerGroup);
  }

  /// Which bit of its group's block bitmap stands for the block.
  public int clusterInGroup(long blockNr) {
    return (int) ((blockNr - firstDataBlock) % blocksPerGroup) >>> logBlocksPerCluster;
  }

  public long firstBlockOfGroup(int group) {
    return firstDataBlock + (long) group * blocksPerGroup;
  }

  /// Blocks in the group; the last group may be short.
  public int blocksInGroup(int group) {
    return (int) Math.min(blocksPerGroup, blocksCount - firstBlockOfGroup(group));
  }

  public int blocksPerCluster() {
    return 1 << logBlocksPerCluster;
  }

  public int clustersPerGroup() {
    return blocksPerGroup >>> logBlocksPerCluster;
  }

  /// Clusters in the group; of the last one in a short group some blocks may be missing.
  public int clustersInGroup(int group) {
    return clusters(blocksInGroup(group));
  }

  /// How many clusters it takes to hold that many blocks.
  public int clusters(int blocks) {
    return (int) ((long) blocks + blocksPerCluster() - 1 >>> logBlocksPerCluster);
  }

  public int groupOfInode(long ino) {
    return (int) ((ino - 1) / inodesPerGroup);
  }

  public int inodeIndexInGroup(long ino) {
    return (int) ((ino - 1) % inodesPerGroup);
  }

  public int inodesPerBlock() {
    return blockSizeBytes / inodeSizeBytes;
  }

  public int inodeTableBlocksPerGroup() {
    return (int) (((long) inodesPerGroup * inodeSizeBytes + blockSizeBytes - 1) / blockSizeBytes);
  }

  public int descriptorsPerBlock() {
    return blockSizeBytes / descriptorSizeBytes;
  }

  public boolean validDataBlock(long blockNr) {
    return blockNr > firstDataBlock && blockNr < blocksCount;
  }
}
