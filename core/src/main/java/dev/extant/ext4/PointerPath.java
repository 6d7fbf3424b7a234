package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.PointerShape;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The way from an inode's i_block to the pointer of one logical block.
///
/// Definitions. The *depth* of a logical block is the number of indirect blocks on its way, 0 to 3.
/// *Level* 0 is i_block, level `depth` holds the pointer to the data; a *table* is what one level
/// shows of the way: the pointers in an indirect block, or, of i_block, the direct pointers or the
/// one of this depth. The path is *reached* down to the level whose pointer is 0, or to the last.
///
/// Holds a pin on each indirect block until closed.
final class PointerPath implements AutoCloseable {
  private final MemorySegment raw;
  private final PointerShape shape;
  private final long logical;
  private final int depth;
  private final Buffer[] buffers = new Buffer[PointerShape.MAX_DEPTH + 1];
  private int reached;

  PointerPath(MemorySegment raw, PointerShape shape, long logical) {
    this.raw = raw;
    this.shape = shape;
    this.logical = logical;
    this.depth = shape.depth(logical);
  }

  int depth() {
    return depth;
  }

  int reached() {
    return reached;
  }

  /// True if the pointer to the data can be read, which may be 0.
  boolean complete() {
    return reached == depth;
  }

  /// Goes one level down, into a pinned block.
  void descend(Buffer buffer) {
    reached++;
    buffers[reached] = buffer;
  }

  /// Goes one level up again.
  void ascend() {
    buffers[reached].close();
    buffers[reached] = null;
    reached--;
  }

  /// The indirect block of a level that was reached, null for i_block.
  Buffer buffer(int level) {
    return buffers[level];
  }

  /// Where the way goes on in the table of a level.
  int index(int level) {
    long relative = logical - shape.firstOfDepth(depth);
    if (level == 0) {
      return depth == 0 ? (int) relative : 0;
    }
    return (int) (relative / span(level) % shape.pointersPerBlock());
  }

  /// How many pointers the table of a level has.
  int size(int level) {
    if (level > 0) {
      return shape.pointersPerBlock();
    }
    return depth == 0 ? PointerShape.DIRECT : 1;
  }

  /// How many logical blocks one pointer of a level stands for.
  long span(int level) {
    return shape.power(depth - level);
  }

  /// The first logical block that the pointer at `index` of a level on this way stands for.
  long logicalAt(int level, int index) {
    long relative = logical - shape.firstOfDepth(depth);
    long table = span(level) * size(level);
    return shape.firstOfDepth(depth) + relative / table * table + index * span(level);
  }

  long pointer(int level, int index) {
    return Le.u32(segment(level), offset(level, index));
  }

  /// Of i_block only under the inode's `mapLock`, of a block only after it was announced.
  void pointer(int level, int index, long blockNr) {
    Le.put32(segment(level), offset(level, index), blockNr);
  }

  /// The pointer with which the way ends so far; 0 in a hole.
  long last() {
    return pointer(reached, index(reached));
  }

  private MemorySegment segment(int level) {
    return level == 0 ? raw : buffers[level].data();
  }

  private long offset(int level, int index) {
    if (level > 0) {
      return 4L * index;
    }
    int slot = depth == 0 ? index : PointerShape.DIRECT + depth - 1;
    return RawInode.I_BLOCK + 4L * slot;
  }

  @Override
  public void close() {
    for (int level = 1; level < buffers.length; level++) {
      if (buffers[level] != null) {
        buffers[level].close();
        buffers[level] = null;
      }
    }
  }
}
