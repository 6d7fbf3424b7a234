package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.util.Bits;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Makes a file system that is not mounted larger, in steps.
///
/// A step writes the new groups behind the old end first, then changes everything within the old
/// end in one transaction: the last group's bitmap, descriptors, the resize inode, the superblock.
/// A power cut leaves the old size or the new one.
final class Growth {
  private final BlockDevice device;
  private final MountOptions options;
  private final long zeroesFrom;

  /// The device is known to hold zeroes from byte `zeroesFrom` on.
  Growth(BlockDevice device, MountOptions options, long zeroesFrom) {
    this.device = device;
    this.options = options;
    this.zeroesFrom = zeroesFrom;
  }

  /// Grows to as near below `blocksCount` as the layout allows.
  void growTo(long blocksCount) throws IOException {
    boolean more = true;
    while (more) {
      try (OfflineEdit edit = OfflineEdit.open(device, options)) {
        SizePlan plan = SizePlan.growth(edit.superblockBytes(), blocksCount);
        more = plan != null;
        if (more) {
          new Step(edit, plan).run();
        }
        edit.done();
      }
    }
  }

  private final class Step {
    private final OfflineEdit edit;
    private final SizePlan plan;
    private final Geometry before;
    private final Geometry after;
    private final Checksums checksums;
    private final NewGroups groups;
    private final int reservedBefore;
    private final boolean hasResizeInode;
    private long freed;

    Step(OfflineEdit edit, SizePlan plan) throws IOException {
      this.edit = edit;
      this.plan = plan;
      this.before = plan.before();
      this.after = plan.after();
      this.checksums = new Checksums(plan.superblock());
      this.groups = new NewGroups(plan);
      this.reservedBefore = Superblock.reservedGdtBlocks(edit.superblockBytes());
      this.hasResizeInode = Superblock.features(edit.superblockBytes()).has(Feature.RESIZE_INODE);
    }

    void run() throws IOException {
      groups.write(edit.queue, zeroesFrom);
      writeOuterDescriptors();
      edit.queue.flush();
      int changedDescriptors =
          plan.layoutAfter().descriptorBlocks() - plan.firstChangedDescriptorBlock();
      int credits = 1 + 1 + changedDescriptors;
      ResizeInode resizeInode = hasResizeInode ? new ResizeInode(plan, edit.buffers) : null;
      if (resizeInode != null) {
        // Losing it frees a block: its bitmap and its descriptor.
        credits += resizeInode.credits() + 2;
      }
      edit.change(credits, handle -> change(handle, resizeInode));
      edit.writeBackups();
      edit.writeDescriptorBackups();
    }

    private void change(Handle handle, ResizeInode resizeInode) throws IOException {
      writeInnerDescriptors(handle);
      int last = before.groupCount() - 1;
      int known = before.clustersInGroup(last);
      int added = after.clustersInGroup(last) - known;
      if (added > 0) {
        free(handle, last, known, added);
      }
      if (plan.losesResizeInode()) {
        long blockNr = resizeInode.remove(handle);
        free(handle, before.groupOfBlock(blockNr), before.clusterInGroup(blockNr), 1);
      } else if (resizeInode != null) {
        resizeInode.update(handle, reservedBefore);
      }
      edit.superblock.edit(handle, this::apply);
    }

    private void apply(MemorySegment sb) {
      MemorySegment now = plan.superblock();
      long added = clusters(after) - clusters(before);
      long freeClusters = groups.freeClusters() + freed;
      Superblock.overheadClusters(sb, Superblock.overheadClusters(sb) + added - freeClusters);
      Superblock.blocksCount(sb, after.blocksCount());
      Superblock.inodesCount(sb, after.inodesCount());
      Superblock.freeBlocks(
          sb, Superblock.freeBlocks(sb) + freeClusters * after.blocksPerCluster());
      Superblock.freeInodes(
          sb, Superblock.freeInodes(sb) + after.inodesCount() - before.inodesCount());
      Superblock.reservedBlocks(sb, Superblock.reservedBlocks(now));
      Superblock.reservedGdtBlocks(sb, Superblock.reservedGdtBlocks(now));
      Superblock.firstMetaGroup(sb, Superblock.firstMetaGroup(now));
      boolean recovers = Superblock.features(sb).has(Feature.NEEDS_RECOVERY);
      var features = Superblock.features(now);
      Superblock.features(sb, recovers ? features.with(Feature.NEEDS_RECOVERY) : features);
    }

    private static long clusters(Geometry geometry) {
      long blocks = geometry.blocksCount() - geometry.firstDataBlock();
      return (blocks + geometry.blocksPerCluster() - 1) >>> geometry.logBlocksPerCluster();
    }

    /// Clears clusters of one group of the old file system in its bitmap.
    private void free(Handle handle, int group, int from, int count) throws IOException {
      GroupLayout layout = plan.layoutAfter();
      try (Buffer table = edit.buffers.read(layout.descriptorBlockNr(group))) {
        handle.writeAccess(table);
        MemorySegment descriptor =
            table.data().asSlice(layout.descriptorOffset(group), after.descriptorSizeBytes());
        if (!GroupDescriptor.hasFlag(descriptor, GroupDescriptor.BLOCK_UNINIT)) {
          try (Buffer bitmap = edit.buffers.read(GroupDescriptor.blockBitmap(descriptor))) {
            handle.writeAccess(bitmap);
            Bits.clearRange(bitmap.data(), from, from + count);
            checksums.sealBlockBitmap(descriptor, bitmap.data(), after);
            handle.dirty(bitmap);
          }
        }
        GroupDescriptor.freeClusters(descriptor, GroupDescriptor.freeClusters(descriptor) + count);
        checksums.sealDescriptor(descriptor, group);
        handle.dirty(table);
      }
      freed += count;
    }

    /// Blocks of descriptors behind the old end (meta_bg) are written at once: a log names no block
    /// behind the end of its file system.
    private void writeOuterDescriptors() throws IOException {
      GroupLayout layout = plan.layoutAfter();
      for (int i = plan.firstChangedDescriptorBlock(); i < layout.descriptorBlocks(); i++) {
        long blockNr = layout.descriptorBlockNrAt(i);
        if (blockNr >= before.blocksCount()) {
          MemorySegment block = MemorySegment.ofArray(new byte[after.blockSizeBytes()]);
          fill(block, i);
          edit.queue.write(blockNr << after.blockShift(), List.of(block), false);
        }
      }
    }

    private void writeInnerDescriptors(Handle handle) throws IOException {
      GroupLayout layout = plan.layoutAfter();
      for (int i = plan.firstChangedDescriptorBlock(); i < layout.descriptorBlocks(); i++) {
        long blockNr = layout.descriptorBlockNrAt(i);
        if (blockNr >= before.blocksCount()) {
          continue;
        }
        try (Buffer buffer = edit.buffers.read(blockNr)) {
          handle.writeAccess(buffer);
          if (i >= plan.layoutBefore().descriptorBlocks()) {
            buffer.data().fill((byte) 0);
          }
          fill(buffer.data(), i);
          handle.dirty(buffer);
        }
      }
    }

    private void fill(MemorySegment block, int index) {
      int first = Math.max(index * after.descriptorsPerBlock(), before.groupCount());
      int limit = Math.min((index + 1) * after.descriptorsPerBlock(), after.groupCount());
      for (int group = first; group < limit; group++) {
        MemorySegment descriptor = groups.descriptor(group);
        MemorySegment.copy(
            descriptor,
            0,
            block,
            plan.layoutAfter().descriptorOffset(group),
            descriptor.byteSize());
      }
    }
  }
}
