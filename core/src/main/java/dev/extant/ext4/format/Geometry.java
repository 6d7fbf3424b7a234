package dev.extant.ext4.format;

/// The layout constants of one file system, as read (and checked) from its superblock.
///
/// `firstDataBlock` is 1 with 1 KiB blocks, else 0. `inodesPerGroup`, `blocksPerGroup` count per
/// block group. `descriptorSizeBytes` is 32 or, with 64bit, 64 or more. Block numbers are below
/// `blocksCount`.
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
    int logGroupsPerFlex) {

  public int blockShift() {
    return Integer.numberOfTrailingZeros(blockSizeBytes);
  }

  public int groupOfBlock(long blockNr) {
    return (int) ((blockNr - firstDataBlock) / blocksPerGroup);
  }

  public int indexInGroup(long blockNr) {
    return (int) ((blockNr - firstDataBlock) % blocksPerGroup);
  }

  public long firstBlockOfGroup(int group) {
    return firstDataBlock + (long) group * blocksPerGroup;
  }

  /// Blocks in the group; the last group may be short.
  public int blocksInGroup(int group) {
    return (int) Math.min(blocksPerGroup, blocksCount - firstBlockOfGroup(group));
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
