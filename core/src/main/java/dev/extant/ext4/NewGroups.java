package dev.extant.ext4;

import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The groups that a growing file system gets: where their bitmaps and inode tables go, and the
/// writing of them, behind the old end, where nobody looks before the superblock says so.
///
/// With flex_bg those of a flex group lie together, at the first place with room in its new groups.
final class NewGroups {
  private final SizePlan plan;
  private final Geometry geometry;
  private final GroupLayout layout;
  private final Checksums checksums;

  /// Per new group: so many blocks from its first one on are in use.
  private final int[] used;

  private final MemorySegment[] descriptors;

  NewGroups(SizePlan plan) throws FsException {
    this.plan = plan;
    this.geometry = plan.after();
    this.layout = plan.layoutAfter();
    this.checksums = new Checksums(plan.superblock());
    this.used = new int[plan.newGroups()];
    this.descriptors = new MemorySegment[plan.newGroups()];
    for (int i = 0; i < used.length; i++) {
      used[i] = layout.frontBlocks(first() + i);
      descriptors[i] = MemorySegment.ofArray(new byte[geometry.descriptorSizeBytes()]);
    }
    place();
  }

  private int first() {
    return plan.before().groupCount();
  }

  private void place() throws FsException {
    boolean flexible = Superblock.features(plan.superblock()).has(Feature.FLEX_BG);
    long flexGroups = flexible ? 1L << geometry.logGroupsPerFlex() : 1;
    int limit = geometry.groupCount();
    for (int group = first(); group < limit; ) {
      int end = (int) Math.min((group / flexGroups + 1) * flexGroups, limit);
      int searchEnd = flexible ? limit : end;
      for (int g = group; g < end; g++) {
        GroupDescriptor.blockBitmap(descriptor(g), takeRow(group, searchEnd, 1));
      }
      for (int g = group; g < end; g++) {
        GroupDescriptor.inodeBitmap(descriptor(g), takeRow(group, searchEnd, 1));
      }
      for (int g = group; g < end; g++) {
        int count = geometry.inodeTableBlocksPerGroup();
        GroupDescriptor.inodeTable(descriptor(g), takeRow(group, searchEnd, count));
      }
      group = end;
    }
  }

  private long takeRow(int fromGroup, int limitGroup, int count) throws FsException {
    for (int group = fromGroup; group < limitGroup; group++) {
      int at = used[group - first()];
      if (at + count <= geometry.blocksInGroup(group)) {
        used[group - first()] = at + count;
        return geometry.firstBlockOfGroup(group) + at;
      }
    }
    throw new FsException(
        Errno.ENOSPC, "the new groups leave no room for their own inode tables; add more or fewer");
  }

  /// The new group's descriptor; complete and sealed after [#write].
  MemorySegment descriptor(int group) {
    return descriptors[group - first()];
  }

  /// Writes bitmaps and tables. The device is known to hold zeroes from byte `zeroesFrom` on.
  void write(RequestQueue queue, long zeroesFrom) throws IOException {
    boolean lazy = checksums.descriptorsEnabled();
    for (int group = first(); group < geometry.groupCount(); group++) {
      MemorySegment descriptor = descriptor(group);
      int flags = lazy ? GroupDescriptor.INODE_UNINIT : 0;
      long table = GroupDescriptor.inodeTable(descriptor);
      boolean zeroed = table << geometry.blockShift() >= zeroesFrom;
      if (!zeroed && !lazy) {
        queue.writeZeroes(
            table << geometry.blockShift(),
            (long) geometry.inodeTableBlocksPerGroup() << geometry.blockShift());
      }
      flags |= zeroed && lazy ? GroupDescriptor.INODE_ZEROED : 0;
      GroupDescriptor.freeInodes(descriptor, geometry.inodesPerGroup());
      if (lazy) {
        GroupDescriptor.unusedInodes(descriptor, geometry.inodesPerGroup());
      } else {
        MemorySegment inodeBitmap = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
        layout.initInodeBitmap(inodeBitmap);
        write(queue, GroupDescriptor.inodeBitmap(descriptor), inodeBitmap);
      }
      if (lazy && canBeWorkedOut(group)) {
        flags |= GroupDescriptor.BLOCK_UNINIT;
      } else {
        MemorySegment bitmap = bitmap(group);
        checksums.sealBlockBitmap(descriptor, bitmap, geometry);
        write(queue, GroupDescriptor.blockBitmap(descriptor), bitmap);
      }
      GroupDescriptor.freeClusters(descriptor, freeClusters(group));
      GroupDescriptor.flags(descriptor, flags);
      checksums.sealDescriptor(descriptor, group);
    }
  }

  /// Nothing but the group's own metadata is in it, and it is not the last, whose bitmap mke2fs
  /// always writes.
  private boolean canBeWorkedOut(int group) {
    MemorySegment own = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    layout.initBlockBitmap(descriptor(group), group, own);
    return group != geometry.groupCount() - 1 && own.mismatch(bitmap(group)) < 0;
  }

  private void write(RequestQueue queue, long blockNr, MemorySegment block) throws IOException {
    queue.write(blockNr << geometry.blockShift(), List.of(block), false);
  }

  private MemorySegment bitmap(int group) {
    MemorySegment bitmap = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    Bits.setRange(bitmap, 0, geometry.clusters(used[group - first()]));
    Bits.setRange(bitmap, geometry.clustersInGroup(group), 8 * geometry.blockSizeBytes());
    return bitmap;
  }

  private int freeClusters(int group) {
    return geometry.clustersInGroup(group) - geometry.clusters(used[group - first()]);
  }

  /// Free clusters in all of them.
  long freeClusters() {
    long sum = 0;
    for (int group = first(); group < geometry.groupCount(); group++) {
      sum += freeClusters(group);
    }
    return sum;
  }
}
