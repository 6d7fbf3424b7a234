package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.TreeSet;

/// The last step of shrinking: nothing but the file system's own blocks lies behind the new end any
/// more, and one transaction gives up the groups there.
///
/// What those groups had in others (flex_bg) becomes free, and so do blocks of descriptors that
/// nobody needs.
final class GroupCut {
  private final OfflineEdit edit;
  private final SizePlan plan;
  private final Geometry before;
  private final Geometry after;
  private final int reservedBefore;
  private final GroupTable table;
  private final SystemZone zoneBefore;
  private final SystemZone zoneAfter;

  GroupCut(OfflineEdit edit, SizePlan plan) throws FsException {
    this.edit = edit;
    this.plan = plan;
    this.before = plan.before();
    this.after = plan.after();
    this.reservedBefore = Superblock.reservedGdtBlocks(edit.superblockBytes());
    Checksums checksums = new Checksums(plan.superblock());
    // Of what is damaged all is asked for, and that throws.
    this.table =
        new GroupTable(edit.buffers, before, plan.layoutBefore(), checksums, damage -> {}, false);
    this.zoneBefore = new SystemZone(table);
    this.zoneAfter = new SystemZone(table, after, plan.layoutAfter());
  }

  void run() throws IOException {
    try {
      requireEmpty();
      TreeSet<Integer> changed = changedGroups();
      boolean resizes = Superblock.features(edit.superblockBytes()).has(Feature.RESIZE_INODE);
      ResizeInode resizeInode = resizes ? new ResizeInode(plan, edit.buffers) : null;
      int credits = 2 + 2 * changed.size() + (resizes ? resizeInode.credits() : 0);
      edit.change(
          credits,
          handle -> {
            for (int group : changed) {
              change(handle, group);
            }
            clearDescriptors(handle);
            if (resizes) {
              resizeInode.update(handle, reservedBefore);
            }
            Counts counts = counts();
            edit.superblock.edit(handle, sb -> apply(sb, counts));
          });
    } finally {
      table.close();
    }
    edit.writeBackups();
    edit.writeDescriptorBackups();
  }

  /// EUCLEAN if somebody has still something behind the new end.
  private void requireEmpty() throws IOException {
    for (int group = 0; group < after.groupCount(); group++) {
      if (SizePlan.endOfMetadata(table, group) > after.blocksCount()) {
        throw inUse("what belongs to group " + group);
      }
    }
    for (int group = after.groupCount(); group < before.groupCount(); group++) {
      MemorySegment own = system(zoneBefore, group, before);
      int clusters = before.clustersInGroup(group);
      int used = clusters - table.freeClusters(group);
      if (used != Bits.countSet(own, 0, clusters)
          || table.freeInodes(group) != before.inodesPerGroup()) {
        throw inUse("something in group " + group);
      }
    }
  }

  private FsException inUse(String what) {
    return new FsException(
        Errno.EUCLEAN,
        edit.device.name() + ": " + what + " still lies behind the new end; run e2fsck first");
  }

  private static MemorySegment system(SystemZone zone, int group, Geometry geometry)
      throws IOException {
    MemorySegment bits = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    zone.mark(bits, group);
    return bits;
  }

  /// The kept groups in which blocks become free, and the last one.
  private TreeSet<Integer> changedGroups() throws IOException {
    TreeSet<Integer> changed = new TreeSet<>();
    int kept = after.groupCount();
    for (int group = kept; group < before.groupCount(); group++) {
      changed.add(before.groupOfBlock(table.blockBitmap(group)));
      changed.add(before.groupOfBlock(table.inodeBitmap(group)));
      long inodes = table.inodeTable(group);
      changed.add(before.groupOfBlock(inodes));
      changed.add(before.groupOfBlock(inodes + before.inodeTableBlocksPerGroup() - 1));
    }
    for (int group = 0; group < kept; group++) {
      if (plan.layoutBefore().frontBlocks(group) != plan.layoutAfter().frontBlocks(group)) {
        changed.add(group);
      }
    }
    changed.add(kept - 1);
    changed.tailSet(kept).clear();
    return changed;
  }

  /// Frees what the file system has no more in the group; in the last one marks what is behind the
  /// new end.
  private void change(Handle handle, int number) throws IOException {
    MemorySegment systemBefore = system(zoneBefore, number, before);
    MemorySegment systemAfter = system(zoneAfter, number, after);
    BlockGroup group = table.group(number);
    boolean uninitialised = table.blockBitmapUninitialised(number);
    long bitmapNr = table.blockBitmap(number);
    try (Buffer bitmap =
        uninitialised ? edit.buffers.fresh(bitmapNr) : edit.buffers.read(bitmapNr)) {
      MemorySegment bits = bitmap.data();
      handle.writeAccess(bitmap);
      MemorySegment descriptor = table.announce(handle, group);
      if (uninitialised) {
        bits.copyFrom(systemBefore);
        int flags = GroupDescriptor.flags(descriptor) & ~GroupDescriptor.BLOCK_UNINIT;
        GroupDescriptor.flags(descriptor, flags);
      }
      int clusters = after.clustersInGroup(number);
      for (int i = 0; i < before.clustersInGroup(number); i++) {
        if (Bits.test(systemBefore, i) && !(i < clusters && Bits.test(systemAfter, i))) {
          Bits.clear(bits, i);
        }
      }
      int behind = before.clustersInGroup(number);
      if (Bits.countSet(bits, clusters, behind) > 0) {
        throw inUse("something in group " + number);
      }
      Bits.setRange(bits, clusters, 8 * after.blockSizeBytes());
      int free = clusters - Bits.countSet(bits, 0, clusters);
      int change = free - GroupDescriptor.freeClusters(descriptor);
      table.addFreeClusters(group, descriptor, change);
      handle.dirty(bitmap, group.blockBitmapSealer);
      table.edited(handle, group);
    }
  }

  /// Behind the last descriptor there are zeroes.
  private void clearDescriptors(Handle handle) throws IOException {
    int last = after.groupCount() - 1;
    long from = (long) plan.layoutAfter().descriptorOffset(last) + after.descriptorSizeBytes();
    try (Buffer buffer = edit.buffers.read(plan.layoutAfter().descriptorBlockNr(last))) {
      handle.writeAccess(buffer);
      buffer.data().asSlice(from).fill((byte) 0);
      table.edited(handle, table.group(last));
    }
  }

  /// What the superblock counts, after the change.
  private record Counts(long freeBlocks, long freeInodes, long overheadClusters) {}

  private Counts counts() throws IOException {
    long overhead = Superblock.overheadClusters(edit.superblockBytes());
    for (int group = 0; group < before.groupCount(); group++) {
      overhead -= count(zoneBefore, group, before);
    }
    long freeClusters = 0;
    long freeInodes = 0;
    for (int group = 0; group < after.groupCount(); group++) {
      overhead += count(zoneAfter, group, after);
      freeClusters += table.freeClusters(group);
      freeInodes += table.freeInodes(group);
    }
    long freeBlocks = freeClusters << after.logBlocksPerCluster();
    return new Counts(freeBlocks, freeInodes, Math.max(0, overhead));
  }

  private static int count(SystemZone zone, int group, Geometry geometry) throws IOException {
    return Bits.countSet(system(zone, group, geometry), 0, geometry.clustersInGroup(group));
  }

  private void apply(MemorySegment sb, Counts counts) {
    MemorySegment now = plan.superblock();
    Superblock.blocksCount(sb, after.blocksCount());
    Superblock.inodesCount(sb, after.inodesCount());
    Superblock.freeBlocks(sb, counts.freeBlocks);
    Superblock.freeInodes(sb, counts.freeInodes);
    Superblock.reservedBlocks(sb, Superblock.reservedBlocks(now));
    Superblock.reservedGdtBlocks(sb, Superblock.reservedGdtBlocks(now));
    Superblock.firstMetaGroup(sb, Superblock.firstMetaGroup(now));
    Superblock.backupGroup(sb, 0, Superblock.backupGroup(now, 0));
    Superblock.backupGroup(sb, 1, Superblock.backupGroup(now, 1));
    if (Superblock.overheadClusters(sb) != 0) {
      Superblock.overheadClusters(sb, counts.overheadClusters);
    }
    if (!Superblock.features(now).has(Feature.META_BG)) {
      Superblock.features(sb, Superblock.features(sb).without(Feature.META_BG));
    }
  }
}
