package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;

/// Checks what the superblock says besides the layout, and its copies.
final class FeatureCheck {
  private static final int MIN_EXTRA_ISIZE = 4;

  private final CheckContext context;
  private final MemorySegment sb;
  private final FsLayout layout;

  FeatureCheck(CheckContext context) {
    this.context = context;
    this.sb = context.superblock();
    this.layout = context.layout();
  }

  void run(BlockDevice device) {
    long onDevice = device.sizeBytes() / layout.blockSizeBytes();
    if (layout.blocksCount() > onDevice) {
      report(Problem.DEVICE_TOO_SMALL, layout.blocksCount() + ", on the device " + onDevice);
    }
    checkState();
    checkCombinations();
    checkExtraSizes();
    if (context.has(Feature.META_BG) && Superblock.firstMetaGroup(sb) > layout.descriptorBlocks()) {
      report(
          Problem.FIRST_META_GROUP,
          Superblock.firstMetaGroup(sb) + ", at most " + layout.descriptorBlocks());
    }
    checkBackups();
  }

  private void report(Problem problem, String detail) {
    context.report(problem, 0, 0, detail);
  }

  private void checkState() {
    if (context.has(Feature.NEEDS_RECOVERY)) {
      report(Problem.NEEDS_RECOVERY, "");
    }
    if ((Superblock.state(sb) & Superblock.STATE_ERRORS) != 0) {
      report(Problem.STATE_ERRORS, "");
    }
  }

  private void checkCombinations() {
    Features features = context.features();
    boolean any = features.compat() != 0 || features.incompat() != 0 || features.roCompat() != 0;
    if (Superblock.revision(sb) == 0 && any) {
      report(Problem.FEATURES_REVISION_0, String.join(" ", features.names()));
    }
    if (features.has(Feature.METADATA_CSUM) && features.has(Feature.UNINIT_BG)) {
      report(Problem.FEATURE_COMBINATION, "metadata_csum supersedes uninit_bg");
    }
    if (features.has(Feature.METADATA_CSUM_SEED) && !features.has(Feature.METADATA_CSUM)) {
      report(Problem.FEATURE_COMBINATION, "metadata_csum_seed is not necessary");
    }
    if (features.has(Feature.META_BG) && features.has(Feature.RESIZE_INODE)) {
      report(Problem.FEATURE_COMBINATION, "meta_bg and resize_inode");
    }
    if (features.has(Feature.BIGALLOC) && !features.has(Feature.EXTENT)) {
      report(Problem.FEATURE_COMBINATION, "bigalloc needs extents");
    }
  }

  private void checkExtraSizes() {
    int room = layout.inodeSizeBytes() - 128;
    int min = Superblock.minExtraIsize(sb);
    int want = Superblock.wantExtraIsize(sb);
    if (room > 0 && min != 0 && (min < MIN_EXTRA_ISIZE || min > room || min % 4 != 0)) {
      report(Problem.SUPERBLOCK_EXTRA_SIZE, "s_min_extra_isize is " + min);
    }
    if (room > 0 && want != 0 && (want < MIN_EXTRA_ISIZE || want > room || want % 4 != 0)) {
      report(Problem.SUPERBLOCK_EXTRA_SIZE, "s_want_extra_isize is " + want);
    }
  }

  /// The copies must be whole and of the same file system.
  private void checkBackups() {
    for (int group = 1; group < layout.groupCount(); group++) {
      if (context.front().hasSuperblock(group)) {
        long blockNr = context.front().superblockNr(group);
        MemorySegment block = context.readBlock(blockNr, 0);
        if (block != null) {
          checkBackup(group, blockNr, block.asSlice(0, Superblock.SIZE));
        }
      }
    }
  }

  private void checkBackup(int group, long blockNr, MemorySegment copy) {
    boolean same =
        Superblock.hasMagic(copy)
            && Superblock.logBlockSize(copy) == Superblock.logBlockSize(sb)
            && Superblock.blocksPerGroup(copy) == Superblock.blocksPerGroup(sb)
            && Superblock.inodesPerGroup(copy) == Superblock.inodesPerGroup(sb)
            && (group > 0xffff || Superblock.groupNr(copy) == group);
    if (!same || !Superblock.checksumValid(copy)) {
      context.report(Problem.BACKUP_SUPERBLOCK, 0, blockNr, "group " + group);
    }
  }
}
