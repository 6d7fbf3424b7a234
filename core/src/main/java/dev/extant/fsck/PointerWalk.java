package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/// Walks the block pointers of ext2 and ext3 (Linux documentation, "Direct/Indirect Block
/// Addressing"): 12 direct ones, then a block of pointers, a block of such blocks, and one more
/// level. 0 is a hole. A block is a block of pointers once at most.
final class PointerWalk {
  private static final int DIRECT = 12;
  private static final int LEVELS = 3;

  private final CheckContext context;
  private final ScannedInode inode;
  private final FileBlocks.Visitor visitor;
  private final int perBlock;
  private final Set<Long> maps = new HashSet<>();

  // The run gathered so far.
  private long runLogical;
  private long runBlockNr;
  private long runCount;

  PointerWalk(CheckContext context, ScannedInode inode, FileBlocks.Visitor visitor) {
    this.context = context;
    this.inode = inode;
    this.visitor = visitor;
    this.perBlock = context.layout().blockSizeBytes() / 4;
  }

  void walk() {
    for (int i = 0; i < DIRECT; i++) {
      leaf(i, pointer(i));
    }
    long logical = DIRECT;
    long covered = 1;
    for (int level = 1; level <= LEVELS; level++) {
      covered *= perBlock;
      map(logical, pointer(DIRECT + level - 1), level, covered);
      logical += covered;
    }
    endRun();
  }

  private long pointer(int index) {
    return Le.u32(inode.raw(), RawInode.I_BLOCK + 4L * index);
  }

  /// A pointer to a block that maps `covered` blocks from `logical` on.
  private void map(long logical, long blockNr, int level, long covered) {
    if (blockNr == 0) {
      return;
    }
    endRun();
    if (!context.layout().validBlock(blockNr)) {
      visitor.problem(Problem.ILLEGAL_INDIRECT_BLOCK, blockNr, "logical block " + logical);
      return;
    }
    if (!maps.add(blockNr)) {
      visitor.problem(Problem.MAP_LOOP, blockNr, "logical block " + logical);
      return;
    }
    visitor.map(blockNr);
    if (!visitor.follow(blockNr)) {
      return;
    }
    if (!context.budget().take()) {
      visitor.problem(Problem.MAP_TOO_SHARED, blockNr, "");
      return;
    }
    MemorySegment block = context.readBlock(blockNr, inode.ino());
    if (block != null) {
      pointers(block, logical, level, covered / perBlock);
    }
  }

  private void pointers(MemorySegment block, long logical, int level, long step) {
    for (int i = 0; i < perBlock; i++) {
      long pointer = Le.u32(block, 4L * i);
      if (level == 1) {
        leaf(logical + i, pointer);
      } else {
        map(logical + i * step, pointer, level - 1, step);
      }
    }
  }

  private void leaf(long logical, long blockNr) {
    if (blockNr == 0) {
      return;
    }
    if (!context.layout().validBlock(blockNr)) {
      visitor.problem(Problem.ILLEGAL_BLOCK, blockNr, "logical block " + logical);
      return;
    }
    if (logical != runLogical + runCount || blockNr != runBlockNr + runCount || runCount == 0) {
      endRun();
      runLogical = logical;
      runBlockNr = blockNr;
    }
    runCount++;
  }

  private void endRun() {
    if (runCount > 0) {
      visitor.data(runLogical, runBlockNr, runCount, false);
      runCount = 0;
    }
  }
}
