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
  private final DescriptorPlaces places;
  private final BlockReader blocks;
  private final Findings findings;
  private final AtomicReferenceArray<Slot> slots = new AtomicReferenceArray<>(SLOTS);

  DescriptorTable(FsLayout layout, DescriptorPlaces places, BlockReader blocks, Findings findings) {
    this.layout = layout;
    this.places = places;
    this.blocks = blocks;
    this.findings = findings;
  }

  @Override
  public MemorySegment descriptor(int group) {
    int index = group / layout.descriptorsPerBlock();
    Slot slot = slots.get(index % SLOTS);
    if (slot == null || slot.index != index) {
      slot = new Slot(index, read(places.blockNr(index)));
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
    return layout.inodesPerGroup();
  }
}
