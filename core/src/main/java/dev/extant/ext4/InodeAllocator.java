package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.journal.Handle;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/// Takes free inode numbers from the groups' bitmaps and gives them back.
///
/// The lowest free number of a group is taken, so that all numbers below the first never used one
/// ([GroupTable#initialisedInodes]) have been written. The block of the inode table that holds the
/// first of the never used ones is filled with zeroes when that is taken: what is on disk there may
/// be garbage.
final class InodeAllocator {
  private final BufferCache buffers;
  private final GroupTable table;
  private final Geometry geometry;
  private final Checksums checksums;
  private final CorruptionHandler corruption;
  private final GroupChoice choice;
  private final boolean groupChecksums;

  /// Guarded by `randomLock`.
  private final RandomGenerator random;

  private final ReentrantLock randomLock = new ReentrantLock();

  /// `random` gives generation numbers and the places of directories; a fixed seed gives the same
  /// image.
  InodeAllocator(
      BufferCache buffers,
      GroupTable table,
      Checksums checksums,
      CorruptionHandler corruption,
      RandomGenerator random) {
    this.buffers = buffers;
    this.table = table;
    this.geometry = table.geometry();
    this.checksums = checksums;
    this.corruption = corruption;
    this.random = random;
    this.choice = new GroupChoice(table);
    this.groupChecksums = checksums.descriptorsEnabled();
  }

  /// From now on no inode of group `newLimit` or one behind it is handed out.
  void limit(int newLimit) {
    choice.limit(newLimit);
  }

  /// Which inodes of the group are in use, a bit for each; null if none was ever.
  MemorySegment used(int number) throws IOException {
    BlockGroup group = table.group(number);
    group.lock.lock();
    try {
      if (table.inodeBitmapUninitialised(number)) {
        return null;
      }
      try (Buffer buffer = group.inodeBitmapDamaged ? null : open(group)) {
        if (buffer == null) {
          throw new FsException(
              Errno.EUCLEAN, "the inode bitmap of group " + number + " is corrupt");
        }
        byte[] copy = new byte[geometry.blockSizeBytes()];
        return MemorySegment.ofArray(copy).copyFrom(buffer.data());
      }
    } finally {
      group.lock.unlock();
    }
  }

  /// A number for a new inode's i_generation.
  int nextGeneration() {
    randomLock.lock();
    try {
      return random.nextInt();
    } finally {
      randomLock.unlock();
    }
  }

  /// Takes an inode number near the parent, or, for a directory, where there is room for what it
  /// will hold. ENOSPC if there is none. Needs 3 credits (bitmap, descriptor, block of the inode
  /// table, which the new inode's [InodeTable#create] changes too).
  long allocate(Handle handle, Inode parent, int mode) throws IOException {
    boolean directory = FileType.ofMode(mode) == FileType.DIRECTORY;
    int first =
        directory ? choice.forDirectory(parent, this::nextGeneration) : choice.forFile(parent);
    for (int i = 0; i < geometry.groupCount(); i++) {
      int group = (int) (((long) first + i) % geometry.groupCount());
      if (choice.hasFreeInodes(group)) {
        long ino = takeFrom(handle, table.group(group), directory);
        if (ino != 0) {
          return ino;
        }
      }
    }
    throw new FsException(Errno.ENOSPC, "no free inodes are left on the file system");
  }

  /// 0 if the group has none after all.
  private long takeFrom(Handle handle, BlockGroup group, boolean directory) throws IOException {
    group.lock.lock();
    try {
      if (group.inodeBitmapDamaged || table.freeInodes(group.number) == 0) {
        return 0;
      }
      boolean uninitialised = table.inodeBitmapUninitialised(group.number);
      try (Buffer buffer = uninitialised ? initial(group) : open(group)) {
        if (buffer == null) {
          return 0;
        }
        int inodes = geometry.inodesPerGroup();
        int index = Bits.nextClear(buffer.data(), firstIndex(group), inodes);
        if (index == inodes) {
          damage(group, "it has no free inode, the descriptor says otherwise");
          return 0;
        }
        zeroTableBlock(handle, group, index);
        if (uninitialised) {
          handle.createAccess(buffer);
        } else {
          handle.writeAccess(buffer);
        }
        MemorySegment descriptor = table.announce(handle, group);
        Bits.set(buffer.data(), index);
        if (groupChecksums) {
          markUsed(group, descriptor, index);
        }
        table.addFreeInodes(group, descriptor, -1);
        if (directory) {
          table.addUsedDirectories(group, descriptor, 1);
        }
        handle.dirty(buffer, group.inodeBitmapSealer);
        table.edited(handle, group);
        return (long) group.number * inodes + index + 1;
      }
    } finally {
      group.lock.unlock();
    }
  }

  /// Numbers below the first ordinary inode are never handed out.
  private int firstIndex(BlockGroup group) {
    long reserved = geometry.firstInode() - 1L - (long) group.number * geometry.inodesPerGroup();
    return (int) Math.clamp(reserved, 0L, geometry.inodesPerGroup());
  }

  private void markUsed(BlockGroup group, MemorySegment descriptor, int index) throws IOException {
    int initialised = Math.max(table.initialisedInodes(group.number), index + 1);
    GroupDescriptor.unusedInodes(descriptor, geometry.inodesPerGroup() - initialised);
    GroupDescriptor.flags(
        descriptor, GroupDescriptor.flags(descriptor) & ~GroupDescriptor.INODE_UNINIT);
  }

  /// If no inode of the block was ever used, its bytes on disk do not count.
  private void zeroTableBlock(Handle handle, BlockGroup group, int index) throws IOException {
    int perBlock = geometry.inodesPerBlock();
    if (index / perBlock * perBlock < table.initialisedInodes(group.number)) {
      return;
    }
    long blockNr = table.inodeTable(group.number) + index / perBlock;
    try (Buffer buffer = buffers.fresh(blockNr)) {
      handle.createAccess(buffer);
      handle.dirty(buffer);
    }
  }

  /// The bitmap of a group in which no inode was ever used: all are free. Null as with [#open].
  private Buffer initial(BlockGroup group) throws IOException {
    int free = table.freeInodes(group.number);
    if (free != geometry.inodesPerGroup()) {
      damage(group, "it was never written, but the descriptor says " + free + " inodes are free");
      return null;
    }
    Buffer buffer = buffers.fresh(table.inodeBitmap(group.number));
    table.layout().initInodeBitmap(buffer.data());
    return buffer;
  }

  /// The inode bitmap, pinned. Null if it is wrong; the group is marked then.
  private Buffer open(BlockGroup group) throws IOException {
    Buffer buffer = buffers.read(table.inodeBitmap(group.number));
    if (!buffer.verified()) {
      String fault = fault(group, buffer.data());
      if (fault != null) {
        buffer.close();
        damage(group, fault);
        return null;
      }
      buffer.verified(true);
    }
    return buffer;
  }

  private String fault(BlockGroup group, MemorySegment bits) throws IOException {
    if (!checksums.inodeBitmapValid(table.descriptor(group.number), bits, geometry)) {
      return "its checksum is wrong";
    }
    int inodes = geometry.inodesPerGroup();
    int free = inodes - Bits.countSet(bits, 0, inodes);
    int expected = table.freeInodes(group.number);
    return free == expected
        ? null
        : "it has " + free + " free inodes, the descriptor says " + expected;
  }

  private void damage(BlockGroup group, String why) {
    group.inodeBitmapDamaged = true;
    corruption.corrupt(
        new FsException(
            Errno.EUCLEAN, "the inode bitmap of group " + group.number + " is corrupt: " + why));
  }

  /// Gives an inode number back, after [Inodes#clearOnDisk]. Needs 2 credits.
  void free(Handle handle, long ino, boolean directory) throws IOException {
    if (ino < geometry.firstInode() || ino > geometry.inodesCount()) {
      throw badFree(ino, "it is reserved or outside the file system");
    }
    BlockGroup group = table.group(geometry.groupOfInode(ino));
    int index = geometry.inodeIndexInGroup(ino);
    group.lock.lock();
    try {
      if (table.inodeBitmapUninitialised(group.number)) {
        throw badFree(ino, "it is free already");
      }
      try (Buffer buffer = group.inodeBitmapDamaged ? null : open(group)) {
        if (buffer == null) {
          throw badFree(ino, "the inode bitmap of group " + group.number + " is corrupt");
        }
        if (!Bits.test(buffer.data(), index)) {
          throw badFree(ino, "it is free already");
        }
        handle.writeAccess(buffer);
        MemorySegment descriptor = table.announce(handle, group);
        Bits.clear(buffer.data(), index);
        table.addFreeInodes(group, descriptor, 1);
        if (directory) {
          table.addUsedDirectories(group, descriptor, -1);
        }
        handle.dirty(buffer, group.inodeBitmapSealer);
        table.edited(handle, group);
      }
    } finally {
      group.lock.unlock();
    }
  }

  private static FsException badFree(long ino, String why) {
    return new FsException(Errno.EUCLEAN, "inode " + ino + " cannot be freed: " + why);
  }
}
