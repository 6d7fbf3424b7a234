package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.GroupDescriptor;
import java.lang.foreign.MemorySegment;

/// Where the bitmaps and the inode table of a group may lie: inside the group, or with flex_bg
/// anywhere in the file system.
final class DescriptorPlaces {
  private DescriptorPlaces() {}

  static boolean possible(CheckContext context, int group, long blockNr, int count) {
    FsLayout layout = context.layout();
    if (!layout.validRun(blockNr, count)) {
      return false;
    }
    return context.has(Feature.FLEX_BG)
        || layout.groupOfBlock(blockNr) == group
            && layout.groupOfBlock(blockNr + count - 1) == group;
  }

  /// True if all three places of every group are possible.
  static boolean allPossible(CheckContext context, GroupTable groups) {
    FsLayout layout = context.layout();
    for (int group = 0; group < layout.groupCount(); group++) {
      MemorySegment descriptor = groups.descriptor(group);
      if (!possible(context, group, GroupDescriptor.blockBitmap(descriptor), 1)
          || !possible(context, group, GroupDescriptor.inodeBitmap(descriptor), 1)
          || !possible(
              context, group, GroupDescriptor.inodeTable(descriptor), layout.inodeTableBlocks())) {
        return false;
      }
    }
    return true;
  }
}
