package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.util.Bits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Where the file system's own blocks lie: superblocks, descriptors, bitmaps and inode tables, as
/// sorted, disjoint ranges. Read from all descriptors when first needed, since flex_bg and resizing
/// put them anywhere.
final class SystemZone {
  interface RangeVisitor {
    void visit(long blockNr, int count);
  }

  private final GroupTable table;
  private final Geometry geometry;
  private final GroupLayout layout;

  /// Starts and ends (exclusive) of the ranges, in turn. Null until first needed.
  private volatile long[] bounds;

  SystemZone(GroupTable table) {
    this(table, table.geometry(), table.layout());
  }

  /// The same for a part of the groups, as if there were no others.
  SystemZone(GroupTable table, Geometry geometry, GroupLayout layout) {
    this.table = table;
    this.geometry = geometry;
    this.layout = layout;
  }

  /// True if one of the blocks belongs to the file system itself.
  boolean overlaps(long blockNr, long count) throws IOException {
    long[] ranges = ranges();
    int at = firstEndingBehind(ranges, blockNr);
    return at < ranges.length && ranges[at] < blockNr + count;
  }

  /// Some of the blocks moved: they are read again when they are next needed.
  void reset() {
    bounds = null;
  }

  /// Visits the parts of the ranges that lie in the given blocks, in order.
  void forEachIn(long blockNr, int count, RangeVisitor visitor) throws IOException {
    long[] ranges = ranges();
    long limit = blockNr + count;
    for (int at = firstEndingBehind(ranges, blockNr);
        at < ranges.length && ranges[at] < limit;
        at += 2) {
      long from = Math.max(ranges[at], blockNr);
      visitor.visit(from, (int) (Math.min(ranges[at + 1], limit) - from));
    }
  }

  /// Sets the bits of the group's clusters in which one of the ranges lies.
  void mark(MemorySegment bits, int group) throws IOException {
    long first = geometry.firstBlockOfGroup(group);
    forEachIn(
        first,
        geometry.blocksInGroup(group),
        (blockNr, count) -> {
          int from = (int) (blockNr - first);
          Bits.setRange(
              bits, from >>> geometry.logBlocksPerCluster(), geometry.clusters(from + count));
        });
  }

  /// Index of the first range whose end is behind `blockNr`.
  private static int firstEndingBehind(long[] ranges, long blockNr) {
    int low = 0;
    int high = ranges.length / 2;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ranges[2 * middle + 1] > blockNr) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return 2 * low;
  }

  private long[] ranges() throws IOException {
    long[] ranges = bounds;
    if (ranges == null) {
      ranges = collect();
      bounds = ranges;
    }
    return ranges;
  }

  /// A group whose descriptor is damaged adds only what its number tells.
  private long[] collect() throws IOException {
    Collector collector = new Collector();
    int tableBlocks = geometry.inodeTableBlocksPerGroup();
    for (int group = 0; group < geometry.groupCount(); group++) {
      collector.add(geometry.firstBlockOfGroup(group), layout.frontBlocks(group));
      if (!table.damaged(group)) {
        collector.add(table.blockBitmap(group), 1);
        collector.add(table.inodeBitmap(group), 1);
        collector.add(table.inodeTable(group), tableBlocks);
      }
    }
    return collector.merged();
  }

  /// Ranges as one long each: 48 bits of block number, 16 bits of length (both are bounded by the
  /// format).
  private static final class Collector {
    private static final int MAX_COUNT = 0xffff;

    private long[] packed = new long[64];
    private int size;

    void add(long blockNr, long count) {
      for (long from = blockNr, left = count; left > 0; from += MAX_COUNT, left -= MAX_COUNT) {
        if (size == packed.length) {
          packed = Arrays.copyOf(packed, 2 * size);
        }
        packed[size++] = from << 16 | Math.min(left, MAX_COUNT);
      }
    }

    long[] merged() {
      Arrays.sort(packed, 0, size);
      long[] ranges = new long[2 * size];
      int used = 0;
      for (int i = 0; i < size; i++) {
        long from = packed[i] >>> 16;
        long end = from + (packed[i] & MAX_COUNT);
        if (used > 0 && from <= ranges[used - 1]) {
          ranges[used - 1] = Math.max(ranges[used - 1], end);
        } else {
          ranges[used++] = from;
          ranges[used++] = end;
        }
      }
      return Arrays.copyOf(ranges, used);
    }
  }
}
