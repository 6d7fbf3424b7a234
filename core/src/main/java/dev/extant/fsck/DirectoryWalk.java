package dev.extant.fsck;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/// Checks one directory: goes through its blocks, or its parts in the inode.
///
/// Ends whatever the blocks are: a directory is left after [#MAX_CORRUPT] blocks that are none of a
/// directory, and blocks that somebody else claims too are visited [#MAX_SHARED] times in all.
final class DirectoryWalk implements FileBlocks.Visitor {
  private static final int MAX_CORRUPT = 64;
  private static final int MAX_SHARED = 1 << 16;

  private final CheckContext context;
  private final CheckedDirectory directory;
  private final DirectoryEntryCheck entries;
  private final DirectoryIndexCheck index;

  /// Visits of blocks that have several owners, by all walks.
  private final AtomicLong sharedBlocks;

  private long nextLogical;
  private int corruptBlocks;

  DirectoryWalk(
      CheckContext context,
      CheckedDirectory directory,
      DirectoryEntryCheck entries,
      DirHash hash,
      AtomicLong sharedBlocks) {
    this.context = context;
    this.directory = directory;
    this.entries = entries;
    this.index =
        directory.indexed() && !directory.inode.has(RawInode.EXT4_INLINE_DATA_FL)
            ? new DirectoryIndexCheck(context, directory, hash)
            : null;
    this.sharedBlocks = sharedBlocks;
  }

  void run() {
    if (directory.inode.has(RawInode.EXT4_INLINE_DATA_FL)) {
      checkInline();
      return;
    }
    FileBlocks.walk(context, directory.inode, this);
    if (index != null && corruptBlocks < MAX_CORRUPT) {
      index.check();
    }
  }

  private void checkInline() {
    MemorySegment raw = directory.inode.raw();
    if (directory.indexed()) {
      context.report(Problem.HTREE_FLAG, directory.ino(), 0, "it has inline data");
    }
    entries.parent(directory, Le.u32(raw, RawInode.I_BLOCK), 0);
    entries.self(directory);
    MemorySegment first = raw.asSlice(RawInode.I_BLOCK + 4, RawInode.I_BLOCK_SIZE - 4);
    byte[] second = InlineData.second(raw);
    entries.check(directory, first, 0, false, _ -> {});
    if (second != null) {
      entries.check(directory, MemorySegment.ofArray(second), 0, false, _ -> {});
    }
    long size = RawInode.I_BLOCK_SIZE + (second == null ? 0 : second.length);
    if (directory.inode.size() != size) {
      String text = "it is " + directory.inode.size() + ", should be " + size;
      context.report(Problem.INLINE_SIZE, directory.ino(), 0, text);
    }
  }

  @Override
  public void data(long logical, long blockNr, long count, boolean unwritten) {
    if (logical > nextLogical) {
      String text = "logical blocks " + nextLogical + " to " + (logical - 1);
      context.report(Problem.DIRECTORY_HOLE, directory.ino(), 0, text);
    }
    nextLogical = Math.max(nextLogical, logical + count);
    if (unwritten) {
      return;
    }
    for (long i = 0; i < count && corruptBlocks < MAX_CORRUPT; i++) {
      if (context.claims().claimedTwice(blockNr + i)
          && sharedBlocks.incrementAndGet() > MAX_SHARED) {
        return;
      }
      MemorySegment block = context.readBlock(blockNr + i, directory.ino());
      if (block == null || !check(logical + i, block, blockNr + i)) {
        corruptBlocks++;
      }
    }
  }

  private boolean check(long logical, MemorySegment block, long blockNr) {
    if (index != null) {
      boolean ofIndex =
          logical == 0 ? index.root(block, blockNr) : index.node(logical, block, blockNr);
      if (ofIndex) {
        return logical > 0 || entries.check(directory, block, blockNr, true, _ -> {});
      }
      index.leaf(logical);
    }
    MemorySegment area = block;
    if (context.checksums().enabled()) {
      area = block.asSlice(0, DirTail.offset(block));
      checkTail(block, blockNr);
      if (!DirTail.present(block)) {
        area = block;
      }
    }
    return entries.check(
        directory,
        area,
        blockNr,
        logical == 0,
        name -> {
          if (index != null) {
            index.name(logical, name);
          }
        });
  }

  private void checkTail(MemorySegment block, long blockNr) {
    if (!DirTail.present(block)) {
      context.report(Problem.DIRECTORY_NO_CHECKSUM, directory.ino(), blockNr, "");
      return;
    }
    int tail = DirTail.offset(block);
    int computed = context.checksums().directoryLeaf(block, directory.checksumSeed, tail);
    if (DirTail.checksum(block) != computed) {
      context.report(Problem.DIRECTORY_CHECKSUM, directory.ino(), blockNr, "");
    }
  }
}
