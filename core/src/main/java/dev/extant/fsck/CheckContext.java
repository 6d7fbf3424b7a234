package dev.extant.fsck;

import dev.extant.block.DeviceException;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import java.lang.foreign.MemorySegment;

/// What all steps of one check share. `superblock` holds the 1,024 bytes of the superblock that was
/// chosen, with numbers that [SuperblockCheck] found possible.
record CheckContext(
    MemorySegment superblock,
    Features features,
    FsLayout layout,
    Checksums checksums,
    BlockReader blocks,
    GroupFront front,
    GroupTable groups,
    Findings findings,
    BlockClaims claims,
    BlockClaims metadata,
    WalkBudget budget,
    InodeStates inodes,
    FsckOptions options) {

  void report(Problem problem, long ino, long blockNr, String detail) {
    findings.report(problem, ino, blockNr, detail);
  }

  boolean has(Feature feature) {
    return features.has(feature);
  }

  /// A copy of one block, or null, with a finding, if it cannot be read. `ino` is whose it is.
  MemorySegment readBlock(long blockNr, long ino) {
    try {
      return blocks.read(blockNr);
    } catch (DeviceException e) {
      findings.report(Problem.READ_ERROR, ino, blockNr, e.getMessage());
      return null;
    }
  }

  /// A copy of the bytes of an inode, in use or not; null, with a finding, if its place is
  /// impossible or cannot be read.
  MemorySegment readInode(long ino) {
    if (!layout.validInode(ino)) {
      return null;
    }
    long table = groups.inodeTable(layout.groupOfInode(ino));
    int index = layout.indexInGroup(ino);
    long blockNr = table + index / layout.inodesPerBlock();
    if (table == 0) {
      return null;
    }
    MemorySegment block = readBlock(blockNr, ino);
    long at = (long) (index % layout.inodesPerBlock()) * layout.inodeSizeBytes();
    return block == null ? null : block.asSlice(at, layout.inodeSizeBytes());
  }
}
