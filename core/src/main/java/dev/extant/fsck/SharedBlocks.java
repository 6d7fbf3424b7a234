package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// Names the inodes that claim a block which somebody else claims too: reads all inodes a second
/// time, only if there is such a block.
final class SharedBlocks {
  private static final int MAX_RUNS = 8;

  private final CheckContext context;
  private final FsckProgress progress;

  SharedBlocks(CheckContext context, FsckProgress progress) {
    this.context = context;
    this.progress = progress;
  }

  void run() throws CannotCheckException {
    if (context.claims().anyShared() && !context.has(Feature.SHARED_BLOCKS)) {
      GroupWorkers.run(context, "shared blocks", progress, this::findOwners);
    }
  }

  private void findOwners(int group) {
    FsLayout layout = context.layout();
    long first = (long) group * layout.inodesPerGroup();
    int perBlock = layout.inodesPerBlock();
    long table = context.groups().inodeTable(group);
    int inodes = table == 0 ? 0 : context.groups().scannedInodes(group);
    for (int index = 0; index < inodes; index += perBlock) {
      MemorySegment block = null;
      for (int i = index; i < Math.min(index + perBlock, inodes); i++) {
        long ino = first + i + 1;
        if (context.inodes().used(ino)) {
          block = block == null ? context.readBlock(table + index / perBlock, 0) : block;
          if (block == null) {
            break;
          }
          long at = (long) (i - index) * layout.inodeSizeBytes();
          find(new ScannedInode(ino, block.asSlice(at, layout.inodeSizeBytes()), true));
        }
      }
    }
  }

  private void find(ScannedInode inode) {
    Runs runs = new Runs();
    if (inode.ino() != Superblock.RESIZE_INO) {
      FileBlocks.walk(context, inode, runs);
    }
    long attributes = RawInode.fileAcl(inode.raw());
    if (context.layout().validBlock(attributes) && context.claims().claimedTwice(attributes)) {
      runs.add(attributes, 1);
    }
    if (runs.count > 0) {
      context.report(Problem.SHARED_BLOCKS, inode.ino(), runs.firstBlock, runs.text());
    }
  }

  private final class Runs implements FileBlocks.Visitor {
    private final StringBuilder text = new StringBuilder();
    private long firstBlock;
    private int count;

    @Override
    public void data(long logical, long blockNr, long length, boolean unwritten) {
      if (!context.claims().anyClaimedTwice(blockNr, length)) {
        return;
      }
      long start = -1;
      for (long at = blockNr; at <= blockNr + length; at++) {
        boolean shared = at < blockNr + length && context.claims().claimedTwice(at);
        if (shared && start < 0) {
          start = at;
        } else if (!shared && start >= 0) {
          add(start, at - start);
          start = -1;
        }
      }
    }

    @Override
    public void map(long blockNr) {
      if (context.claims().claimedTwice(blockNr)) {
        add(blockNr, 1);
      }
    }

    void add(long blockNr, long length) {
      if (count == 0) {
        firstBlock = blockNr;
      }
      if (count < MAX_RUNS) {
        text.append(' ').append(BlockRuns.text(blockNr, length));
        if (context.metadata().anyClaimed(blockNr, length)) {
          text.append(" (file system metadata)");
        }
      }
      count++;
    }

    String text() {
      return text.toString().strip() + (count > MAX_RUNS ? " …" : "");
    }
  }
}
