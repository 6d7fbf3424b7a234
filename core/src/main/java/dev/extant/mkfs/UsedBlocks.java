package dev.extant.mkfs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/// Which blocks of a file system in the making are taken, as runs: their number grows with the
/// metadata's pieces, not with the size of the file system.
///
/// With bigalloc files take whole clusters ([#takeAny]), once those in which metadata lies are
/// taken as a whole ([#fillClusters]).
final class UsedBlocks {
  /// Blocks in a row.
  record Run(long blockNr, long count) {
    long end() {
      return blockNr + count;
    }
  }

  private final long blocksCount;
  private final int blocksPerCluster;

  /// Start of each run of taken blocks to the block behind it. Runs neither touch nor overlap.
  private final TreeMap<Long, Long> runs = new TreeMap<>();

  UsedBlocks(long firstDataBlock, long blocksCount) {
    this(firstDataBlock, blocksCount, 1);
  }

  UsedBlocks(long firstDataBlock, long blocksCount, int blocksPerCluster) {
    this.blocksCount = blocksCount;
    this.blocksPerCluster = blocksPerCluster;
    if (firstDataBlock > 0) {
      runs.put(0L, firstDataBlock);
    }
  }

  /// Takes blocks that are free.
  void take(long blockNr, long count) {
    long start = blockNr;
    long end = blockNr + count;
    Map.Entry<Long, Long> before = runs.floorEntry(start);
    if (before != null && before.getValue() == start) {
      start = before.getKey();
    }
    Long after = runs.remove(end);
    runs.put(start, after == null ? end : after);
  }

  /// Takes the rest of each cluster of which a part is taken.
  void fillClusters() {
    TreeMap<Long, Long> filled = new TreeMap<>();
    long start = -1;
    long end = -1;
    for (Map.Entry<Long, Long> run : runs.entrySet()) {
      long from = run.getKey() - run.getKey() % blocksPerCluster;
      if (from > end) {
        if (start >= 0) {
          filled.put(start, end);
        }
        start = from;
      }
      end = Math.max(end, Math.min(wholeClusters(run.getValue()), blocksCount));
    }
    if (start >= 0) {
      filled.put(start, end);
    }
    runs.clear();
    runs.putAll(filled);
  }

  private long wholeClusters(long blocks) {
    return (blocks + blocksPerCluster - 1) / blocksPerCluster * blocksPerCluster;
  }

  /// Takes the first `count` free blocks in a row at or behind `goal` and below `limit`; -1 if
  /// there are none.
  long takeRow(long goal, long count, long limit) {
    long at = skipUsed(goal);
    while (at + count <= limit) {
      Long next = runs.ceilingKey(at);
      if (next == null || next >= at + count) {
        take(at, count);
        return at;
      }
      at = runs.get(next);
    }
    return -1;
  }

  /// Takes `count` free blocks, and the rest of their last cluster, in as few runs as come from
  /// `goal` on, and from the start when the end is reached; null if there are not so many.
  List<Run> takeAny(long goal, long count) {
    List<Run> taken = new ArrayList<>();
    long left = takeUpTo(goal, blocksCount, count, taken);
    left = takeUpTo(0, blocksCount, left, taken);
    return left == 0 ? taken : null;
  }

  private long takeUpTo(long goal, long limit, long count, List<Run> taken) {
    long left = count;
    long at = skipUsed(wholeClusters(goal));
    while (left > 0 && at < limit) {
      Long next = runs.ceilingKey(at);
      long length = Math.min(left, (next == null ? limit : Math.min(next, limit)) - at);
      taken.add(new Run(at, length));
      long whole = Math.min(wholeClusters(length), blocksCount - at);
      take(at, whole);
      left -= length;
      at = skipUsed(at + whole);
    }
    return left;
  }

  private long skipUsed(long blockNr) {
    Map.Entry<Long, Long> run = runs.floorEntry(blockNr);
    return run != null && run.getValue() > blockNr ? run.getValue() : blockNr;
  }

  /// How many of the blocks from `from` to `limit` are taken.
  long countUsed(long from, long limit) {
    long[] count = {0};
    forEachRun(from, limit, run -> count[0] += run.count());
    return count[0];
  }

  /// Gives the runs of taken blocks, cut to the range.
  void forEachRun(long from, long limit, Consumer<Run> action) {
    Map.Entry<Long, Long> run = runs.floorEntry(from);
    if (run == null || run.getValue() <= from) {
      run = runs.higherEntry(from);
    }
    while (run != null && run.getKey() < limit) {
      long start = Math.max(run.getKey(), from);
      action.accept(new Run(start, Math.min(run.getValue(), limit) - start));
      run = runs.higherEntry(run.getKey());
    }
  }
}
