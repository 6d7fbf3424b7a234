package dev.extant.testkit;

import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;

/// What [dev.extant.vfs.Volume#allocate] means to the contents of a file in memory. Blocks that are
/// allocated but hold no data are the same as holes here.
final class MemoryRanges {
  private MemoryRanges() {}

  static void allocate(
      SparseBytes contents, AllocateMode mode, long offset, long lengthBytes, long maxFileBytes)
      throws FsException {
    if (offset < 0 || lengthBytes <= 0) {
      throw new FsException(Errno.EINVAL, "no range of " + lengthBytes + " bytes at " + offset);
    }
    requireRoom(offset, lengthBytes, maxFileBytes);
    long size = contents.sizeBytes();
    long end = offset + lengthBytes;
    switch (mode) {
      case ALLOCATE -> contents.grow(end);
      case ALLOCATE_KEEP_SIZE -> {}
      case PUNCH_HOLE, ZERO_RANGE_KEEP_SIZE -> contents.zero(offset, end);
      case ZERO_RANGE -> {
        contents.zero(offset, end);
        contents.grow(end);
      }
      case COLLAPSE_RANGE -> {
        requireAligned(offset, lengthBytes);
        if (end >= size) {
          throw new FsException(Errno.EINVAL, "the range reaches the end");
        }
        contents.collapse(offset, lengthBytes);
      }
      case INSERT_RANGE -> {
        requireAligned(offset, lengthBytes);
        if (offset >= size) {
          throw new FsException(Errno.EINVAL, "the range is not before the end");
        }
        requireRoom(size, lengthBytes, maxFileBytes);
        contents.insert(offset, lengthBytes);
      }
    }
  }

  private static void requireRoom(long offset, long lengthBytes, long maxFileBytes)
      throws FsException {
    if (lengthBytes > maxFileBytes - offset) {
      throw new FsException(Errno.EFBIG, "the file would be too large");
    }
  }

  private static void requireAligned(long offset, long lengthBytes) throws FsException {
    if (offset % SparseBytes.BLOCK_BYTES != 0 || lengthBytes % SparseBytes.BLOCK_BYTES != 0) {
      throw new FsException(Errno.EINVAL, "the range is not made of whole blocks");
    }
  }
}
