package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;

/// Finds the superblock of a device: the primary one or, where that is torn but has its magic
/// number, a backup.
final class SuperblockReader {
  /// A superblock as read, and where. A backup is older than the primary was in everything but the
  /// layout.
  record Found(MemorySegment bytes, long offset, boolean backup) {}

  private final RequestQueue queue;

  SuperblockReader(RequestQueue queue) {
    this.queue = queue;
  }

  /// EUCLEAN if neither the primary nor a backup is one; DeviceException if the device cannot be
  /// read.
  Found read() throws FsException, DeviceException {
    BlockDevice device = queue.device();
    if (device.sizeBytes() < Superblock.OFFSET + Superblock.SIZE) {
      throw new FsException(
          Errno.EUCLEAN,
          device.name() + " is too small for a file system: " + device.sizeBytes() + " bytes");
    }
    MemorySegment primary = readAt(Superblock.OFFSET);
    if (plausible(primary)) {
      return new Found(primary, Superblock.OFFSET, false);
    }
    // Without the magic number somebody may have put something else here: then a backup proves
    // nothing.
    for (int blockSize = 1024;
        Superblock.hasMagic(primary) && blockSize <= 65_536;
        blockSize *= 2) {
      long offset = backupOffset(blockSize);
      if (offset + Superblock.SIZE <= device.sizeBytes()) {
        MemorySegment backup = readAt(offset);
        if (plausible(backup) && Superblock.logBlockSize(backup) == log(blockSize)) {
          return new Found(backup, offset, true);
        }
      }
    }
    throw new FsException(
        Errno.EUCLEAN,
        Superblock.hasMagic(primary)
            ? device.name() + ": the checksum of the superblock is wrong and there is no backup"
            : device.name() + " holds no ext2, ext3 or ext4 file system");
  }

  /// The superblock copy of group 1 with the usual group size of eight blocks' worth of bits.
  private static long backupOffset(int blockSize) {
    long firstDataBlock = blockSize == 1024 ? 1 : 0;
    return (8L * blockSize + firstDataBlock) * blockSize;
  }

  private static long log(int blockSize) {
    return Integer.numberOfTrailingZeros(blockSize / 1024);
  }

  private static boolean plausible(MemorySegment bytes) {
    return Superblock.hasMagic(bytes) && Superblock.checksumValid(bytes);
  }

  private MemorySegment readAt(long offset) throws DeviceException {
    MemorySegment bytes = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    queue.read(offset, bytes);
    return bytes;
  }
}
