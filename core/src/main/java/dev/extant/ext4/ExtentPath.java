package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import java.lang.foreign.MemorySegment;

/// The nodes from the root of an extent tree down to one leaf, by height: the leaf is 0, the root
/// is [#depth]. Holds a pin on each block until closed.
final class ExtentPath implements AutoCloseable {
  /// Room for the growth by one level.
  private static final int LEVELS = ExtentHeader.MAX_DEPTH + 2;

  private final MemorySegment[] nodes = new MemorySegment[LEVELS];
  private final Buffer[] buffers = new Buffer[LEVELS];
  private final int[] positions = new int[LEVELS];
  private int depth;

  /// The logical block at which the next leaf begins; 2^32 for the last leaf.
  private long endOfLeaf = ExtentNodes.MAX_LOGICAL_BLOCKS;

  ExtentPath(MemorySegment root, int depth) {
    this.depth = depth;
    nodes[depth] = root;
  }

  int depth() {
    return depth;
  }

  MemorySegment node(int height) {
    return nodes[height];
  }

  MemorySegment leaf() {
    return nodes[0];
  }

  /// The node's block, null for the root.
  Buffer buffer(int height) {
    return buffers[height];
  }

  /// The node's block number, 0 for the root.
  long blockNr(int height) {
    return buffers[height] == null ? 0 : buffers[height].blockNr();
  }

  /// The entry that leads on; in the leaf the last one at or before the logical block that was
  /// looked for, or -1.
  int position(int height) {
    return positions[height];
  }

  void position(int height, int value) {
    positions[height] = value;
  }

  long endOfLeaf() {
    return endOfLeaf;
  }

  void endOfLeaf(long value) {
    endOfLeaf = value;
  }

  /// Where the hole behind the leaf's position ends.
  long endOfHole() {
    int next = positions[0] + 1;
    return next < ExtentHeader.entries(leaf()) ? Extent.logical(leaf(), next) : endOfLeaf;
  }

  /// What lies at `logical`, which is in the extent at the leaf's position.
  BlockMap.Run run(long logical, int maxCount) {
    MemorySegment leaf = leaf();
    int position = positions[0];
    return new BlockMap.Run(
        logical,
        Extent.blockNr(leaf, position) + logical - Extent.logical(leaf, position),
        (int) Math.min(maxCount, Extent.end(leaf, position) - logical),
        Extent.unwritten(leaf, position));
  }

  /// Puts a pinned block in at `height`; the one that was there is given back.
  void replace(int height, Buffer buffer) {
    if (buffers[height] != null) {
      buffers[height].close();
    }
    buffers[height] = buffer;
    nodes[height] = buffer.data();
  }

  /// The root became one level higher: its old content is in `buffer`.
  void grow(Buffer buffer) {
    nodes[depth + 1] = nodes[depth];
    positions[depth + 1] = 0;
    buffers[depth] = buffer;
    nodes[depth] = buffer.data();
    depth++;
  }

  @Override
  public void close() {
    for (int height = 0; height < LEVELS; height++) {
      if (buffers[height] != null) {
        buffers[height].close();
        buffers[height] = null;
      }
    }
  }
}
