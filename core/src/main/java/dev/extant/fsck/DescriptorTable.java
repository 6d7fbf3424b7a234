package dev.extant.fsck;

import dev.extant.block.DeviceException;
import dev.extant.ext4.format.GroupDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// Reads group descriptors when they are asked for, and keeps a few blocks of them.
final class DescriptorTable implements GroupTable {
  private static final int SLOTS = 64;

  private record Slot(int index, MemorySegment block) {}

  private final FsLayout layout;
  private final GroupFront front;
  private final BlockReader blocks;
  private final Findings findings;
  private final boolean checksums;
  private final int copy;
  private final AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SLOTS);

  /// `checksums` tells if the descriptors have any, which gives their flags a meaning; `copy` is
  /// the group whose copy of the table is read.
  DescriptorTable(
      FsLayout layout,
      GroupFront front,
      BlockReader blocks,
      Findings findings,
      boolean checksums,
      int copy) {
    this.layout = layout;
    this.front = front;
    this.blocks = blocks;
    this.findings = findings;
    this.checksums = checksums;
    this.copy = copy;
  }

  @Override
  public MemorySegment descriptor(int group) {
    int index = group / layout.descriptorsPerBlock();
    Slot slot = slots.get(index % SLOTS);
    if (slot == null || slot.index != index) {
      slot = new Slot(index, read(front.descriptorBlockNr(index, copy)));
      slots.set(index % SLOTS, slot);
    }
    long at = (long) (group % layout.descriptorsPerBlock()) * layout.descriptorSizeBytes();
    return slot.block.asSlice(at, layout.descriptorSizeBytes());
  }

  private MemorySegment read(long blockNr) {
    try {
      return blocks.read(blockNr);
    } catch (DeviceException e) {
      findings.report(Problem.READ_ERROR, 0, blockNr, e.getMessage());
      return MemorySegment.ofArray(new byte[layout.blockSizeBytes()]);
    }
  }

  @Override
  public long inodeTable(int group) {
    long table = GroupDescriptor.inodeTable(descriptor(group));
    return layout.validRun(table, layout.inodeTableBlocks()) ? table : 0;
  }

  @Override
  public int scannedInodes(int group) {
    MemorySegment descriptor = descriptor(group);
    int inodes = layout.inodesPerGroup();
    if (!checksums) {
      return inodes;
    }
    if (GroupDescriptor.hasFlag(descriptor, GroupDescriptor.INODE_UNINIT)) {
      return 0;
    }
    int unused = GroupDescriptor.unusedInodes(descriptor);
    return unused < 0 || unused > inodes ? inodes : inodes - unused;
  }

  @Override
  public boolean blockBitmapUninit(int group) {
    return checksums && GroupDescriptor.hasFlag(descriptor(group), GroupDescriptor.BLOCK_UNINIT);
  }

  @Override
  public boolean inodeBitmapUninit(int group) {
    return checksums && GroupDescriptor.hasFlag(descriptor(group), GroupDescriptor.INODE_UNINIT);
  }
}
