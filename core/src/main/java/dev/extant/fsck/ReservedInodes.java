package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Checks the inodes in front of the first one that files may have.
final class ReservedInodes {
  static final int BAD_BLOCKS_INO = 1;
  private static final int I_UID = 0x02;
  private static final int I_GID = 0x18;
  private static final int USER_QUOTA_INO = 3;
  private static final int GROUP_QUOTA_INO = 4;
  private static final int BOOT_LOADER_INO = 5;
  private static final int DOUBLE_INDIRECT = 13;
  private static final int POINTERS = 15;

  /// s_usr_quota_inum and s_grp_quota_inum.
  private static final int QUOTA_INODES = 0x240;

  private final CheckContext context;

  ReservedInodes(CheckContext context) {
    this.context = context;
  }

  boolean isResizeInode(long ino) {
    return ino == Superblock.RESIZE_INO && context.has(Feature.RESIZE_INODE);
  }

  void check(ScannedInode inode) {
    if (inode.ino() >= context.layout().firstInode()) {
      return;
    }
    switch ((int) inode.ino()) {
      case BAD_BLOCKS_INO -> checkBadBlocks(inode);
      case Superblock.ROOT_INO -> {
        if (!inode.directory()) {
          context.report(Problem.ROOT_NOT_DIRECTORY, inode.ino(), 0, "");
        }
      }
      case USER_QUOTA_INO, GROUP_QUOTA_INO -> {
        long place = QUOTA_INODES + 4 * (inode.ino() - USER_QUOTA_INO);
        boolean used = Le.u32(context.superblock(), place) == inode.ino();
        checkFile(inode, context.has(Feature.QUOTA) && used);
      }
      case Superblock.JOURNAL_INO ->
          checkFile(
              inode,
              context.has(Feature.HAS_JOURNAL)
                  && Superblock.journalInode(context.superblock()) == inode.ino());
      case Superblock.RESIZE_INO -> checkFile(inode, context.has(Feature.RESIZE_INODE));
      case BOOT_LOADER_INO -> {
        if (inode.directory()) {
          reservedMode(inode);
        }
      }
      default -> {
        if (inode.mode() != 0) {
          reservedMode(inode);
        }
      }
    }
  }

  private void reservedMode(ScannedInode inode) {
    context.report(
        Problem.RESERVED_MODE, inode.ino(), 0, "0" + Integer.toOctalString(inode.mode()));
  }

  /// An inode that is a regular file if a feature uses it, and empty otherwise.
  private void checkFile(ScannedInode inode, boolean used) {
    if (used && !inode.regular()) {
      reservedMode(inode);
    } else if (!used && !empty(inode.raw())) {
      context.report(Problem.RESERVED_NOT_CLEAR, inode.ino(), 0, "");
    }
  }

  private static boolean empty(MemorySegment raw) {
    return RawInode.linksCount(raw) == 0 && Le.u32(raw, 0x1C) == 0 && pointer(raw, 0) == 0;
  }

  /// It has block pointers and nothing else.
  private void checkBadBlocks(ScannedInode inode) {
    MemorySegment raw = inode.raw();
    boolean possible =
        inode.mode() == 0
                && Le.u16(raw, I_UID) == 0
                && Le.u16(raw, I_GID) == 0
                && RawInode.linksCount(raw) == 0
            || inode.regular();
    if (!possible || RawInode.fileAcl(raw) != 0) {
      context.report(Problem.BAD_BLOCKS_INODE, inode.ino(), 0, "");
    }
  }

  /// The resize inode maps the blocks behind the descriptors, which are claimed already: each is a
  /// block of pointers to its copies in the groups with a superblock. Of its own it has just the
  /// double indirect block. Returns how many blocks it counts: a whole cluster for each.
  long claimResizeInode(ScannedInode inode) {
    MemorySegment raw = inode.raw();
    long doubleIndirect = pointer(raw, DOUBLE_INDIRECT);
    boolean valid =
        inode.regular()
            && RawInode.linksCount(raw) != 0
            && context.layout().validBlock(doubleIndirect);
    for (int i = 0; i < POINTERS; i++) {
      valid &= i == DOUBLE_INDIRECT || pointer(raw, i) == 0;
    }
    if (!valid) {
      context.report(Problem.RESIZE_INODE, inode.ino(), 0, "");
      return 0;
    }
    context.claims().claim(doubleIndirect, 1);
    MemorySegment block = context.readBlock(doubleIndirect, inode.ino());
    long blocks = block == null ? 1 : 1 + checkReserved(inode, block);
    return blocks << context.layout().clusterShift();
  }

  private static long pointer(MemorySegment raw, int index) {
    return Le.u32(raw, RawInode.I_BLOCK + 4L * index);
  }

  private long checkReserved(ScannedInode inode, MemorySegment doubleIndirect) {
    int perBlock = context.layout().blockSizeBytes() / 4;
    int reserved = context.front().reservedBlocks(0);
    int descriptors = context.front().descriptorBlocks(0);
    long first = context.front().firstDescriptorBlock(0) + descriptors;
    long blocks = 0;
    int used = 0;
    boolean valid = true;
    for (int i = 0; i < perBlock; i++) {
      long blockNr = Le.u32(doubleIndirect, 4L * i);
      if (blockNr != 0) {
        used++;
        valid &= blockNr >= first && blockNr < first + reserved;
        valid &= (blockNr - first + descriptors) % perBlock == i;
        blocks++;
      }
    }
    if (!valid || used != reserved) {
      context.report(Problem.RESIZE_INODE, inode.ino(), 0, "its double indirect block");
      return blocks;
    }
    for (int i = 0; i < reserved && valid; i++) {
      long copies = checkCopies(inode, first + i);
      valid = copies >= 0;
      blocks += Math.max(0, copies);
    }
    return blocks;
  }

  /// How many copies the block of pointers names; -1, with a finding, if they are not the right
  /// ones.
  private long checkCopies(ScannedInode inode, long blockNr) {
    MemorySegment block = context.readBlock(blockNr, inode.ino());
    if (block == null) {
      return -1;
    }
    int perBlock = context.layout().blockSizeBytes() / 4;
    int copies = 0;
    for (int group = 1; group < context.layout().groupCount() && copies < perBlock; group++) {
      if (context.front().hasSuperblock(group)) {
        long wanted = blockNr + (long) group * context.layout().blocksPerGroup();
        if (Le.u32(block, 4L * copies) != wanted) {
          context.report(Problem.RESIZE_INODE, inode.ino(), blockNr, "copy in group " + group);
          return -1;
        }
        copies++;
      }
    }
    return copies;
  }
}
