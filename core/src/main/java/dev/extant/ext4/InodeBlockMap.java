package dev.extant.ext4;

import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;

/// Asks the extent tree or the block pointers, as each inode's EXT4_EXTENTS_FL says: a file system
/// may hold both kinds.
final class InodeBlockMap implements BlockMap {
  private static final int SECTOR_BYTES = 512;

  private final ExtentTree extents;
  private final BlockPointers pointers;
  private final boolean newHaveExtents;
  private final long maxSizeBytes;

  InodeBlockMap(
      Geometry geometry,
      Features features,
      BufferCache buffers,
      Checksums checksums,
      BlockSource blocks,
      InodeTable inodes) {
    boolean hugeFile = features.has(Feature.HUGE_FILE);
    this.extents = new ExtentTree(geometry, buffers, checksums, blocks, inodes);
    this.pointers = new BlockPointers(geometry, hugeFile, buffers, blocks, inodes);
    this.newHaveExtents = features.has(Feature.EXTENT);
    // i_blocks counts sectors in 32 bits then, and only full blocks are counted.
    int blockSize = geometry.blockSizeBytes();
    this.maxSizeBytes =
        hugeFile ? Long.MAX_VALUE : 0xffff_ffffL / (blockSize / SECTOR_BYTES) * blockSize;
  }

  ExtentTree extents() {
    return extents;
  }

  private BlockMap of(Inode inode) throws FsException {
    if (inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL)) {
      throw new FsException(
          Errno.EUCLEAN, "inode " + inode.ino() + " holds its data itself and has no blocks");
    }
    return kind(inode);
  }

  MapRelocation relocation(Inode inode) {
    return inode.hasFlag(RawInode.EXT4_EXTENTS_FL) ? extents.relocation() : pointers.relocation();
  }

  /// What the inode's blocks are or, while its data is in itself, will be.
  private BlockMap kind(Inode inode) {
    boolean asNew = newHaveExtents && inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL);
    return asNew || inode.hasFlag(RawInode.EXT4_EXTENTS_FL) ? extents : pointers;
  }

  @Override
  public long maxSizeBytes(Inode inode) {
    return Math.min(maxSizeBytes, kind(inode).maxSizeBytes(inode));
  }

  @Override
  public Run lookup(Inode inode, long logical, int maxCount) throws IOException {
    return of(inode).lookup(inode, logical, maxCount);
  }

  @Override
  public Run lookupForWrite(Inode inode, long logical, int maxCount) throws IOException {
    return of(inode).lookupForWrite(inode, logical, maxCount);
  }

  @Override
  public int allocateCredits(Inode inode, int count) {
    return kind(inode).allocateCredits(inode, count);
  }

  @Override
  public Allocation allocate(Handle handle, Inode inode, long logical, int maxCount)
      throws IOException {
    return of(inode).allocate(handle, inode, logical, maxCount);
  }

  @Override
  public boolean punch(
      Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata)
      throws IOException {
    return of(inode).punch(handle, inode, fromLogical, toLogical, metadata);
  }
}
