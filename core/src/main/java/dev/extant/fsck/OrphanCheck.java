package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.OrphanBlock;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Checks the list of orphans and the orphan file.
///
/// Orphans are what a crash leaves: with a journal to replay they are told as a warning, otherwise
/// who closed the file system should have removed them.
final class OrphanCheck {
  private static final int CHECKSUM_SIZE = 4;

  private final CheckContext context;

  OrphanCheck(CheckContext context) {
    this.context = context;
  }

  void run() {
    checkList();
    long ino = Superblock.orphanFileInode(context.superblock());
    if (context.features().has(Feature.ORPHAN_FILE)) {
      checkFile(ino);
    } else if (ino != 0) {
      context.report(Problem.ORPHAN_FILE_WITHOUT_FEATURE, ino, 0, "");
    }
  }

  /// Follows the list; a second pointer that jumps ahead to where the first is at powers of two
  /// finds a loop without memory.
  private void checkList() {
    long first = Superblock.lastOrphan(context.superblock());
    long marked = 0;
    long steps = 0;
    long nextMark = 1;
    for (long ino = first; ino != 0; ) {
      MemorySegment raw = possible(ino) ? context.readInode(ino) : null;
      if (raw == null) {
        context.report(Problem.ORPHAN_LIST, 0, 0, "it names inode " + ino);
        return;
      }
      if (RawInode.mode(raw) == 0) {
        context.report(Problem.ORPHAN_LIST, ino, 0, "it names a free inode");
        return;
      }
      if (ino == marked) {
        context.report(Problem.ORPHAN_LIST, ino, 0, "it is a loop");
        return;
      }
      if (++steps == nextMark) {
        nextMark *= 2;
        marked = ino;
      }
      ino = RawInode.dtime(raw);
    }
    if (steps > 0) {
      context.report(Problem.ORPHANS_LEFT, first, 0, steps + " inodes");
    }
  }

  private boolean possible(long ino) {
    return context.layout().validInode(ino) && ino >= context.layout().firstInode();
  }

  private void checkFile(long ino) {
    MemorySegment raw = possible(ino) ? context.readInode(ino) : null;
    if (raw == null) {
      context.report(Problem.ORPHAN_FILE, 0, 0, "its inode is " + ino);
      return;
    }
    ScannedInode inode = new ScannedInode(ino, raw, true);
    if (!inode.regular() || RawInode.linksCount(raw) == 0) {
      context.report(Problem.ORPHAN_FILE, ino, 0, "it is no regular file in use");
      return;
    }
    if (inode.size() % context.layout().blockSizeBytes() != 0 || inode.size() == 0) {
      context.report(Problem.ORPHAN_FILE, ino, 0, "i_size is " + inode.size());
    }
    new FileCheck(inode).run();
  }

  private final class FileCheck implements FileBlocks.Visitor {
    private final ScannedInode inode;
    private final int seed;
    private final long blocks;
    private long nextLogical;
    private boolean stopped;
    private boolean empty = true;

    FileCheck(ScannedInode inode) {
      this.inode = inode;
      this.seed = context.checksums().inodeSeed(inode.ino(), RawInode.generation(inode.raw()));
      this.blocks = Long.divideUnsigned(inode.size(), context.layout().blockSizeBytes());
    }

    void run() {
      FileBlocks.walk(context, inode, this);
      if (nextLogical < blocks) {
        tell(0, "it has a hole at logical block " + nextLogical);
      }
      if (empty && !stopped && !recovering() && context.features().has(Feature.ORPHAN_PRESENT)) {
        tell(0, "the feature orphan_present is set, but there are none");
      }
    }

    @Override
    public void data(long logical, long blockNr, long count, boolean unwritten) {
      if (logical != nextLogical && !stopped) {
        tell(blockNr, "it has a hole at logical block " + nextLogical);
      }
      nextLogical = Math.max(nextLogical, logical + count);
      for (long i = 0; i < count && !stopped; i++) {
        check(blockNr + i);
      }
    }

    /// What is wrong in one block ends the check of the file.
    private void check(long blockNr) {
      MemorySegment block = context.readBlock(blockNr, inode.ino());
      stopped = block == null;
      if (stopped) {
        return;
      }
      if (OrphanBlock.magic(block) != OrphanBlock.MAGIC) {
        tell(blockNr, "a block has no magic number");
      } else if (!checksumValid(block, blockNr)) {
        tell(blockNr, "a block has a wrong checksum");
      } else {
        checkSlots(block, blockNr);
      }
    }

    private boolean checksumValid(MemorySegment block, long blockNr) {
      return context.checksums().enabled()
          ? context.checksums().orphanBlockValid(block, blockNr, seed)
          : Le.u32(block, block.byteSize() - CHECKSUM_SIZE) == 0;
    }

    private void checkSlots(MemorySegment block, long blockNr) {
      for (int i = 0; i < OrphanBlock.slots(context.layout().blockSizeBytes()); i++) {
        long orphan = OrphanBlock.inode(block, i);
        empty &= orphan == 0;
        if (orphan != 0 && !(possible(orphan) && recovering())) {
          tell(blockNr, "it names inode " + orphan);
          return;
        }
      }
    }

    private void tell(long blockNr, String detail) {
      stopped = true;
      context.report(Problem.ORPHAN_FILE, inode.ino(), blockNr, detail);
    }
  }

  private boolean recovering() {
    return context.features().has(Feature.NEEDS_RECOVERY);
  }
}
