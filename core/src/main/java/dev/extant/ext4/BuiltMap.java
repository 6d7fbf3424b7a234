package dev.extant.ext4;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.PointerShape;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// A block map as it would be for a given list of blocks, built in memory, outside of the file that
/// it is for.
final class BuiltMap {
  /// The i_block of the inode.
  final MemorySegment root = MemorySegment.ofArray(new byte[RawInode.I_BLOCK_SIZE]);

  /// The blocks of the map, by number.
  final Map<Long, MemorySegment> nodes = new LinkedHashMap<>();

  private final int blockSizeBytes;

  /// Numbers for blocks of the map; how many were used.
  private final List<Long> pool;

  private int taken;

  private BuiltMap(int blockSizeBytes, List<Long> pool) {
    this.blockSizeBytes = blockSizeBytes;
    this.pool = pool;
  }

  /// How many blocks it needs, which may be more than the pool had; then it is of no use.
  int needed() {
    return taken;
  }

  /// `runs` follow on each other without holes, from logical block 0 on.
  static BuiltMap ofExtents(
      int blockSizeBytes,
      List<BlockMap.Run> runs,
      List<Long> pool,
      Checksums checksums,
      int inodeSeed) {
    BuiltMap map = new BuiltMap(blockSizeBytes, pool);
    List<Entry> entries = extents(runs);
    int depth = 0;
    while (entries.size() > ExtentHeader.capacity(RawInode.I_BLOCK_SIZE)) {
      entries = map.level(entries, depth++);
    }
    fill(map.root, entries, depth);
    map.nodes.values().forEach(node -> checksums.sealExtentBlock(node, inodeSeed));
    return map;
  }

  private record Entry(long logical, long body) {}

  private static List<Entry> extents(List<BlockMap.Run> runs) {
    List<Entry> entries = new ArrayList<>();
    for (BlockMap.Run run : joined(runs)) {
      for (int done = 0; done < run.count(); done += Extent.MAX_COUNT) {
        int count = Math.min(Extent.MAX_COUNT, run.count() - done);
        entries.add(
            new Entry(run.logical() + done, Extent.body(run.blockNr() + done, count, false)));
      }
    }
    return entries;
  }

  private static List<BlockMap.Run> joined(List<BlockMap.Run> runs) {
    List<BlockMap.Run> joined = new ArrayList<>();
    for (BlockMap.Run run : runs) {
      BlockMap.Run last = joined.isEmpty() ? null : joined.getLast();
      if (last != null && last.blockNr() + last.count() == run.blockNr()) {
        joined.removeLast();
        int count = last.count() + run.count();
        joined.add(new BlockMap.Run(last.logical(), last.blockNr(), count, false));
      } else {
        joined.add(run);
      }
    }
    return joined;
  }

  private List<Entry> level(List<Entry> entries, int depth) {
    int capacity = ExtentHeader.capacity(blockSizeBytes);
    List<Entry> parents = new ArrayList<>();
    for (int from = 0; from < entries.size(); from += capacity) {
      List<Entry> part = entries.subList(from, Math.min(from + capacity, entries.size()));
      Node node = take();
      fill(node.data, part, depth);
      parents.add(new Entry(part.getFirst().logical, ExtentIndex.body(node.blockNr)));
    }
    return parents;
  }

  private static void fill(MemorySegment node, List<Entry> entries, int depth) {
    ExtentHeader.initialise(node, depth);
    for (int i = 0; i < entries.size(); i++) {
      ExtentHeader.insert(node, i, entries.get(i).logical, entries.get(i).body);
    }
  }

  private record Node(long blockNr, MemorySegment data) {}

  private Node take() {
    long blockNr = taken < pool.size() ? pool.get(taken) : 0;
    taken++;
    MemorySegment data = MemorySegment.ofArray(new byte[blockSizeBytes]);
    if (blockNr != 0) {
      nodes.put(blockNr, data);
    }
    return new Node(blockNr, data);
  }

  /// The same with block pointers.
  static BuiltMap ofPointers(int blockSizeBytes, List<BlockMap.Run> runs, List<Long> pool) {
    BuiltMap map = new BuiltMap(blockSizeBytes, pool);
    List<Long> left = new ArrayList<>();
    for (BlockMap.Run run : runs) {
      for (int i = 0; i < run.count(); i++) {
        left.add(run.blockNr() + i);
      }
    }
    PointerShape shape = new PointerShape(blockSizeBytes);
    int at = 0;
    for (int slot = 0; slot < PointerShape.DIRECT && at < left.size(); slot++) {
      Le.put32(map.root, 4L * slot, left.get(at++));
    }
    for (int depth = 1; depth <= PointerShape.MAX_DEPTH && at < left.size(); depth++) {
      int end = (int) Math.min(left.size(), at + shape.power(depth));
      long node = map.table(left.subList(at, end), depth, shape);
      Le.put32(map.root, 4L * (PointerShape.DIRECT + depth - 1), node);
      at = end;
    }
    return map;
  }

  private long table(List<Long> blocks, int depth, PointerShape shape) {
    Node node = take();
    int span = (int) shape.power(depth - 1);
    for (int from = 0; from < blocks.size(); from += span) {
      List<Long> part = blocks.subList(from, Math.min(from + span, blocks.size()));
      long pointer = depth == 1 ? part.getFirst() : table(part, depth - 1, shape);
      Le.put32(node.data, 4L * (from / span), pointer);
    }
    return node.blockNr;
  }
}
