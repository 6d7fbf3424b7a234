package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Crc32c;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/// Compares the bitmaps and the counts of each group, and the totals in the superblock, with what
/// is claimed and in use.
final class BitmapCheck {
  private static final int BLOCK_BITMAP_CHECKSUM = 0x18;
  private static final int INODE_BITMAP_CHECKSUM = 0x1A;
  private static final int HIGH_HALVES = 0x20;

  private final CheckContext context;
  private final FsLayout layout;
  private final FsckProgress progress;
  private final LongAdder freeClusters = new LongAdder();
  private final LongAdder freeInodes = new LongAdder();
  private final LongAdder[] inodesOfType = new LongAdder[8];

  BitmapCheck(CheckContext context, FsckProgress progress) {
    this.context = context;
    this.layout = context.layout();
    this.progress = progress;
    Arrays.setAll(inodesOfType, _ -> new LongAdder());
  }

  void run() throws CannotCheckException {
    GroupWorkers.run(context, "bitmaps", progress, this::checkGroup);
    MemorySegment sb = context.superblock();
    total(
        Problem.FREE_BLOCKS_TOTAL,
        Superblock.freeBlocks(sb),
        freeClusters.sum() << layout.clusterShift());
    total(Problem.FREE_INODES_TOTAL, Superblock.freeInodes(sb), freeInodes.sum());
  }

  /// What the bitmaps should say; to be asked after [#run].
  FsckCounters counters() {
    return new FsckCounters(
        layout.inodesCount() - freeInodes.sum(),
        layout.inodesCount(),
        inodesOfType[2].sum(),
        inodesOfType[1].sum(),
        inodesOfType[7].sum(),
        layout.clustersCount() - freeClusters.sum() << layout.clusterShift(),
        layout.blocksCount());
  }

  private void total(Problem problem, long stored, long counted) {
    if (stored != counted) {
      String text = Long.toUnsignedString(stored);
      context.report(problem, 0, 0, text + ", counted=" + counted);
    }
  }

  private void checkGroup(int group) {
    MemorySegment descriptor = context.groups().descriptor(group);
    checkBlocks(group, descriptor);
    checkInodes(group, descriptor);
  }

  private void checkBlocks(int group, MemorySegment descriptor) {
    int clusters = layout.clustersInGroup(group);
    long first = layout.clusterOf(layout.firstBlockOfGroup(group));
    int free = 0;
    for (int at = 0; at < clusters; at += Long.SIZE) {
      free += Long.bitCount(~context.claims().claimedWord(first + at) & mask(clusters - at));
    }
    freeClusters.add(free);
    count(Problem.FREE_BLOCKS, group, GroupDescriptor.freeClusters(descriptor), free);
    boolean uninit = context.groups().blockBitmapUninit(group);
    if (uninit) {
      checkUninit(group, first, clusters);
    }
    MemorySegment bitmap =
        uninit && context.checksums().descriptorValid(descriptor, group)
            ? null
            : bitmap(
                group, descriptor, GroupDescriptor.blockBitmap(descriptor), BLOCK_BITMAP_CHECKSUM);
    if (bitmap == null) {
      return;
    }
    if (!onesFrom(bitmap, clusters)) {
      context.report(Problem.BLOCK_BITMAP_PADDING, 0, 0, "group " + group);
    }
    if (!uninit) {
      compare(group, bitmap, first, clusters);
    }
  }

  private void compare(int group, MemorySegment bitmap, long first, int clusters) {
    BlockRuns differences = new BlockRuns();
    for (int at = 0; at < clusters; at += Long.SIZE) {
      long used = context.claims().claimedWord(first + at);
      long wrong = (used ^ word(bitmap, at)) & mask(clusters - at);
      for (; wrong != 0; wrong &= wrong - 1) {
        int bit = Long.numberOfTrailingZeros(wrong);
        long cluster = first + at + bit;
        differences.add(layout.firstBlockOfCluster(cluster), (used >>> bit & 1) != 0 ? 1 : -1);
      }
    }
    differences(Problem.BLOCK_BITMAP, group, differences);
  }

  /// A bitmap that was never written stands for a group with nothing but metadata. If the
  /// descriptor's checksum is wrong, so may the flag be that says so.
  private void checkUninit(int group, long first, int clusters) {
    for (int at = 0; at < clusters; at += Long.SIZE) {
      long used = context.claims().claimedWord(first + at) & mask(clusters - at);
      for (; used != 0; used &= used - 1) {
        long blockNr = layout.firstBlockOfCluster(first + at + Long.numberOfTrailingZeros(used));
        int count = (int) Math.min(layout.clusterBlocks(), layout.blocksCount() - blockNr);
        if (!context.metadata().anyClaimed(blockNr, count)) {
          context.report(Problem.BLOCKS_IN_UNINIT, 0, blockNr, "group " + group);
          return;
        }
      }
    }
  }

  private void checkInodes(int group, MemorySegment descriptor) {
    int inodes = layout.inodesPerGroup();
    long first = (long) group * inodes + 1;
    boolean uninit = context.groups().inodeBitmapUninit(group);
    MemorySegment bitmap =
        uninit && context.checksums().descriptorValid(descriptor, group)
            ? null
            : bitmap(
                group, descriptor, GroupDescriptor.inodeBitmap(descriptor), INODE_BITMAP_CHECKSUM);
    BlockRuns differences = new BlockRuns();
    int used = 0;
    int directories = 0;
    for (int i = 0; i < inodes; i++) {
      boolean inUse = context.inodes().used(first + i);
      if (inUse) {
        used++;
        inodesOfType[context.inodes().type(first + i)].increment();
        directories += context.inodes().directory(first + i) ? 1 : 0;
      }
      if (bitmap != null && !uninit && inUse != ((Le.u8(bitmap, i >>> 3) >>> (i & 7) & 1) != 0)) {
        differences.add(first + i, inUse ? 1 : -1);
      }
    }
    freeInodes.add(inodes - used);
    if (used > 0 && GroupDescriptor.hasFlag(descriptor, GroupDescriptor.INODE_UNINIT)) {
      context.report(Problem.DESCRIPTOR_INODES_IN_UNINIT, 0, 0, "group " + group);
    }
    count(Problem.FREE_INODES, group, GroupDescriptor.freeInodes(descriptor), inodes - used);
    count(Problem.DIRECTORIES, group, GroupDescriptor.usedDirectories(descriptor), directories);
    differences(Problem.INODE_BITMAP, group, differences);
    if (bitmap != null && !onesFrom(bitmap, inodes)) {
      context.report(Problem.INODE_BITMAP_PADDING, 0, 0, "group " + group);
    }
  }

  private void count(Problem problem, int group, int stored, int counted) {
    if (stored != counted) {
      String text = Integer.toUnsignedString(stored);
      context.report(problem, 0, 0, "group #" + group + " (" + text + ", counted=" + counted + ")");
    }
  }

  private void differences(Problem problem, int group, BlockRuns differences) {
    String text = differences.finish();
    if (!text.isEmpty()) {
      context.report(problem, 0, 0, text + " in group " + group);
    }
  }

  /// A bitmap, its checksum verified; null if it cannot be read.
  private MemorySegment bitmap(int group, MemorySegment descriptor, long blockNr, int checksum) {
    if (!layout.validBlock(blockNr)) {
      return null;
    }
    MemorySegment bitmap = context.readBlock(blockNr, 0);
    if (bitmap != null && context.has(Feature.METADATA_CSUM)) {
      boolean ofBlocks = checksum == BLOCK_BITMAP_CHECKSUM;
      int bits = ofBlocks ? layout.clustersPerGroup() : layout.inodesPerGroup();
      int computed = Crc32c.update(context.checksums().seed(), bitmap, 0, bits / 8);
      boolean high = descriptor.byteSize() > HIGH_HALVES;
      int stored = Le.u16(descriptor, checksum);
      stored |= high ? Le.u16(descriptor, checksum + HIGH_HALVES) << 16 : 0;
      if (stored != (high ? computed : computed & 0xffff)) {
        context.report(
            ofBlocks ? Problem.BLOCK_BITMAP_CHECKSUM : Problem.INODE_BITMAP_CHECKSUM,
            0,
            blockNr,
            "group " + group);
      }
    }
    return bitmap;
  }

  private static boolean onesFrom(MemorySegment bitmap, int bit) {
    for (long i = bit; i < 8 * bitmap.byteSize(); i++) {
      if ((i & 7) == 0 && Le.u8(bitmap, i >>> 3) == 0xff) {
        i += 7;
      } else if ((Le.u8(bitmap, i >>> 3) >>> (i & 7) & 1) == 0) {
        return false;
      }
    }
    return true;
  }

  private static long mask(int bits) {
    return bits >= Long.SIZE ? -1L : (1L << bits) - 1;
  }

  private static long word(MemorySegment bitmap, int bit) {
    return Le.u64(bitmap, bit >>> 3);
  }
}
