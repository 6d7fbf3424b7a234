package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;

/// The blocks of a file in clusters (bigalloc), between an extent tree, which counts in blocks, and
/// the free space, which is given out in whole clusters.
///
/// A logical cluster is a run of [Geometry#blocksPerCluster] logical blocks that begins at a
/// multiple of that.
///
/// Invariants of every file:
/// 1. A block lies as far inside its cluster as its logical block lies inside its logical cluster.
/// 2. All blocks of a logical cluster lie in one cluster, and no other blocks lie there.
/// 3. The file owns a cluster as long as one block of its logical cluster is mapped, written or
///    not; `i_blocks` counts all blocks of it.
///
/// Without bigalloc a cluster is one block, and nothing here looks at neighbours.
final class Clusters {
  private final BlockSource blocks;
  private final int blocksPerCluster;

  Clusters(Geometry geometry, BlockSource blocks) {
    this.blocks = blocks;
    this.blocksPerCluster = geometry.blocksPerCluster();
  }

  /// What a file maps.
  interface Mapped {
    /// The first mapped run in that range of logical blocks, or null.
    BlockMap.Run first(long fromLogical, long endLogical) throws IOException;
  }

  /// Where blocks for a hole are. `newBlocks` is what they add to `i_blocks`: 0 if their cluster is
  /// the file's already.
  record Place(long blockNr, int count, int newBlocks) {}

  /// Blocks for `wanted` logical blocks from `logical` on, or for some of them. All of them are a
  /// hole. ENOSPC and credits as with [BlockSource#allocate].
  Place allocate(Handle handle, Mapped mapped, long goal, long logical, int wanted)
      throws IOException {
    if (blocksPerCluster == 1) {
      BlockSource.Extent got = blocks.allocate(handle, goal, wanted);
      return new Place(got.blockNr(), got.count(), got.count());
    }
    long start = startOfCluster(logical);
    BlockMap.Run neighbour = mapped.first(start, start + blocksPerCluster);
    if (neighbour != null) {
      requireAligned(neighbour.logical(), neighbour.blockNr());
      int count = (int) Math.min(wanted, start + blocksPerCluster - logical);
      return new Place(neighbour.blockNr() + logical - neighbour.logical(), count, 0);
    }
    int inside = (int) (logical - start);
    long end = endOfHole(mapped, start, logical + wanted);
    BlockSource.Extent got =
        blocks.allocate(handle, Math.max(0, goal - inside), (int) (end - start));
    int clusters = (got.count() + blocksPerCluster - 1) / blocksPerCluster;
    return new Place(
        got.blockNr() + inside,
        got.count() - inside,
        Math.multiplyExact(clusters, blocksPerCluster));
  }

  /// `end`, or the start of its logical cluster if there are blocks at or behind `end` in that.
  private long endOfHole(Mapped mapped, long start, long end) throws IOException {
    long lastStart = startOfCluster(end);
    boolean shared =
        lastStart > start
            && lastStart < end
            && mapped.first(end, lastStart + blocksPerCluster) != null;
    return shared ? lastStart : end;
  }

  /// Undoes [#allocate], before the blocks were mapped.
  void undo(Handle handle, long logical, Place place) throws IOException {
    if (place.newBlocks > 0) {
      int inside = (int) (logical - startOfCluster(logical));
      blocks.free(handle, place.blockNr - inside, place.count + inside, false);
    }
  }

  /// Gives back those clusters of a run of which no other block is mapped. Returns how much less
  /// `i_blocks` counts. `mapped` may still show the run itself. Credits as with [BlockSource#free].
  int free(Handle handle, Mapped mapped, long logical, long blockNr, int count, boolean metadata)
      throws IOException {
    if (blocksPerCluster == 1) {
      blocks.free(handle, blockNr, count, metadata);
      return count;
    }
    requireAligned(logical, blockNr);
    long end = logical + count;
    long first = startOfCluster(logical);
    long limit = startOfCluster(end + blocksPerCluster - 1);
    boolean keepFirst = first < logical && mapped.first(first, logical) != null;
    boolean keepLast = end < limit && mapped.first(end, limit) != null;
    first += keepFirst ? blocksPerCluster : 0;
    limit -= keepLast ? blocksPerCluster : 0;
    long from = Math.clamp(first, logical, end);
    long to = Math.clamp(limit, from, end);
    if (from < to) {
      blocks.free(handle, blockNr + from - logical, (int) (to - from), metadata);
    }
    if (metadata) {
      forget(handle, blockNr, (int) (from - logical));
      forget(handle, blockNr + to - logical, (int) (end - to));
    }
    return (int) Math.max(0, limit - first);
  }

  private void forget(Handle handle, long blockNr, int count) throws IOException {
    if (count > 0) {
      blocks.forget(handle, blockNr, count);
    }
  }

  private long startOfCluster(long logical) {
    return logical & -(long) blocksPerCluster;
  }

  private void requireAligned(long logical, long blockNr) throws FsException {
    if ((logical ^ blockNr) % blocksPerCluster != 0) {
      throw new FsException(
          Errno.EUCLEAN,
          "block " + blockNr + " is not where logical block " + logical + " is in its cluster");
    }
  }
}
