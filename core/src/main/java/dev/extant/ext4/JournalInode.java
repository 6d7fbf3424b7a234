package dev.extant.ext4;

import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.JournalLocation;
import dev.extant.journal.JournalPlace;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Finds the journal's blocks before anything else of the file system may be believed: through the
/// superblock, one group descriptor, the journal's inode and its block map, none of which an
/// operation ever changes. What was read for it is not kept, since the journal may hold newer
/// copies of the same blocks.
final class JournalInode {
  private static final long CACHE_BYTES = 1 << 20;

  private JournalInode() {}

  static JournalPlace locate(RequestQueue queue, MemorySegment superblock, long ino)
      throws IOException {
    Geometry geometry = Superblock.geometry(superblock, queue.device().sizeBytes());
    try (BufferCache buffers = new BufferCache(queue, geometry.blockSizeBytes(), CACHE_BYTES)) {
      List<BlockMap.Run> runs = readRuns(buffers, geometry, superblock, ino);
      return new JournalPlace(
          queue, new Runs(runs), geometry.blockSizeBytes(), geometry.blocksCount());
    }
  }

  private static List<BlockMap.Run> readRuns(
      BufferCache buffers, Geometry geometry, MemorySegment superblock, long ino)
      throws IOException {
    Checksums checksums = new Checksums(superblock);
    GroupLayout layout = new GroupLayout(superblock, geometry);
    // A damaged descriptor shows when the inode is read; there is nobody to tell before.
    try (GroupTable groups = new GroupTable(buffers, geometry, layout, checksums, damage -> {})) {
      Inodes inodes = new Inodes(buffers, groups, checksums, java.time.InstantSource.system(), 1);
      ExtentTree map = new ExtentTree(geometry, buffers, checksums, new NoBlocks(), inodes);
      try (Inode inode = inodes.get(ino)) {
        if (inode.type() != FileType.REGULAR) {
          throw corrupt(ino, "is not a regular file");
        }
        return runsOf(map, inode, geometry);
      }
    }
  }

  private static List<BlockMap.Run> runsOf(ExtentTree map, Inode inode, Geometry geometry)
      throws IOException {
    long length = RawInode.size(inode.raw) >>> geometry.blockShift();
    if (length < 1 || length > geometry.blocksCount()) {
      throw corrupt(inode.ino(), "is " + RawInode.size(inode.raw) + " bytes long");
    }
    List<BlockMap.Run> runs = new ArrayList<>();
    for (long logical = 0; logical < length; ) {
      BlockMap.Run run =
          map.lookup(inode, logical, (int) Math.min(length - logical, Integer.MAX_VALUE));
      if (run.hole()) {
        throw corrupt(inode.ino(), "has a hole at its block " + logical);
      }
      runs.add(run);
      logical += run.count();
    }
    return runs;
  }

  private static FsException corrupt(long ino, String what) {
    return new FsException(Errno.EUCLEAN, "the journal's inode " + ino + " " + what);
  }

  private record Runs(List<BlockMap.Run> runs) implements JournalLocation {
    @Override
    public long lengthBlocks() {
      BlockMap.Run last = runs.getLast();
      return last.logical() + last.count();
    }

    @Override
    public long physicalBlock(long journalBlock) {
      int low = 0;
      int high = runs.size() - 1;
      while (low < high) {
        int middle = (low + high + 1) >>> 1;
        if (runs.get(middle).logical() <= journalBlock) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      BlockMap.Run run = runs.get(low);
      return run.blockNr() + journalBlock - run.logical();
    }
  }

  /// The block map is only read here.
  private static final class NoBlocks implements BlockSource {
    @Override
    public Extent allocate(dev.extant.journal.Handle handle, long goal, int wanted) {
      throw new UnsupportedOperationException("the journal's block map is only read");
    }

    @Override
    public void free(dev.extant.journal.Handle handle, long blockNr, int count, boolean metadata) {
      throw new UnsupportedOperationException("the journal's block map is only read");
    }

    @Override
    public long goalOf(Inode inode) {
      throw new UnsupportedOperationException("the journal's block map is only read");
    }
  }
}
