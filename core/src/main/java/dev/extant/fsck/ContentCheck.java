package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Checks that an inode's type, flags, size and content fit together.
final class ContentCheck {
  private static final long EXT4_EOFBLOCKS_FL = 0x400000;
  private static final long LARGE_FILE_BYTES = 0x8000_0000L;

  /// i_block[0] and i_block[1] hold the numbers of a device; the rest is unused.
  private static final int DEVICE_UNUSED_FROM = 4;

  private static final int POINTERS = 15;

  private final CheckContext context;

  ContentCheck(CheckContext context) {
    this.context = context;
  }

  /// Whether the inode can be what its mode says.
  boolean check(ScannedInode inode) {
    return switch (inode.entryType()) {
      case 1, 2 -> true;
      case 7 -> checkSpecial(inode) & symbolicLink(inode);
      case 0 -> wrong(Problem.INODE_MODE, inode, "0" + Integer.toOctalString(inode.mode()));
      default -> checkSpecial(inode) & device(inode);
    };
  }

  private boolean wrong(Problem problem, ScannedInode inode, String detail) {
    context.report(problem, inode.ino(), 0, detail);
    return false;
  }

  private boolean checkSpecial(ScannedInode inode) {
    if (inode.has(RawInode.EXT4_IMMUTABLE_FL | RawInode.EXT4_APPEND_FL)) {
      context.report(Problem.SPECIAL_IMMUTABLE, inode.ino(), 0, "");
    }
    if (!inode.symbolicLink() && inode.size() != 0) {
      context.report(Problem.SPECIAL_SIZE, inode.ino(), 0, "i_size is " + inode.size());
    }
    return true;
  }

  private boolean device(ScannedInode inode) {
    if (inode.has(
        RawInode.EXT4_INDEX_FL | RawInode.EXT4_EXTENTS_FL | RawInode.EXT4_INLINE_DATA_FL)) {
      return wrong(Problem.SPECIAL_ILLEGAL, inode, "flags");
    }
    for (int i = DEVICE_UNUSED_FROM; i < POINTERS; i++) {
      if (Le.u32(inode.raw(), RawInode.I_BLOCK + 4L * i) != 0) {
        return wrong(Problem.SPECIAL_ILLEGAL, inode, "i_block[" + i + "]");
      }
    }
    return true;
  }

  private boolean symbolicLink(ScannedInode inode) {
    if (inode.has(RawInode.EXT4_INDEX_FL)) {
      return wrong(Problem.SYMBOLIC_LINK, inode, "flags");
    }
    if (inode.has(RawInode.EXT4_INLINE_DATA_FL)) {
      return true;
    }
    long size = inode.size();
    if (size == 0) {
      return wrong(Problem.SYMBOLIC_LINK, inode, "it is empty");
    }
    MemorySegment target;
    if (FileBlocks.fastSymbolicLink(inode)) {
      target = inode.raw().asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    } else if (size < context.layout().blockSizeBytes()) {
      target = firstBlock(inode);
    } else {
      return wrong(Problem.SYMBOLIC_LINK, inode, "i_size is " + size);
    }
    if (target == null) {
      return wrong(Problem.SYMBOLIC_LINK, inode, "it is not one block long");
    }
    long length = inode.has(RawInode.EXT4_ENCRYPT_FL) ? Le.u16(target, 0) + 2 : length(target);
    return length == size
        || wrong(Problem.SYMBOLIC_LINK, inode, "i_size is " + size + ", it is " + length);
  }

  /// Bytes before the first NUL.
  private static long length(MemorySegment target) {
    long length = 0;
    while (length < target.byteSize() && target.get(ValueLayout.JAVA_BYTE, length) != 0) {
      length++;
    }
    return length;
  }

  /// The only block of a file; null if it is not exactly one.
  private MemorySegment firstBlock(ScannedInode inode) {
    long[] found = {0, 0};
    FileBlocks.walk(
        context,
        inode,
        (logical, blockNr, count, _) -> {
          found[0] = logical == 0 ? blockNr : found[0];
          found[1] += count;
        });
    return found[0] == 0 || found[1] != 1 ? null : context.readBlock(found[0], inode.ino());
  }

  /// The size against what the map covers.
  void checkSize(ScannedInode inode, BlockTally tally) {
    if (inode.has(RawInode.EXT4_INLINE_DATA_FL)
        || inode.ino() < context.layout().firstInode() && !inode.directory()) {
      return;
    }
    if (inode.directory()) {
      checkDirectorySize(inode, tally);
    } else if (inode.regular()) {
      checkFileSize(inode, tally);
    }
  }

  private void checkDirectorySize(ScannedInode inode, BlockTally tally) {
    int blockSize = context.layout().blockSizeBytes();
    long needed = (tally.lastWritten() + 1) * blockSize;
    if (tally.lastLogical() < 0) {
      context.report(Problem.DIRECTORY_EMPTY, inode.ino(), 0, "");
    } else if (inode.size() != needed) {
      size(inode, needed);
    }
  }

  private void checkFileSize(ScannedInode inode, BlockTally tally) {
    int blockSize = context.layout().blockSizeBytes();
    long size = inode.size();
    boolean behindEnd = inode.has(EXT4_EOFBLOCKS_FL | RawInode.EXT4_VERITY_FL);
    long least = tally.lastWritten() * blockSize;
    if (size < 0 || tally.lastWritten() >= 0 && size < least && !behindEnd) {
      size(inode, least + blockSize);
    } else if (size > maxSize(inode)) {
      context.report(
          Problem.INODE_SIZE, inode.ino(), 0, "is " + size + ", at most " + maxSize(inode));
    }
    if (size >= LARGE_FILE_BYTES && !context.has(Feature.LARGE_FILE)) {
      context.report(Problem.LARGE_FILE_FEATURE, inode.ino(), 0, "i_size is " + size);
    }
  }

  private long maxSize(ScannedInode inode) {
    long blockSize = context.layout().blockSizeBytes();
    if (inode.has(RawInode.EXT4_EXTENTS_FL)) {
      return (1L << 32) * blockSize - 1;
    }
    long perBlock = blockSize / 4;
    long blocks = 12 + perBlock + perBlock * perBlock + perBlock * perBlock * perBlock;
    return Math.min(blocks, 1L << 32) * blockSize;
  }

  private void size(ScannedInode inode, long wanted) {
    context.report(
        Problem.INODE_SIZE, inode.ino(), 0, "is " + inode.size() + ", should be " + wanted);
  }
}
