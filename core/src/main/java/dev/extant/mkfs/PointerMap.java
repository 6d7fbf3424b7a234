package dev.extant.mkfs;

import dev.extant.ext4.format.PointerShape;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/// Stores where a file's blocks are as block pointers (Linux documentation, "Direct/Indirect Block
/// Addressing").
final class PointerMap implements FileMap {
  private final List<UsedBlocks.Run> runs;
  private final int blockSizeBytes;
  private final PointerShape shape;

  PointerMap(List<UsedBlocks.Run> runs, int blockSizeBytes) {
    this.runs = runs;
    this.blockSizeBytes = blockSizeBytes;
    this.shape = new PointerShape(blockSizeBytes);
  }

  /// How many indirect blocks a file of that many blocks has.
  static long indirectBlocks(long count, int blockSizeBytes) {
    return new PointerShape(blockSizeBytes).indirectBlocks(count);
  }

  @Override
  public int blocksNeeded() {
    long count = runs.stream().mapToLong(UsedBlocks.Run::count).sum();
    return count > shape.limit() ? -1 : (int) shape.indirectBlocks(count);
  }

  @Override
  public List<MapBlock> store(MemorySegment inode, List<Long> blocks) {
    Filling filling = new Filling(inode, blocks.iterator());
    long logical = 0;
    for (UsedBlocks.Run run : runs) {
      for (long blockNr = run.blockNr(); blockNr < run.end(); blockNr++) {
        filling.add(logical++, blockNr);
      }
    }
    return filling.made;
  }

  /// Adds block after block.
  private final class Filling {
    private final MemorySegment inode;
    private final Iterator<Long> spare;

    /// The indirect blocks on the way to the last block, by how many are above them.
    private final MemorySegment[] way = new MemorySegment[PointerShape.MAX_DEPTH];

    private final List<MapBlock> made = new ArrayList<>();

    Filling(MemorySegment inode, Iterator<Long> spare) {
      this.inode = inode;
      this.spare = spare;
    }

    void add(long logical, long blockNr) {
      int depth = shape.depth(logical);
      long relative = logical - shape.firstOfDepth(depth);
      for (int level = 0; level < depth; level++) {
        if (relative % shape.power(depth - level) == 0) {
          MapBlock next =
              new MapBlock(spare.next(), MemorySegment.ofArray(new byte[blockSizeBytes]));
          put(level, depth, relative, next.blockNr());
          made.add(next);
          way[level] = next.block();
        }
      }
      put(depth, depth, relative, blockNr);
    }

    /// Sets the pointer that has `level` indirect blocks above it.
    private void put(int level, int depth, long relative, long blockNr) {
      if (level > 0) {
        long index = relative / shape.power(depth - level) % shape.pointersPerBlock();
        Le.put32(way[level - 1], 4 * index, blockNr);
      } else {
        long slot = depth == 0 ? relative : PointerShape.DIRECT + depth - 1;
        Le.put32(inode, RawInode.I_BLOCK + 4 * slot, blockNr);
      }
    }
  }
}
