package dev.extant.fsck;

/// The numbers of the superblock that the layout depends on, checked by [SuperblockCheck].
///
/// Bitmaps have a bit per cluster, which is `1 << clusterShift` blocks; without bigalloc a block.
record FsLayout(
    int blockSizeBytes,
    long blocksCount,
    long firstDataBlock,
    int blocksPerGroup,
    int clusterShift,
    int inodesPerGroup,
    int inodeSizeBytes,
    int descriptorSizeBytes,
    int groupCount,
    long inodesCount,
    int firstInode) {

  int clustersPerGroup() {
    return blocksPerGroup >>> clusterShift;
  }

  int clusterBlocks() {
    return 1 << clusterShift;
  }

  /// Counted from the first data block.
  long clusterOf(long blockNr) {
    return blockNr - firstDataBlock >>> clusterShift;
  }

  long firstBlockOfCluster(long cluster) {
    return (cluster << clusterShift) + firstDataBlock;
  }

  long clustersCount() {
    return clusterOf(blocksCount - 1) + 1;
  }

  int groupOfBlock(long blockNr) {
    return (int) ((blockNr - firstDataBlock) / blocksPerGroup);
  }

  long firstBlockOfGroup(int group) {
    return firstDataBlock + (long) group * blocksPerGroup;
  }

  /// The last group may be short.
  int blocksInGroup(int group) {
    return (int) Math.min(blocksPerGroup, blocksCount - firstBlockOfGroup(group));
  }

  int clustersInGroup(int group) {
    return blocksInGroup(group) + clusterBlocks() - 1 >>> clusterShift;
  }

  int groupOfInode(long ino) {
    return (int) ((ino - 1) / inodesPerGroup);
  }

  int indexInGroup(long ino) {
    return (int) ((ino - 1) % inodesPerGroup);
  }

  int inodesPerBlock() {
    return blockSizeBytes / inodeSizeBytes;
  }

  int inodeTableBlocks() {
    return (int) (((long) inodesPerGroup * inodeSizeBytes + blockSizeBytes - 1) / blockSizeBytes);
  }

  int descriptorsPerBlock() {
    return blockSizeBytes / descriptorSizeBytes;
  }

  int descriptorBlocks() {
    return (int) (((long) groupCount + descriptorsPerBlock() - 1) / descriptorsPerBlock());
  }

  /// True if the number can be a block of a file: inside, and behind the superblock.
  boolean validBlock(long blockNr) {
    return blockNr > firstDataBlock && blockNr < blocksCount;
  }

  boolean validRun(long blockNr, long count) {
    return validBlock(blockNr) && count >= 0 && count <= blocksCount - blockNr;
  }

  boolean validInode(long ino) {
    return ino >= 1 && ino <= inodesCount;
  }
}
