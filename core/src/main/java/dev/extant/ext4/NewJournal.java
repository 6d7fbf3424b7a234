package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.List;

/// Gives a file system without a journal one, in the inode that is reserved for it.
///
/// The superblock names it only when it is complete and durable; a crash before that leaves blocks
/// that e2fsck frees, as after any crash of a file system without a journal.
final class NewJournal {
  private static final long MIB = 1L << 20;
  private static final int MIN_BLOCKS = 1024;
  private static final int MAX_BLOCKS = 10_240_000;

  /// From this many blocks (in units of 1,024) on, a larger journal: mke2fs's table.
  private static final long[][] DEFAULTS = {
    {0, 1024},
    {32, 4096},
    {256, 8192},
    {512, 16_384},
    {4096, 32_768},
    {8192, 65_536},
    {16_384, 131_072},
    {32_768, 262_144}
  };

  private final Mount mount;
  private final int blockSizeBytes;

  private NewJournal(Mount mount) {
    this.mount = mount;
    this.blockSizeBytes = mount.geometry.blockSizeBytes();
  }

  /// `mebibytes` 0: as large as mke2fs makes it for that size of file system.
  static void add(BlockDevice device, int mebibytes, MountOptions options) throws IOException {
    Mount mount = new Mounter(device, options).mount();
    try {
      mount.health.checkWritable();
      if (mount.features.has(Feature.HAS_JOURNAL)) {
        throw new FsException(Errno.EEXIST, device.name() + " has a journal already");
      }
      new NewJournal(mount).make(device.name(), mebibytes);
    } finally {
      mount.unmount();
    }
  }

  private void make(String name, int mebibytes) throws IOException {
    long length = length(name, mebibytes);
    Inode inode = new Inode(mount.inodes, Superblock.JOURNAL_INO, newInode());
    allocate(inode, length);
    writeLog(inode, length);
    mount.journal.checkpoint();
    try (Handle handle = mount.start(1)) {
      mount.superblock.edit(
          handle,
          sb -> {
            Superblock.features(sb, Superblock.features(sb).with(Feature.HAS_JOURNAL));
            Superblock.journalInode(sb, Superblock.JOURNAL_INO);
            Superblock.backUpJournal(sb, inode.raw);
          });
    }
  }

  private long length(String name, int mebibytes) throws IOException {
    long length = mebibytes * MIB / blockSizeBytes;
    if (mebibytes == 0) {
      long kibi = mount.geometry.blocksCount() >>> 10;
      for (long[] row : DEFAULTS) {
        length = kibi >= row[0] ? row[1] : length;
      }
    }
    if (length < MIN_BLOCKS || length > MAX_BLOCKS) {
      throw new FsException(
          Errno.EINVAL, name + ": a journal has 1,024 to 10,240,000 blocks, not " + length);
    }
    if (length > mount.statistics().freeBlocks() - length / 64) {
      throw new FsException(
          Errno.ENOSPC, name + ": there is no room for a journal of " + length + " blocks");
    }
    return length;
  }

  private MemorySegment newInode() {
    MemorySegment raw = MemorySegment.ofArray(new byte[mount.geometry.inodeSizeBytes()]);
    RawInode.mode(raw, FileType.REGULAR.modeBits() | 0600);
    RawInode.linksCount(raw, 1);
    if (raw.byteSize() > RawInode.GOOD_OLD_INODE_SIZE) {
      RawInode.extraIsize(raw, Superblock.newExtraIsize(mount.superblock.bytes()));
    }
    Instant now = mount.now();
    RawInode.modified(raw, now);
    RawInode.changed(raw, now);
    RawInode.accessed(raw, now);
    if (mount.features.has(Feature.EXTENT)) {
      ExtentTree.initialise(raw);
    }
    return raw;
  }

  private void allocate(Inode inode, long length) throws IOException {
    for (long logical = 0; logical < length; ) {
      int count = (int) Math.min(length - logical, mount.geometry.blocksPerGroup());
      try (Handle handle = mount.start(mount.map.allocateCredits(inode, count))) {
        logical += mount.map.allocate(handle, inode, logical, count).run().count();
        RawInode.size(inode.raw, logical * blockSizeBytes);
        mount.inodes.update(handle, inode, true);
      }
    }
  }

  /// A log is read up to where its blocks stop making sense, so what the blocks held before must
  /// not look like one.
  private void writeLog(Inode inode, long length) throws IOException {
    for (long logical = 0; logical < length; ) {
      BlockMap.Run run = mount.map.lookup(inode, logical, (int) (length - logical));
      mount.queue.writeZeroes(run.blockNr() * blockSizeBytes, (long) run.count() * blockSizeBytes);
      logical += run.count();
    }
    MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
    byte[] uuid = mount.superblock.bytes().asSlice(0x68, 16).toArray(ValueLayout.JAVA_BYTE);
    JournalSuperblock.initialise(block, blockSizeBytes, length, uuid, 0);
    long first = mount.map.lookup(inode, 0, 1).blockNr();
    mount.queue.write(first * blockSizeBytes, List.of(block), false);
    mount.flush();
  }
}
