package dev.extant.mkfs;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;

/// Chooses where the bitmaps and inode tables of all groups go, and keeps the descriptors that say
/// so.
///
/// Without flex_bg each group holds its own. With it, those of a flex group lie together at its
/// front: all block bitmaps, then all inode bitmaps, then all tables, each at the next free place.
final class Placement {
  private final String device;
  private final Geometry geometry;
  private final UsedBlocks used;
  private final MemorySegment descriptors;
  private final boolean flexible;

  /// `descriptors` has room for those of all groups, one behind the other.
  Placement(String device, Plan plan, UsedBlocks used, MemorySegment descriptors) {
    this.device = device;
    this.geometry = plan.geometry();
    this.used = used;
    this.descriptors = descriptors;
    this.flexible = plan.features().has(Feature.FLEX_BG);
    for (int group = 0; group < geometry.groupCount(); group++) {
      int front = plan.layout().frontBlocks(group);
      if (front > 0) {
        used.take(geometry.firstBlockOfGroup(group), front);
      }
    }
  }

  MemorySegment descriptor(int group) {
    int size = geometry.descriptorSizeBytes();
    return descriptors.asSlice((long) group * size, size);
  }

  void placeAll() throws FsException {
    long flexGroups = flexible ? 1L << geometry.logGroupsPerFlex() : 1;
    for (long first = 0; first < geometry.groupCount(); first += flexGroups) {
      placeTogether((int) first, (int) Math.min(first + flexGroups, geometry.groupCount()));
    }
  }

  private void placeTogether(int firstGroup, int limitGroup) throws FsException {
    long limit =
        flexible
            ? geometry.blocksCount()
            : geometry.firstBlockOfGroup(firstGroup) + geometry.blocksInGroup(firstGroup);
    long goal = geometry.firstBlockOfGroup(firstGroup);
    for (int group = firstGroup; group < limitGroup; group++) {
      goal = place(goal, 1, limit);
      GroupDescriptor.blockBitmap(descriptor(group), goal++);
    }
    for (int group = firstGroup; group < limitGroup; group++) {
      goal = place(goal, 1, limit);
      GroupDescriptor.inodeBitmap(descriptor(group), goal++);
    }
    int tableBlocks = geometry.inodeTableBlocksPerGroup();
    for (int group = firstGroup; group < limitGroup; group++) {
      goal = place(goal, tableBlocks, limit);
      GroupDescriptor.inodeTable(descriptor(group), goal);
      goal += tableBlocks;
    }
  }

  private long place(long goal, int count, long limit) throws FsException {
    long blockNr = used.takeRow(goal, count, limit);
    if (blockNr < 0 && flexible) {
      blockNr = used.takeRow(0, count, geometry.blocksCount());
    }
    if (blockNr < 0) {
      throw Mkfs.failure(
          Errno.ENOSPC,
          device,
          geometry.inodesCount() + " inodes leave no room for anything else; ask for fewer");
    }
    return blockNr;
  }
}
