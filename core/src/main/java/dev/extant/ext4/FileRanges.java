package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;

/// Allocates, frees, zeroes and moves ranges of regular files.
///
/// Definitions: the *whole blocks* of a range are those of which the range holds every byte that
/// the file has; the others at its ends are its *edges*.
///
/// Invariants:
/// 1. Before a block leaves its place in the file its page leaves memory, under the inode's lock,
///    and a dirty page is written before that: so no transaction shows a block whose data never
///    came (I2), and an operation that finds the disk full loses nothing.
/// 2. Long work is done in several handles. After each the image is consistent and the file holds
///    what it held, apart from the range itself, and, while a range is being taken out or put in,
///    from where what is behind it begins.
/// 3. A block becomes written only when data is put into it: see [FileWriter].
final class FileRanges {
  private final FileData files;
  private final Journal journal;
  private final BlockMap map;
  private final ExtentTree tree;
  private final FileWriter writer;
  private final JournaledData journaled;
  private final int blockSizeBytes;
  private final int clusterSizeBytes;

  FileRanges(FileData files, Journal journal, BlockMap map, ExtentTree tree, Geometry geometry) {
    this.files = files;
    this.journal = journal;
    this.map = map;
    this.tree = tree;
    this.writer = files.writer();
    this.journaled = files.journaled();
    this.blockSizeBytes = geometry.blockSizeBytes();
    this.clusterSizeBytes = blockSizeBytes * geometry.blocksPerCluster();
  }

  /// Bytes `from` to `to` of a file, and its blocks `first` to `end` with the edges, `firstWhole`
  /// to `endWhole` without.
  private record Range(
      Inode inode, long from, long to, long first, long end, long firstWhole, long endWhole) {}

  private Range range(Inode inode, long offset, long lengthBytes) {
    long to = offset + lengthBytes;
    long first = offset / blockSizeBytes;
    long end = (to + blockSizeBytes - 1) / blockSizeBytes;
    boolean pastEnd = to >= RawInode.size(inode.raw);
    long firstWhole = (offset + blockSizeBytes - 1) / blockSizeBytes;
    long endWhole = pastEnd ? end : to / blockSizeBytes;
    return new Range(inode, offset, to, first, end, firstWhole, endWhole);
  }

  /// See [dev.extant.vfs.Volume#allocate].
  void allocate(Inode inode, AllocateMode mode, long offset, long lengthBytes) throws IOException {
    if (offset < 0 || lengthBytes <= 0) {
      throw new FsException(
          Errno.EINVAL,
          "inode " + inode.ino() + ": no range of " + lengthBytes + " bytes at " + offset);
    }
    if (lengthBytes > map.maxSizeBytes(inode) - offset) {
      throw FileData.tooLarge(inode, offset + lengthBytes);
    }
    inode.lock.writeLock().lock();
    try {
      files.leaveInode(inode);
      if (mode != AllocateMode.PUNCH_HOLE) {
        checkExtents(inode);
      }
      Range range = range(inode, offset, lengthBytes);
      switch (mode) {
        case ALLOCATE -> fill(range, true);
        case ALLOCATE_KEEP_SIZE -> fill(range, false);
        case PUNCH_HOLE -> punch(range);
        case ZERO_RANGE -> zero(range, true);
        case ZERO_RANGE_KEEP_SIZE -> zero(range, false);
        case COLLAPSE_RANGE -> collapse(range);
        case INSERT_RANGE -> insert(range);
      }
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  private static void checkExtents(Inode inode) throws FsException {
    if (!inode.hasFlag(RawInode.EXT4_EXTENTS_FL)) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          "inode "
              + inode.ino()
              + " has no extents, so its ranges can be neither preallocated nor moved");
    }
  }

  private void fill(Range range, boolean grow) throws IOException {
    fillHoles(range);
    finish(range, grow);
  }

  private void finish(Range range, boolean grow) throws IOException {
    if (grow && range.to > RawInode.size(range.inode.raw)) {
      files.grow(range.inode, range.to);
    } else {
      files.touch(range.inode);
    }
  }

  private void fillHoles(Range range) throws IOException {
    Inode inode = range.inode;
    long at = range.first;
    while (at < range.end) {
      BlockMap.Run run = map.lookup(inode, at, count(range.end - at));
      long logical = at;
      at +=
          !run.hole()
              ? run.count()
              : writer.retryWhenFull(
                  map.allocateCredits(inode, run.count()),
                  handle -> tree.allocateUnwritten(handle, inode, logical, run.count()).count());
    }
  }

  private static int count(long blocks) {
    return (int) Math.min(blocks, 1 << 30);
  }

  private void punch(Range range) throws IOException {
    zeroEdges(range);
    files.touch(range.inode);
    if (range.firstWhole < range.endWhole) {
      files.settle(range.inode, range.firstWhole, range.endWhole);
      free(range.inode, range.firstWhole, range.endWhole);
    }
  }

  private void zeroEdges(Range range) throws IOException {
    if (range.firstWhole > range.endWhole) {
      zeroBytes(range.inode, range.from, range.to);
    } else {
      zeroBytes(range.inode, range.from, range.firstWhole * blockSizeBytes);
      zeroBytes(range.inode, range.endWhole * blockSizeBytes, range.to);
    }
  }

  /// Of one block.
  private void zeroBytes(Inode inode, long from, long to) throws IOException {
    long end = Math.min(to, RawInode.size(inode.raw));
    if (from >= end) {
      return;
    }
    if (journaled.covers(inode)) {
      journaled.zero(inode, from, end);
    } else {
      writer.zero(inode, files.state(inode), from, end);
    }
  }

  private void free(Inode inode, long first, long end) throws IOException {
    boolean metadata = journaled.covers(inode);
    boolean done = false;
    while (!done) {
      int credits = map.allocateCredits(inode, 1) + FileData.TRUNCATE_CREDITS;
      done =
          writer.retryWhenFull(
                  Math.min(credits, journal.maxCredits()),
                  handle -> map.punch(handle, inode, first, end, metadata) ? 1 : 0)
              == 1;
    }
  }

  /// Journaled blocks are overwritten: what a transaction may still bring home must not come over
  /// what is written later.
  private void zero(Range range, boolean grow) throws IOException {
    fillHoles(range);
    if (journaled.covers(range.inode)) {
      zeroBytes(range.inode, range.from, range.to);
    } else {
      zeroEdges(range);
      if (range.firstWhole < range.endWhole) {
        files.settle(range.inode, range.firstWhole, range.endWhole);
        makeUnwritten(range);
      }
    }
    finish(range, grow);
  }

  private void makeUnwritten(Range range) throws IOException {
    Inode inode = range.inode;
    long at = range.firstWhole;
    while (at < range.endWhole) {
      long logical = at;
      at =
          writer.retryWhenFull(
              map.allocateCredits(inode, 1),
              handle ->
                  tree.ranges()
                      .makeUnwritten(handle, inode, logical, count(range.endWhole - logical)));
    }
  }

  private void checkAligned(Range range) throws FsException {
    if (range.from % clusterSizeBytes != 0 || range.to % clusterSizeBytes != 0) {
      throw new FsException(
          Errno.EINVAL,
          "inode "
              + range.inode.ino()
              + ": offset and length are no multiples of "
              + clusterSizeBytes
              + " bytes");
    }
  }

  private void collapse(Range range) throws IOException {
    Inode inode = range.inode;
    long size = RawInode.size(inode.raw);
    checkAligned(range);
    if (range.to >= size) {
      throw new FsException(
          Errno.EINVAL,
          "inode " + inode.ino() + ": a range that reaches its end is cut off, not taken out");
    }
    files.settle(inode, range.first, Long.MAX_VALUE);
    free(inode, range.first, range.end);
    long at = range.end;
    while (at != ExtentRanges.DONE) {
      try (Handle handle = journal.start(ExtentRanges.SHIFT_CREDITS)) {
        at = tree.ranges().shiftDown(handle, inode, at, range.end - range.first);
      }
    }
    files.resize(inode, size - (range.to - range.from));
  }

  /// The file grows first, so that no block ever lies behind its end, and nothing can fail for lack
  /// of space once it has.
  private void insert(Range range) throws IOException {
    Inode inode = range.inode;
    long size = RawInode.size(inode.raw);
    long blocks = range.end - range.first;
    checkAligned(range);
    if (range.from >= size) {
      throw new FsException(
          Errno.EINVAL,
          "inode " + inode.ino() + ": a range can only be put in before the file's end");
    }
    long newSize = size + (range.to - range.from);
    if (newSize > map.maxSizeBytes(inode)
        || tree.ranges().end(inode) + blocks > ExtentNodes.MAX_LOGICAL_BLOCKS - 1) {
      throw FileData.tooLarge(inode, newSize);
    }
    writer.retryWhenFull(
        map.allocateCredits(inode, 1),
        handle -> {
          tree.ranges().split(handle, inode, range.first);
          return 0;
        });
    files.grow(inode, newSize);
    files.settle(inode, range.first, Long.MAX_VALUE);
    long to = ExtentNodes.MAX_LOGICAL_BLOCKS;
    while (to != ExtentRanges.DONE) {
      try (Handle handle = journal.start(ExtentRanges.SHIFT_CREDITS)) {
        to = tree.ranges().shiftUp(handle, inode, range.first, to, blocks);
      }
    }
  }
}
