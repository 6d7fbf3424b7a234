package dev.extant.fsck;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;

/// Reads the file of one kind of quota (Linux kernel documentation, "Quota subsystem", and the
/// header quotaio_v2.h): blocks of 1 KiB, the first with magic number and counts, the second the
/// root of a tree of block numbers that has four levels, whose leaves hold entries of 72 bytes: id,
/// limits, and how many inodes and bytes are in use.
///
/// Whatever the bytes are, every block is visited once a level at most.
final class QuotaFile {
  private static final int BLOCK_SIZE = 1024;
  private static final int VERSION = 1;
  private static final int ROOT = 1;
  private static final int LEVELS = 4;
  private static final int LEAF_HEADER_SIZE = 16;
  private static final int ENTRY_SIZE = 72;
  private static final int ENTRY_INODES = 24;
  private static final int ENTRY_BYTES = 48;

  /// By kind: of users, groups, projects.
  private static final long[] MAGIC = {0xD9C0_1F11L, 0xD9C0_1927L, 0xD9C0_3F14L};

  /// Told of each entry, and of what makes the file unreadable.
  interface Visitor {
    void entry(long id, long bytes, long inodes);

    /// It is none at all, to e2fsck.
    void bad(long magic);

    void corrupt(String why);
  }

  /// Blocks of the file that follow each other on the device.
  private record Run(long blockNr, long count) {}

  private final CheckContext context;
  private final ScannedInode inode;
  private final Visitor visitor;
  private final TreeMap<Long, Run> runs = new TreeMap<>();
  private final BitSet[] visited = new BitSet[LEVELS + 1];
  private long blocks;
  private boolean stopped;

  QuotaFile(CheckContext context, ScannedInode inode, Visitor visitor) {
    this.context = context;
    this.inode = inode;
    this.visitor = visitor;
    FileBlocks.walk(
        context, inode, (logical, blockNr, count, _) -> runs.put(logical, new Run(blockNr, count)));
    for (int level = 0; level <= LEVELS; level++) {
      visited[level] = new BitSet();
    }
  }

  void read(int kind) {
    MemorySegment header = block(0);
    if (header == null || !headerPossible(header, kind)) {
      return;
    }
    tree(ROOT, 0);
  }

  private boolean headerPossible(MemorySegment header, int kind) {
    if (Le.u32(header, 0) != MAGIC[kind]) {
      visitor.bad(Le.u32(header, 0));
      return false;
    }
    if (Le.u32(header, 4) != VERSION) {
      return corrupt("it has version " + Le.u32(header, 4));
    }
    blocks = Le.u32(header, 20);
    long fileBlocks = Long.divideUnsigned(inode.size(), BLOCK_SIZE);
    if (blocks > fileBlocks || Le.u32(header, 24) >= blocks || Le.u32(header, 28) >= blocks) {
      return corrupt("it says that it has " + blocks + " blocks, of " + fileBlocks);
    }
    return true;
  }

  private boolean corrupt(String why) {
    if (!stopped) {
      visitor.corrupt(why);
    }
    stopped = true;
    return false;
  }

  private void tree(int number, int level) {
    if (visited[level].get(number) || stopped) {
      return;
    }
    visited[level].set(number);
    MemorySegment block = block(number);
    if (block == null) {
      return;
    }
    if (level == LEVELS) {
      leaf(block);
      return;
    }
    for (int at = 0; at < BLOCK_SIZE && !stopped; at += 4) {
      long child = Le.u32(block, at);
      if (child >= blocks) {
        corrupt("block " + number + " refers to block " + child);
      } else if (child != 0) {
        tree((int) child, level + 1);
      }
    }
  }

  private void leaf(MemorySegment block) {
    for (int at = LEAF_HEADER_SIZE; at + ENTRY_SIZE <= BLOCK_SIZE; at += ENTRY_SIZE) {
      MemorySegment entry = block.asSlice(at, ENTRY_SIZE);
      if (entry.mismatch(MemorySegment.ofArray(new byte[ENTRY_SIZE])) >= 0) {
        visitor.entry(Le.u32(entry, 0), Le.u64(entry, ENTRY_BYTES), Le.u64(entry, ENTRY_INODES));
      }
    }
  }

  /// Null if it cannot be read.
  private MemorySegment block(int number) {
    long at = (long) number * BLOCK_SIZE;
    int blockSize = context.layout().blockSizeBytes();
    Map.Entry<Long, Run> run = runs.floorEntry(at / blockSize);
    long within = run == null ? 0 : at / blockSize - run.getKey();
    if (run == null || within >= run.getValue().count()) {
      corrupt("block " + number + " is a hole");
      return null;
    }
    MemorySegment block = context.readBlock(run.getValue().blockNr() + within, inode.ino());
    return block == null ? null : block.asSlice(at % blockSize, BLOCK_SIZE);
  }
}
