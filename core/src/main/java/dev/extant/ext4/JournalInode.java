package dev.extant.ext4;

import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
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
/// superblock, the place of one inode table, the journal's inode and its block map, none of which
/// an operation ever changes. What was read for it is not kept, since the journal may hold newer
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
    MemorySegment raw =
        readInode(buffers, geometry, new GroupLayout(superblock, geometry), checksums, ino);
    // There is no table that it could be updated in: its block map is only read.
    Inode inode = new Inode(null, ino, raw);
    if (inode.type() != FileType.REGULAR || RawInode.linksCount(raw) == 0) {
      throw corrupt(ino, "is not a regular file");
    }
    Features features = Superblock.features(superblock);
    BlockMap map = new InodeBlockMap(geometry, features, buffers, checksums, new NoBlocks(), null);
    return runsOf(map, inode, geometry);
  }

  /// The inode is judged by its own checksum. Nothing is asked of its group's descriptor but where
  /// the inode table is: the rest changes all the time, and the journal may hold it.
  private static MemorySegment readInode(
      BufferCache buffers, Geometry geometry, GroupLayout layout, Checksums checksums, long ino)
      throws IOException {
    if (ino < 1 || ino > geometry.inodesCount()) {
      throw corrupt(ino, "does not exist");
    }
    int group = geometry.groupOfInode(ino);
    long table;
    try (Buffer buffer = buffers.read(layout.descriptorBlockNr(group))) {
      int size = geometry.descriptorSizeBytes();
      table =
          GroupDescriptor.inodeTable(buffer.data().asSlice(layout.descriptorOffset(group), size));
    }
    long offset = (long) geometry.inodeIndexInGroup(ino) * geometry.inodeSizeBytes();
    long blockNr = table + (offset >>> geometry.blockShift());
    if (table < 0 || !geometry.validDataBlock(table) || !geometry.validDataBlock(blockNr)) {
      throw corrupt(ino, "is in block " + blockNr + ", which does not exist");
    }
    MemorySegment raw = MemorySegment.ofArray(new byte[geometry.inodeSizeBytes()]);
    try (Buffer buffer = buffers.read(blockNr)) {
      long inBlock = offset & geometry.blockSizeBytes() - 1;
      raw.copyFrom(buffer.data().asSlice(inBlock, geometry.inodeSizeBytes()));
    }
    Inodes.requireValid(raw, ino, geometry, checksums);
    return raw;
  }

  private static List<BlockMap.Run> runsOf(BlockMap map, Inode inode, Geometry geometry)
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
