package dev.extant.mkfs;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.TreeMap;

/// Makes an ext4 file system on a device, in time proportional to what is written: groups that hold
/// nothing stay uninitialised, and with them their bitmaps.
///
/// The old superblock is cleared first and the new one written last, after a flush: a device on
/// which this was cut off holds no file system.
public final class Mkfs {
  /// What lies in front of the first block that this program writes: boot block and superblock.
  private static final int FRONT_BYTES = Superblock.OFFSET + Superblock.SIZE;

  private final BlockDevice device;
  private final Plan plan;
  private final Geometry geometry;
  private final MemorySegment superblock;
  private final BlockWriter writer;
  private final UsedBlocks used;
  private final MemorySegment descriptors;
  private final Placement placement;
  private final Checksums checksums;
  private long freeBlocks;
  private long freeInodes;

  private Mkfs(BlockDevice device, Plan plan) {
    this.device = device;
    this.plan = plan;
    this.geometry = plan.geometry();
    this.superblock = plan.superblock();
    this.writer = new BlockWriter(device, geometry.blockSizeBytes(), plan.options().zeroed());
    this.used =
        new UsedBlocks(
            geometry.firstDataBlock(), geometry.blocksCount(), geometry.blocksPerCluster());
    int tableBytes = plan.layout().descriptorBlocks() * geometry.blockSizeBytes();
    this.descriptors = MemorySegment.ofArray(new byte[tableBytes]);
    this.placement = new Placement(device.name(), plan, used, descriptors);
    this.checksums = new Checksums(superblock);
  }

  /// Makes the file system and makes it durable. FsException with one sentence if that cannot be
  /// done with these options; then nothing was written.
  public static void make(BlockDevice device, MkfsOptions options) throws IOException {
    Plan plan = Planner.plan(options, device.name(), device.sizeBytes());
    new Mkfs(device, plan).run();
  }

  static FsException failure(Errno errno, String device, String reason) {
    return new FsException(errno, device + ": cannot make a file system: " + reason);
  }

  private void run() throws IOException {
    placement.placeAll();
    used.fillClusters();
    SystemFiles files = new SystemFiles(plan, used, writer);
    long usedByGroups = used.countUsed(geometry.firstDataBlock(), geometry.blocksCount());
    long overhead = geometry.firstDataBlock() + usedByGroups + plan.journalBlocks();
    int perCluster = geometry.blocksPerCluster();
    Superblock.overheadClusters(superblock, (overhead + perCluster - 1) / perCluster);
    if (overhead + files.blocksNeeded() - plan.journalBlocks() > geometry.blocksCount()) {
      throw failure(
          Errno.ENOSPC,
          device.name(),
          geometry.blocksCount() + " blocks are too few, for its own files alone");
    }
    device.writeZeroes(0, FRONT_BYTES);
    device.flush();
    TreeMap<Integer, MemorySegment> inodes = files.make();
    for (int group = 0; group < geometry.groupCount(); group++) {
      writeGroup(group, inodes);
    }
    Superblock.freeBlocks(superblock, freeBlocks);
    Superblock.freeInodes(superblock, freeInodes);
    if (plan.features().has(Feature.META_BG)) {
      writeMetaGroups();
    }
    for (int group = geometry.groupCount() - 1; group >= 0; group--) {
      if (plan.layout().hasSuperblock(group)) {
        writeCopy(group);
      }
    }
  }

  /// Writes the group's inodes and, unless nothing is in it, its bitmaps; completes its descriptor.
  private void writeGroup(int group, TreeMap<Integer, MemorySegment> inodes) throws IOException {
    MemorySegment descriptor = placement.descriptor(group);
    int inodesPerGroup = geometry.inodesPerGroup();
    long firstIno = (long) group * inodesPerGroup + 1;
    int usedInodes = Math.clamp(inodes.lastKey() - firstIno + 1, 0, inodesPerGroup);
    int free = inodesPerGroup - usedInodes;
    boolean lazy = checksums.descriptorsEnabled();
    int flags = lazy ? GroupDescriptor.INODE_ZEROED : 0;
    GroupDescriptor.freeInodes(descriptor, free);
    freeInodes += free;
    if (lazy) {
      GroupDescriptor.unusedInodes(descriptor, free);
    }
    writer.clear(GroupDescriptor.inodeTable(descriptor), geometry.inodeTableBlocksPerGroup());
    if (usedInodes > 0) {
      writeInodes(descriptor, firstIno, usedInodes, inodes);
    }
    if (lazy && usedInodes == 0) {
      flags |= GroupDescriptor.INODE_UNINIT;
    } else {
      writeInodeBitmap(descriptor, usedInodes);
    }
    if (writeBlockBitmap(descriptor, group, lazy)) {
      flags |= GroupDescriptor.BLOCK_UNINIT;
    }
    GroupDescriptor.flags(descriptor, flags);
    checksums.sealDescriptor(descriptor, group);
  }

  private void writeInodes(
      MemorySegment descriptor, long firstIno, int count, TreeMap<Integer, MemorySegment> inodes)
      throws IOException {
    int size = geometry.inodeSizeBytes();
    int perBlock = geometry.inodesPerBlock();
    int blocks = (count + perBlock - 1) / perBlock;
    MemorySegment table = newBlocks(blocks);
    int directories = 0;
    for (int i = 0; i < count; i++) {
      MemorySegment inode = inodes.get((int) firstIno + i);
      MemorySegment.copy(inode, 0, table, (long) i * size, size);
      directories += (RawInode.mode(inode) & 0xF000) == 0x4000 ? 1 : 0;
    }
    GroupDescriptor.usedDirectories(descriptor, directories);
    writer.write(GroupDescriptor.inodeTable(descriptor), table);
  }

  private void writeInodeBitmap(MemorySegment descriptor, int usedInodes) throws IOException {
    MemorySegment bitmap = newBlocks(1);
    plan.layout().initInodeBitmap(bitmap);
    Bits.setRange(bitmap, 0, usedInodes);
    checksums.sealInodeBitmap(descriptor, bitmap, geometry);
    writer.write(GroupDescriptor.inodeBitmap(descriptor), bitmap);
  }

  /// Sets the free blocks. True if the bitmap was left out because a reader can work it out:
  /// nothing is in the group but its own metadata. The last group's always is written, as mke2fs
  /// does.
  private boolean writeBlockBitmap(MemorySegment descriptor, int group, boolean lazy)
      throws IOException {
    long first = geometry.firstBlockOfGroup(group);
    int blocks = geometry.blocksInGroup(group);
    int usedBlocks = (int) used.countUsed(first, first + blocks);
    GroupDescriptor.freeClusters(descriptor, geometry.clusters(blocks - usedBlocks));
    freeBlocks += blocks - usedBlocks;
    MemorySegment bitmap = newBlocks(1);
    plan.layout().initBlockBitmap(descriptor, group, bitmap);
    if (lazy
        && group != geometry.groupCount() - 1
        && geometry.clusters(usedBlocks) == Bits.countSet(bitmap, 0, geometry.clusters(blocks))) {
      return true;
    }
    used.forEachRun(
        first,
        first + blocks,
        run ->
            Bits.setRange(
                bitmap,
                geometry.clusters((int) (run.blockNr() - first)),
                geometry.clusters((int) (run.end() - first))));
    checksums.sealBlockBitmap(descriptor, bitmap, geometry);
    writer.write(GroupDescriptor.blockBitmap(descriptor), bitmap);
    return false;
  }

  /// Writes superblock and descriptors to the front of a group. A backup is marked as not clean;
  /// the primary superblock, which makes all valid, comes behind a flush.
  private void writeCopy(int group) throws IOException {
    long front = geometry.firstBlockOfGroup(group);
    MemorySegment copy = MemorySegment.ofArray(new byte[Superblock.SIZE]).copyFrom(superblock);
    if (!plan.features().has(Feature.META_BG)) {
      writer.write(group == 0 ? plan.layout().descriptorBlockNrAt(0) : front + 1, descriptors);
    }
    if (group > 0) {
      Superblock.groupNr(copy, group);
      Superblock.state(copy, 0);
      Superblock.seal(copy);
      device.write(front * geometry.blockSizeBytes(), List.of(copy), false);
      return;
    }
    device.flush();
    Superblock.seal(copy);
    device.write(Superblock.OFFSET, List.of(copy), false);
    device.flush();
  }

  /// Writes each block of descriptors to the groups that it describes.
  private void writeMetaGroups() throws IOException {
    int size = geometry.blockSizeBytes();
    for (int index = 0; index < plan.layout().descriptorBlocks(); index++) {
      MemorySegment block = descriptors.asSlice((long) index * size, size);
      for (long backup : plan.layout().descriptorBackups(index)) {
        writer.write(backup, block);
      }
      writer.write(plan.layout().descriptorBlockNrAt(index), block);
    }
  }

  private MemorySegment newBlocks(int count) {
    return MemorySegment.ofArray(new byte[count * geometry.blockSizeBytes()]);
  }
}
