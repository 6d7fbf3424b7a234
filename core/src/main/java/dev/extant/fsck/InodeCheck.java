package dev.extant.fsck;

import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.function.ToLongFunction;

/// Checks what an inode says of itself, and its block map. For any number of threads.
final class InodeCheck {
  private static final int I_DTIME = 0x14;
  private static final int I_FADDR = 0x70;
  private static final int I_BLOCKS_HIGH = 0x74;
  private static final int I_FILE_ACL_HIGH = 0x76;
  private static final long EXT4_IMAGIC_FL = 0x2000;
  private static final int MIN_EXTRA_ISIZE = 4;

  private final CheckContext context;
  private final ToLongFunction<ScannedInode> attributes;
  private final ReservedInodes reserved;
  private final ContentCheck content;
  private final boolean lowDtimeMeansOrphan;

  /// `attributes` checks the extended attributes of an inode, and answers how many blocks its count
  /// contains for them.
  InodeCheck(CheckContext context, ToLongFunction<ScannedInode> attributes) {
    this.context = context;
    this.attributes = attributes;
    this.reserved = new ReservedInodes(context);
    this.content = new ContentCheck(context);
    this.lowDtimeMeansOrphan = timesAreLate();
  }

  /// A deletion time is told from the number of the next orphan by its size, which works if the
  /// file system's clock was right.
  private boolean timesAreLate() {
    long inodes = context.layout().inodesCount();
    MemorySegment sb = context.superblock();
    return late(Le.u32(sb, 0x108), inodes)
        && late(Le.u32(sb, 0x30), inodes)
        && late(Le.u32(sb, 0x2C), inodes);
  }

  private static boolean late(long time, long inodes) {
    return time == 0 || time > inodes;
  }

  /// The inode, if it is in use; null otherwise.
  ScannedInode check(long ino, MemorySegment raw) {
    boolean valid = context.checksums().inodeValid(raw, ino);
    boolean used = RawInode.linksCount(raw) != 0 || ino < context.layout().firstInode();
    if (!valid && (used || !zero(raw))) {
      context.report(Problem.INODE_CHECKSUM, ino, 0, "");
    }
    checkDeletionTime(ino, raw, used);
    if (!used) {
      return null;
    }
    ScannedInode unjudged = new ScannedInode(ino, raw, true);
    boolean sound = !plain(ino) || fieldsPossible(unjudged) & content.check(unjudged);
    ScannedInode inode = new ScannedInode(ino, raw, sound);
    context.inodes().add(ino, state(inode));
    checkFlags(inode);
    checkExtraSize(inode);
    reserved.check(inode);
    checkBlocks(inode);
    return inode;
  }

  private boolean plain(long ino) {
    return ino >= context.layout().firstInode() || ino == Superblock.ROOT_INO;
  }

  private static int state(ScannedInode inode) {
    return InodeStates.USED
        | inode.entryType()
        | (inode.sound() ? 0 : InodeStates.BAD)
        | (inode.has(RawInode.EXT4_ENCRYPT_FL) ? InodeStates.ENCRYPTED : 0)
        | (inode.has(RawInode.EXT4_EA_INODE_FL) ? InodeStates.EA_INODE : 0)
        | (inode.has(RawInode.EXT4_CASEFOLD_FL) ? InodeStates.CASEFOLDED : 0);
  }

  private static boolean zero(MemorySegment raw) {
    return raw.mismatch(MemorySegment.ofArray(new byte[(int) raw.byteSize()])) < 0;
  }

  private void checkDeletionTime(long ino, MemorySegment raw, boolean used) {
    long dtime = Le.u32(raw, I_DTIME);
    if (lowDtimeMeansOrphan && dtime != 0 && dtime < context.layout().inodesCount()) {
      context.report(Problem.INODE_ORPHANED, ino, 0, "i_dtime is " + dtime);
    } else if (dtime != 0 && RawInode.linksCount(raw) != 0 && plain(ino)) {
      context.report(Problem.INODE_DTIME_SET, ino, 0, "i_dtime is " + dtime);
    } else if (!used && dtime == 0 && RawInode.mode(raw) != 0) {
      context.report(Problem.INODE_DTIME_ZERO, ino, 0, "");
    }
  }

  /// The fields of which each has one possible value, or none without a feature.
  private boolean fieldsPossible(ScannedInode inode) {
    MemorySegment raw = inode.raw();
    boolean possible = zero(inode, "i_faddr", Le.u32(raw, I_FADDR));
    if (!context.has(Feature.HUGE_FILE)) {
      possible &= zero(inode, "i_blocks_hi", Le.u16(raw, I_BLOCKS_HIGH));
    }
    if (!context.has(Feature.BIT64)) {
      possible &= zero(inode, "i_file_acl_hi", Le.u16(raw, I_FILE_ACL_HIGH));
    }
    if (!context.has(Feature.EXT_ATTR)) {
      possible &= zero(inode, "i_file_acl", RawInode.fileAcl(raw));
    }
    return possible;
  }

  private boolean zero(ScannedInode inode, String field, long value) {
    if (value != 0) {
      context.report(Problem.INODE_FIELD_NOT_ZERO, inode.ino(), 0, field + " is " + value);
    }
    return value == 0;
  }

  private void checkFlags(ScannedInode inode) {
    boolean plain = plain(inode.ino());
    if (plain && inode.has(EXT4_IMAGIC_FL) && !context.has(Feature.IMAGIC_INODES)) {
      context.report(Problem.INODE_IMAGIC, inode.ino(), 0, "");
    }
    if (inode.has(RawInode.EXT4_CASEFOLD_FL)
        && !(context.has(Feature.CASEFOLD) && inode.directory())) {
      context.report(Problem.INODE_CASEFOLD, inode.ino(), 0, "");
    }
    boolean unused = !plain && RawInode.linksCount(inode.raw()) == 0;
    if (unused && inode.ino() != ReservedInodes.BAD_BLOCKS_INO) {
      return;
    }
    boolean extents = inode.has(RawInode.EXT4_EXTENTS_FL);
    boolean inline = inode.has(RawInode.EXT4_INLINE_DATA_FL);
    if (inline && !context.has(Feature.INLINE_DATA)) {
      context.report(Problem.INODE_INLINE_WITHOUT_FEATURE, inode.ino(), 0, "");
    }
    if (extents && !context.has(Feature.EXTENT)) {
      context.report(Problem.INODE_EXTENTS_WITHOUT_FEATURE, inode.ino(), 0, "");
    }
    if (extents && inline) {
      context.report(Problem.INODE_EXTENTS_AND_INLINE, inode.ino(), 0, "");
    }
    boolean mapped = inode.regular() || inode.directory();
    if (!extents && !inline && mapped) {
      checkPointers(inode);
    }
  }

  private void checkPointers(ScannedInode inode) {
    MemorySegment iBlock = inode.raw().asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    if (looksLikeExtents(inode.raw())) {
      context.report(Problem.INODE_EXTENTS_FLAG_MISSING, inode.ino(), 0, "");
    } else if (context.has(Feature.BIGALLOC)
        && inode.ino() >= context.layout().firstInode()
        && !zero(iBlock)) {
      context.report(Problem.INODE_NOT_EXTENTS, inode.ino(), 0, "");
    }
  }

  private static boolean looksLikeExtents(MemorySegment raw) {
    MemorySegment root = raw.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    return ExtentHeader.magic(root) == ExtentHeader.MAGIC
        && ExtentHeader.max(root) == ExtentHeader.capacity(RawInode.I_BLOCK_SIZE)
        && ExtentHeader.entries(root) <= ExtentHeader.max(root)
        && ExtentHeader.depth(root) <= ExtentHeader.MAX_DEPTH;
  }

  private void checkExtraSize(ScannedInode inode) {
    int room = context.layout().inodeSizeBytes() - RawInode.GOOD_OLD_INODE_SIZE;
    int extra = RawInode.extraIsize(inode.raw());
    if (plain(inode.ino())
        && extra != 0
        && (extra < MIN_EXTRA_ISIZE || extra > room || extra % 4 != 0)) {
      context.report(Problem.INODE_EXTRA_SIZE, inode.ino(), 0, "it is " + extra);
    }
  }

  private void checkBlocks(ScannedInode inode) {
    BlockTally tally = new BlockTally(context, inode);
    long blocks;
    if (reserved.isResizeInode(inode.ino())) {
      blocks = reserved.claimResizeInode(inode);
    } else {
      FileBlocks.walk(context, inode, tally);
      blocks = tally.blocks();
    }
    blocks += attributes.applyAsLong(inode);
    content.checkSize(inode, tally);
    if (inode.ino() >= context.layout().firstInode() || FileBlocks.mapped(inode)) {
      checkBlockCount(inode, blocks);
    }
  }

  private void checkBlockCount(ScannedInode inode, long blocks) {
    long stored = RawInode.blocks(inode.raw());
    if (!context.has(Feature.HUGE_FILE)) {
      stored = stored & 0xffff_ffffL;
    }
    boolean inBlocks = context.has(Feature.HUGE_FILE) && inode.has(RawInode.EXT4_HUGE_FILE_FL);
    long counted = inBlocks ? blocks : blocks * (context.layout().blockSizeBytes() >>> 9);
    if (stored != counted) {
      context.report(
          Problem.INODE_BLOCK_COUNT, inode.ino(), 0, "is " + stored + ", should be " + counted);
    }
  }
}
