package dev.extant.fsck;

import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/// Walks an extent tree (Linux documentation, "Extent Tree").
///
/// The ranges of logical blocks follow each other without overlap, each child begins where its
/// index says and lies one level lower; a block is a node of the tree once at most. What breaks
/// this is a problem, and what cannot be believed is not followed.
final class ExtentWalk {
  private static final long LOGICAL_LIMIT = 1L << 32;

  /// Room at a node's end that it may leave unused.
  private static final int SPARE_ENTRIES = 2;

  /// Deeper trees than the format allows are followed too, to this depth.
  private static final int MAX_DEPTH = 16;

  private final CheckContext context;
  private final ScannedInode inode;
  private final FileBlocks.Visitor visitor;
  private final int inodeSeed;
  private final Set<Long> nodes = new HashSet<>();

  /// The logical block behind the last extent.
  private long end;

  ExtentWalk(CheckContext context, ScannedInode inode, FileBlocks.Visitor visitor) {
    this.context = context;
    this.inode = inode;
    this.visitor = visitor;
    this.inodeSeed = context.checksums().inodeSeed(inode.ino(), RawInode.generation(inode.raw()));
  }

  void walk() {
    MemorySegment root = inode.raw().asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
    int depth = ExtentHeader.depth(root);
    if (!headerPossible(root) || depth > MAX_DEPTH) {
      problem(Problem.EXTENT_HEADER, 0, header(root));
      return;
    }
    if (depth > ExtentHeader.MAX_DEPTH) {
      problem(Problem.EXTENT_DEPTH, 0, "it has depth " + depth);
    }
    walk(root, depth, LOGICAL_LIMIT);
  }

  private static boolean headerPossible(MemorySegment node) {
    int entries = ExtentHeader.entries(node);
    int max = ExtentHeader.max(node);
    int room = ExtentHeader.capacity(node.byteSize());
    return ExtentHeader.magic(node) == ExtentHeader.MAGIC
        && max > 0
        && max <= room
        && max >= room - SPARE_ENTRIES
        && entries <= max;
  }

  private static String header(MemorySegment node) {
    return "magic 0x%x, %d entries of %d, depth %d"
        .formatted(
            ExtentHeader.magic(node),
            ExtentHeader.entries(node),
            ExtentHeader.max(node),
            ExtentHeader.depth(node));
  }

  /// The node's entries; all of them are to lie before `limit`.
  private void walk(MemorySegment node, int depth, long limit) {
    int entries = ExtentHeader.entries(node);
    for (int i = 0; i < entries; i++) {
      long next = i + 1 < entries ? ExtentHeader.logical(node, i + 1) : limit;
      if (depth == 0) {
        leafEntry(node, i, limit);
      } else {
        indexEntry(node, i, depth, Math.min(next, limit));
      }
    }
  }

  private void leafEntry(MemorySegment leaf, int index, long limit) {
    long logical = Extent.logical(leaf, index);
    long blockNr = Extent.blockNr(leaf, index);
    int count = Extent.count(leaf, index);
    if (count == 0 || !context.layout().validRun(blockNr, count)) {
      problem(Problem.EXTENT_INVALID, blockNr, extent(logical, blockNr, count));
      return;
    }
    if (logical < end || logical + count > limit) {
      problem(Problem.EXTENT_ORDER, blockNr, extent(logical, blockNr, count));
    }
    end = Math.max(end, logical + count);
    visitor.data(logical, blockNr, count, Extent.unwritten(leaf, index));
  }

  private static String extent(long logical, long blockNr, int count) {
    return "logical block " + logical + ", physical block " + blockNr + ", len " + count;
  }

  private void indexEntry(MemorySegment node, int index, int depth, long limit) {
    long logical = ExtentIndex.logical(node, index);
    long blockNr = ExtentIndex.child(node, index);
    if (!context.layout().validBlock(blockNr)) {
      problem(Problem.EXTENT_NODE_INVALID, blockNr, "logical block " + logical);
      return;
    }
    if (logical < end) {
      problem(Problem.EXTENT_ORDER, blockNr, "node of logical block " + logical);
    }
    if (!nodes.add(blockNr)) {
      problem(Problem.MAP_LOOP, blockNr, "logical block " + logical);
      return;
    }
    visitor.map(blockNr);
    if (!visitor.follow(blockNr)) {
      return;
    }
    if (!context.budget().take()) {
      problem(Problem.MAP_TOO_SHARED, blockNr, "");
      return;
    }
    MemorySegment child = context.readBlock(blockNr, inode.ino());
    if (child != null) {
      child(child, blockNr, depth - 1, logical, limit);
    }
  }

  private void child(MemorySegment child, long blockNr, int depth, long logical, long limit) {
    if (!headerPossible(child) || ExtentHeader.depth(child) != depth) {
      problem(Problem.EXTENT_HEADER, blockNr, header(child));
      return;
    }
    if (!context.checksums().extentBlockValid(child, inodeSeed)) {
      problem(Problem.EXTENT_CHECKSUM, blockNr, "logical block " + logical);
    }
    if (ExtentHeader.entries(child) == 0) {
      problem(Problem.EXTENT_NODE_EMPTY, blockNr, "logical block " + logical);
      return;
    }
    if (ExtentHeader.logical(child, 0) != logical) {
      problem(
          Problem.EXTENT_START,
          blockNr,
          "the index says " + logical + ", the node " + ExtentHeader.logical(child, 0));
    }
    walk(child, depth, limit);
  }

  private void problem(Problem problem, long blockNr, String detail) {
    visitor.problem(problem, blockNr, detail);
  }
}
