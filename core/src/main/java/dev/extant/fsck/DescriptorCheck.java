package dev.extant.fsck;

import dev.extant.ext4.format.GroupDescriptor;
import java.lang.foreign.MemorySegment;

/// Checks the group descriptors, and claims what they and the groups' fronts take: nothing else may
/// lie there.
final class DescriptorCheck {
  private final CheckContext context;
  private final FsLayout layout;

  DescriptorCheck(CheckContext context) {
    this.context = context;
    this.layout = context.layout();
  }

  void run() {
    for (int group = 0; group < layout.groupCount(); group++) {
      claimFront(group);
    }
    for (int group = 0; group < layout.groupCount(); group++) {
      check(group);
    }
  }

  private void claimFront(int group) {
    long first = layout.firstBlockOfGroup(group);
    int count = Math.min(context.front().blocks(group), layout.blocksInGroup(group));
    context.metadata().claim(first, count);
    context.claims().claimQuietly(first, count);
  }

  private void check(int group) {
    MemorySegment descriptor = context.groups().descriptor(group);
    place(group, "block bitmap", GroupDescriptor.blockBitmap(descriptor), 1);
    place(group, "inode bitmap", GroupDescriptor.inodeBitmap(descriptor), 1);
    place(group, "inode table", GroupDescriptor.inodeTable(descriptor), layout.inodeTableBlocks());
    checkFlags(group, descriptor);
  }

  private void place(int group, String what, long blockNr, int count) {
    if (!DescriptorPlaces.possible(context, group, blockNr, count)) {
      report(Problem.DESCRIPTOR_PLACE, blockNr, "the " + what + " of group " + group);
      return;
    }
    if (context.metadata().anyClaimed(blockNr, count)) {
      report(Problem.DESCRIPTOR_OVERLAP, blockNr, "the " + what + " of group " + group);
    }
    context.metadata().claim(blockNr, count);
    context.claims().claimQuietly(blockNr, count);
  }

  private void checkFlags(int group, MemorySegment descriptor) {
    int flags = GroupDescriptor.flags(descriptor);
    int uninit = GroupDescriptor.INODE_UNINIT | GroupDescriptor.BLOCK_UNINIT;
    boolean last = group == layout.groupCount() - 1;
    if (last && (flags & GroupDescriptor.BLOCK_UNINIT) != 0) {
      report(Problem.DESCRIPTOR_LAST_UNINIT, 0, "group " + group);
    }
    if (!context.checksums().descriptorsEnabled()) {
      if ((flags & uninit) != 0) {
        report(Problem.DESCRIPTOR_UNINIT_WITHOUT_FEATURE, 0, "group " + group);
      }
      return;
    }
    if (!context.checksums().descriptorValid(descriptor, group)) {
      report(Problem.DESCRIPTOR_CHECKSUM, 0, "group " + group);
    }
    int unused = GroupDescriptor.unusedInodes(descriptor);
    if (unused < 0 || unused > layout.inodesPerGroup()) {
      String count = Integer.toUnsignedString(unused);
      report(Problem.DESCRIPTOR_UNUSED_INODES, 0, "group " + group + " has " + count);
    }
  }

  private void report(Problem problem, long blockNr, String detail) {
    context.report(problem, 0, blockNr, detail);
  }
}
