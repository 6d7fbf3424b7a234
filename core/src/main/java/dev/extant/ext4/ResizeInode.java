package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Inode 7, which owns the blocks kept for the growth of the descriptor table (Linux documentation,
/// "Special inodes").
///
/// Its double-indirect block names each such block of the primary table as an indirect block, at
/// the block's index in the table modulo the number of places; and that block, in turn, names its
/// copies in the groups with backups.
final class ResizeInode {
  private static final int I_BLOCK_DOUBLE_INDIRECT = RawInode.I_BLOCK + 4 * 13;
  private static final int SECTOR = 512;

  private final SizePlan plan;
  private final BufferCache buffers;
  private final Checksums checksums;
  private final Geometry geometry;
  private final long tableBlock;
  private final long inBlock;

  ResizeInode(SizePlan plan, BufferCache buffers) throws IOException {
    this.plan = plan;
    this.buffers = buffers;
    this.checksums = new Checksums(plan.superblock());
    this.geometry = plan.before();
    long offset = (long) (Superblock.RESIZE_INO - 1) * geometry.inodeSizeBytes();
    GroupLayout layout = plan.layoutBefore();
    int group = geometry.groupOfInode(Superblock.RESIZE_INO);
    try (Buffer buffer = buffers.read(layout.descriptorBlockNr(group))) {
      int size = geometry.descriptorSizeBytes();
      MemorySegment descriptor = buffer.data().asSlice(layout.descriptorOffset(group), size);
      tableBlock = GroupDescriptor.inodeTable(descriptor) + (offset >>> geometry.blockShift());
    }
    inBlock = offset & geometry.blockSizeBytes() - 1;
  }

  /// Blocks that [#update] changes at most.
  int credits() {
    return 2 + reservedAfter();
  }

  private int reservedAfter() {
    return Superblock.reservedGdtBlocks(plan.superblock());
  }

  /// Lets the inode own what is reserved after the step, with its copies in the groups that have
  /// backups then.
  void update(Handle handle, int reservedBefore) throws IOException {
    List<Long> offsetsBefore = backupOffsets(plan.before(), plan.layoutBefore());
    List<Long> offsets = backupOffsets(plan.after(), plan.layoutAfter());
    int perBlock = geometry.blockSizeBytes() / 4;
    int inTableBefore = plan.layoutBefore().descriptorBlocks();
    int inTable = plan.layoutAfter().descriptorBlocks();
    try (Buffer table = buffers.read(tableBlock);
        Buffer top = buffers.read(doubleIndirect(inode(table)))) {
      handle.writeAccess(top);
      for (int i = 0; i < reservedBefore; i++) {
        Le.put32(top.data(), 4L * ((inTableBefore + i) % perBlock), 0);
      }
      for (int i = 0; i < reservedAfter(); i++) {
        long blockNr = plan.layoutBefore().descriptorBlockNrAt(0) + inTable + i;
        Le.put32(top.data(), 4L * ((inTable + i) % perBlock), blockNr);
        boolean isNew = inTable + i < inTableBefore;
        if (isNew || !offsets.equals(offsetsBefore)) {
          nameCopies(handle, blockNr, offsets);
        }
      }
      handle.dirty(top);
      handle.writeAccess(table);
      MemorySegment inode = inode(table);
      long blocks = 1 + (long) reservedAfter() * (1 + offsets.size());
      // With bigalloc each is counted as a whole cluster.
      blocks *= geometry.blocksPerCluster();
      RawInode.blocks(inode, blocks * (geometry.blockSizeBytes() / SECTOR));
      checksums.sealInode(inode, Superblock.RESIZE_INO);
      handle.dirty(table);
    }
  }

  private void nameCopies(Handle handle, long blockNr, List<Long> offsets) throws IOException {
    try (Buffer indirect = buffers.read(blockNr)) {
      handle.writeAccess(indirect);
      indirect.data().fill((byte) 0);
      for (int k = 0; k < offsets.size(); k++) {
        Le.put32(indirect.data(), 4L * k, blockNr + offsets.get(k));
      }
      handle.dirty(indirect);
    }
  }

  /// Empties the inode, which owns no reserved block any more, and returns the block that is free
  /// then.
  long remove(Handle handle) throws IOException {
    try (Buffer table = buffers.read(tableBlock)) {
      handle.writeAccess(table);
      MemorySegment inode = inode(table);
      long blockNr = doubleIndirect(inode);
      inode.fill((byte) 0);
      checksums.sealInode(inode, Superblock.RESIZE_INO);
      handle.dirty(table);
      return blockNr;
    }
  }

  private MemorySegment inode(Buffer table) {
    return table.data().asSlice(inBlock, geometry.inodeSizeBytes());
  }

  private long doubleIndirect(MemorySegment inode) throws FsException {
    long blockNr = Le.u32(inode, I_BLOCK_DOUBLE_INDIRECT);
    if (!geometry.validDataBlock(blockNr)) {
      throw new FsException(
          Errno.EUCLEAN, "the resize inode 7 has no double-indirect block; run e2fsck first");
    }
    return blockNr;
  }

  /// How far behind the primary copies the backups lie.
  private static List<Long> backupOffsets(Geometry geometry, GroupLayout layout) {
    List<Long> offsets = new ArrayList<>();
    for (int group = 1; group < geometry.groupCount(); group++) {
      if (layout.hasSuperblock(group)) {
        offsets.add((long) group * geometry.blocksPerGroup());
      }
    }
    return offsets;
  }
}
