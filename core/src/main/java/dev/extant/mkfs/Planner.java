package dev.extant.mkfs;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Crc32c;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;

/// Chooses the numbers of a new file system as mke2fs does, so that tools and habits fit, and says
/// in a sentence why something cannot be made.
final class Planner {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final int GROUPS_PER_FLEX = 16;
  private static final int BLOCKS_PER_CLUSTER = 16;
  private static final int MAX_CLUSTER_BYTES = 512 << 20;
  private static final int MAX_BLOCK_SIZE = 65_536;
  private static final int MMP_UPDATE_SECONDS = 5;

  /// Counts of a group have 16 bits in old descriptors.
  private static final int MAX_CLUSTERS_PER_GROUP = (1 << 16) - 8;

  private static final int LABEL_SIZE = 16;
  private static final int DEFAULT_INODE_SIZE = 256;
  private static final int MAX_INODE_SIZE = 32_768;
  private static final int EXTRA_ISIZE = 32;

  /// EXT4_DEFM_XATTR_USER and EXT4_DEFM_ACL.
  private static final int DEFAULT_MOUNT_OPTIONS = 0x4 | 0x8;

  private static final int MIN_BLOCKS_FOR_JOURNAL = 2048;
  private static final int MIN_JOURNAL_BLOCKS = 1024;
  private static final int MAX_JOURNAL_BLOCKS = 10_240_000;

  /// A last group with less room for data than this is not worth having.
  private static final int MIN_DATA_BLOCKS_OF_LAST_GROUP = 50;

  private static final int MIN_BLOCKS_PER_GROUP = 256;

  /// The reserved ones, lost+found, the orphan file, and one to use.
  private static final int LEAST_INODES = 13;

  private static final long MAX_INODES = 0xffff_ffffL;

  private final MkfsOptions options;
  private final String device;
  private final long sizeBytes;
  private final int blockSizeBytes;
  private final int inodeSizeBytes;
  private final long firstDataBlock;
  private Features features;
  private final int blocksPerCluster;

  /// Less than the size has room for if the last group would be of no use.
  private long blocksCount;

  private final MemorySegment superblock = MemorySegment.ofArray(new byte[Superblock.SIZE]);

  private Planner(MkfsOptions options, String device, long deviceSizeBytes) throws FsException {
    this.options = options;
    this.device = device;
    this.sizeBytes = options.sizeBytes() > 0 ? options.sizeBytes() : deviceSizeBytes;
    if (sizeBytes > deviceSizeBytes) {
      throw invalid(
          "it has only " + deviceSizeBytes + " bytes, and " + sizeBytes + " were asked for");
    }
    this.blockSizeBytes = blockSize();
    this.inodeSizeBytes =
        options.inodeSizeBytes() == 0 ? DEFAULT_INODE_SIZE : options.inodeSizeBytes();
    this.blocksCount = sizeBytes / blockSizeBytes;
    this.features =
        FeatureChoice.of(
            device, options, blocksCount, inodeSizeBytes, blocksCount >= MIN_BLOCKS_FOR_JOURNAL);
    this.blocksPerCluster = blocksPerCluster();
    this.blocksCount -= blocksCount % blocksPerCluster;
    this.firstDataBlock = blockSizeBytes == 1024 && !features.has(Feature.BIGALLOC) ? 1 : 0;
  }

  static Plan plan(MkfsOptions options, String device, long deviceSizeBytes) throws FsException {
    return new Planner(options, device, deviceSizeBytes).plan();
  }

  private Plan plan() throws FsException {
    requireSensible();
    fillIdentity();
    fillLayout();
    Geometry geometry = Superblock.geometry(superblock, sizeBytes);
    GroupLayout layout = new GroupLayout(superblock, geometry);
    return new Plan(options, superblock, features, geometry, layout, journalBlocks());
  }

  private int blockSize() throws FsException {
    int asked = options.blockSizeFor(sizeBytes);
    if (asked < 1024 || asked > MAX_BLOCK_SIZE || Integer.bitCount(asked) != 1) {
      throw invalid("the block size " + asked + " is not a power of two from 1024 to 65536");
    }
    return asked;
  }

  private int blocksPerCluster() throws FsException {
    int asked = options.clusterSizeBytes();
    if (!features.has(Feature.BIGALLOC)) {
      if (asked > 0) {
        throw invalid("clusters of " + asked + " bytes need the feature bigalloc");
      }
      return 1;
    }
    int blocks = asked == 0 ? BLOCKS_PER_CLUSTER : asked / blockSizeBytes;
    if (blocks < 2
        || asked > MAX_CLUSTER_BYTES
        || asked % blockSizeBytes != 0
        || Integer.bitCount(blocks) != 1) {
      throw invalid(
          "the cluster size " + asked + " is not a power of two from two blocks to 512 MiB");
    }
    return blocks;
  }

  private void requireSensible() throws FsException {
    if (inodeSizeBytes < RawInode.GOOD_OLD_INODE_SIZE
        || inodeSizeBytes > Math.min(blockSizeBytes, MAX_INODE_SIZE)
        || Integer.bitCount(inodeSizeBytes) != 1) {
      throw invalid(
          "the inode size "
              + inodeSizeBytes
              + " is not a power of two from 128 to the block, at most 32768");
    }
    if (options.label().getBytes(StandardCharsets.UTF_8).length > LABEL_SIZE) {
      throw invalid("the label \"" + options.label() + "\" is longer than 16 bytes");
    }
    if (!(options.reservedPercent() >= 0 && options.reservedPercent() <= 50)) {
      throw invalid("reserved blocks of " + options.reservedPercent() + " % are not 0 to 50 %");
    }
    if (options.inodesCount() < 0 || options.bytesPerInode() < 0) {
      throw invalid("a negative number of inodes was asked for");
    }
    int flex = options.groupsPerFlex();
    if (flex != 0 && !features.has(Feature.FLEX_BG)) {
      throw invalid("groups that lie together need the feature flex_bg");
    }
    if (flex < 0 || flex > 0 && Integer.bitCount(flex) != 1) {
      throw invalid(flex + " groups that lie together are not a power of two");
    }
    if (options.strideBlocks() < 0
        || options.strideBlocks() > 0xffff
        || options.stripeWidthBlocks() < 0
        || options.stripeWidthBlocks() > 0xffff_ffffL) {
      throw invalid("no RAID has so long stripes");
    }
    requireRoomToGrow();
    requireGroupSize();
  }

  private void requireRoomToGrow() throws FsException {
    long grown = options.resizeBlocks();
    if (grown == 0) {
      return;
    }
    if (!features.has(Feature.RESIZE_INODE)) {
      throw invalid("room to grow needs the feature resize_inode");
    }
    if (grown <= blocksCount || grown > 0xffff_ffffL) {
      throw invalid("it can grow from " + blocksCount + " to 2^32 - 1 blocks, not to " + grown);
    }
  }

  private void requireGroupSize() throws FsException {
    long asked = options.blocksPerGroup();
    long most = maxBlocksPerGroup() / blocksPerCluster;
    if (asked != 0 && (asked < MIN_BLOCKS_PER_GROUP || asked > most || asked % 8 != 0)) {
      throw invalid(
          "blocks per group (with bigalloc: clusters) are a multiple of 8 from "
              + MIN_BLOCKS_PER_GROUP
              + " to "
              + most
              + ", not "
              + asked);
    }
  }

  private long maxBlocksPerGroup() {
    long clusters = Math.min(8L * blockSizeBytes, MAX_CLUSTERS_PER_GROUP);
    return Math.min(clusters * blocksPerCluster, 1L << 30);
  }

  /// As many as the bitmap has bits, but the counts have 16 bits too.
  private long maxInodesPerGroup() {
    return Math.min(8L * blockSizeBytes, (1 << 16) - blockSizeBytes / inodeSizeBytes);
  }

  private void fillIdentity() {
    Instant now = options.time() != null ? options.time() : Instant.now();
    UUID uuid = options.uuid() != null ? options.uuid() : UUID.randomUUID();
    MemorySegment sb = superblock;
    Superblock.putMagic(sb);
    Superblock.features(sb, features);
    Superblock.revision(sb, Superblock.REVISION_DYNAMIC);
    Superblock.state(sb, Superblock.STATE_CLEAN);
    Superblock.errors(sb, Superblock.ERRORS_CONTINUE);
    Superblock.maxMountCount(sb, -1);
    Superblock.mkfsTime(sb, now);
    Superblock.writeTime(sb, now);
    Superblock.lastCheck(sb, now);
    Superblock.uuid(sb, uuid);
    Superblock.label(sb, options.label());
    Superblock.hashSeed(sb, options.hashSeed() != null ? options.hashSeed() : UUID.randomUUID());
    Superblock.defaultHashVersion(sb, 1);
    Superblock.flags(sb, Superblock.FLAGS_SIGNED_HASH);
    Superblock.defaultMountOptions(sb, DEFAULT_MOUNT_OPTIONS);
    if (features.has(Feature.METADATA_CSUM)) {
      Superblock.checksumType(sb, Superblock.CHECKSUM_TYPE_CRC32C);
    }
    if (features.has(Feature.METADATA_CSUM_SEED)) {
      Superblock.checksumSeed(sb, Crc32c.update(~0, sb, 0x68, 16));
    }
  }

  private void fillLayout() throws FsException {
    MemorySegment sb = superblock;
    Superblock.reservedBlocks(sb, (long) (blocksCount * options.reservedPercent() / 100));
    Superblock.firstDataBlock(sb, firstDataBlock);
    int logBlockSize = Integer.numberOfTrailingZeros(blockSizeBytes) - 10;
    Superblock.logBlockSize(sb, logBlockSize);
    Superblock.logClusterSize(sb, logBlockSize + Integer.numberOfTrailingZeros(blocksPerCluster));
    Superblock.raidStride(sb, (int) options.strideBlocks());
    Superblock.raidStripeWidth(sb, options.stripeWidthBlocks());
    Superblock.firstInode(sb, Superblock.GOOD_OLD_FIRST_INO);
    Superblock.inodeSize(sb, inodeSizeBytes);
    if (inodeSizeBytes > RawInode.GOOD_OLD_INODE_SIZE) {
      Superblock.minExtraIsize(sb, EXTRA_ISIZE);
      Superblock.wantExtraIsize(sb, EXTRA_ISIZE);
    }
    if (features.has(Feature.BIT64)) {
      Superblock.descriptorSize(sb, descriptorSize());
    }
    if (features.has(Feature.FLEX_BG)) {
      int groups = options.groupsPerFlex() == 0 ? GROUPS_PER_FLEX : options.groupsPerFlex();
      Superblock.logGroupsPerFlex(sb, Integer.numberOfTrailingZeros(groups));
    }
    if (features.has(Feature.MMP)) {
      Superblock.mmpUpdateInterval(sb, MMP_UPDATE_SECONDS);
    }
    boolean asked = options.blocksPerGroup() > 0;
    long blocksPerGroup = asked ? options.blocksPerGroup() * blocksPerCluster : maxBlocksPerGroup();
    while (!fillGroups((int) blocksPerGroup, asked)) {
      blocksPerGroup -= 8L * blocksPerCluster;
    }
  }

  private int descriptorSize() {
    return features.has(Feature.BIT64) ? 64 : 32;
  }

  /// Sets what depends on the size of a group. False if slightly smaller groups are better: there
  /// would be more inodes in each than its bitmap holds, or the second of two groups would be too
  /// small to be of use. (The last of many, or if the size was `asked` for, is left out then.)
  private boolean fillGroups(int blocksPerGroup, boolean asked) throws FsException {
    if (blocksPerGroup < MIN_BLOCKS_PER_GROUP || blocksCount <= firstDataBlock + 1) {
      throw tooSmall();
    }
    long groups = ceil(blocksCount - firstDataBlock, blocksPerGroup);
    if (groups > Integer.MAX_VALUE) {
      throw invalid(sizeBytes + " bytes are too many for blocks of " + blockSizeBytes + " bytes");
    }
    long inodesPerGroup = inodesPerGroup(groups);
    if (inodesPerGroup > maxInodesPerGroup()) {
      if (asked) {
        throw tooManyInodes(inodesPerGroup * groups);
      }
      return false;
    }
    int tableBlocks = (int) (inodesPerGroup * inodeSizeBytes / blockSizeBytes);
    MemorySegment sb = superblock;
    Superblock.blocksCount(sb, blocksCount);
    Superblock.blocksPerGroup(sb, blocksPerGroup);
    Superblock.clustersPerGroup(sb, blocksPerGroup / blocksPerCluster);
    Superblock.inodesPerGroup(sb, inodesPerGroup);
    Superblock.inodesCount(sb, inodesPerGroup * groups);
    Superblock.reservedGdtBlocks(sb, reservedGdtBlocks(groups, blocksPerGroup));
    if (features.has(Feature.SPARSE_SUPER2)) {
      Superblock.backupGroup(sb, 0, groups > 1 ? 1 : 0);
      Superblock.backupGroup(sb, 1, groups > 2 ? groups - 1 : 0);
    }
    long rest = (blocksCount - firstDataBlock) % blocksPerGroup;
    long inFirst = Math.min(blocksPerGroup, blocksCount - firstDataBlock);
    long table = features.has(Feature.META_BG) ? 1 : descriptorBlocks(groups);
    long front = 1 + table + Superblock.reservedGdtBlocks(sb);
    if (front >= blocksPerGroup && mayUseMetaGroups()) {
      features = features.with(Feature.META_BG).without(Feature.RESIZE_INODE);
      Superblock.features(sb, features);
      return fillGroups(blocksPerGroup, asked);
    }
    if (front >= blocksPerGroup) {
      throw invalid(sizeBytes + " bytes are too many for blocks of " + blockSizeBytes + " bytes");
    }
    if (front + 2 + tableBlocks >= inFirst) {
      throw groups == 1 ? tooSmall() : tooManyInodes(inodesPerGroup * groups);
    }
    if (groups == 1 || rest == 0) {
      return true;
    }
    Geometry geometry = Superblock.geometry(sb, sizeBytes);
    int lastFront = new GroupLayout(sb, geometry).frontBlocks((int) groups - 1);
    if (rest >= lastFront + 2 + tableBlocks + MIN_DATA_BLOCKS_OF_LAST_GROUP) {
      return true;
    }
    if ((groups > 2 || asked) && inodesPerGroup(groups - 1) <= maxInodesPerGroup()) {
      blocksCount -= rest;
      return fillGroups(blocksPerGroup, asked);
    }
    return false;
  }

  /// Where a group is too small for all descriptors they go to the groups that they describe, at
  /// the price of the room for more.
  private boolean mayUseMetaGroups() {
    return !features.has(Feature.META_BG)
        && options.resizeBlocks() == 0
        && !options.featureChanges().contains(Feature.RESIZE_INODE.spelling());
  }

  private long descriptorBlocks(long groups) {
    return ceil(groups, blockSizeBytes / descriptorSize());
  }

  /// Room for the descriptors of a file system 1,024 times as large or as large as was asked for,
  /// in so far as one indirect block can name it.
  private int reservedGdtBlocks(long groups, int blocksPerGroup) {
    if (!features.has(Feature.RESIZE_INODE)) {
      return 0;
    }
    long mostBlocks =
        options.resizeBlocks() > 0
            ? options.resizeBlocks()
            : Math.min(blocksCount * 1024, 0xffff_ffffL);
    long mostGroups = ceil(mostBlocks - firstDataBlock, blocksPerGroup);
    long more = descriptorBlocks(mostGroups) - descriptorBlocks(groups);
    return Math.clamp(more, 0, blockSizeBytes / 4);
  }

  /// The inodes asked for, spread over the groups and rounded up to full blocks of the table and
  /// down to full bytes of the bitmap.
  private long inodesPerGroup(long groups) throws FsException {
    long cluster = (long) blocksPerCluster * blockSizeBytes;
    long bytesPerInode =
        options.bytesPerInode() > 0 ? options.bytesPerInode() : Math.max(bytesPerInode(), cluster);
    long wanted = options.inodesCount() > 0 ? options.inodesCount() : sizeBytes / bytesPerInode;
    wanted = Math.max(wanted, LEAST_INODES);
    if (wanted > MAX_INODES || wanted > sizeBytes / inodeSizeBytes) {
      throw tooManyInodes(wanted);
    }
    long perBlock = blockSizeBytes / inodeSizeBytes;
    long perGroup = ceil(ceil(wanted, groups), perBlock) * perBlock;
    long step = Math.max(8, perBlock);
    perGroup = Math.max(perGroup & ~7, step);
    while (perGroup * groups < LEAST_INODES) {
      perGroup += step;
    }
    while (perGroup * groups > MAX_INODES) {
      perGroup -= step;
    }
    return perGroup;
  }

  private long bytesPerInode() {
    if (sizeBytes < 3 * MIB) {
      return 8192;
    }
    if (sizeBytes < 512 * MIB) {
      return 4096;
    }
    if (sizeBytes < 4096 * GIB) {
      return 16384;
    }
    return sizeBytes < 16384 * GIB ? 32768 : 65536;
  }

  private long journalBlocks() throws FsException {
    if (!features.has(Feature.HAS_JOURNAL)) {
      if (options.journalMebibytes() > 0) {
        throw invalid("a journal was asked for, but there is none (no feature has_journal)");
      }
      return 0;
    }
    if (options.journalMebibytes() == 0) {
      return defaultJournalBlocks();
    }
    long blocks = options.journalMebibytes() * (MIB / blockSizeBytes);
    if (blocks < MIN_JOURNAL_BLOCKS || options.journalMebibytes() > MAX_JOURNAL_BLOCKS) {
      throw invalid(
          "a journal must have at least " + MIN_JOURNAL_BLOCKS + " blocks, not " + blocks);
    }
    if (blocks > MAX_JOURNAL_BLOCKS || blocks > blocksCount / 2) {
      throw invalid("a journal of " + options.journalMebibytes() + " MiB is too large");
    }
    return blocks;
  }

  private long defaultJournalBlocks() {
    long kibi = blocksCount >>> 10;
    if (kibi < 32) {
      return 1024;
    }
    if (kibi < 256) {
      return 4096;
    }
    if (kibi < 512) {
      return 8192;
    }
    if (kibi < 4096) {
      return 16384;
    }
    if (kibi < 8192) {
      return 32768;
    }
    if (kibi < 16384) {
      return 65536;
    }
    return kibi < 32768 ? 131072 : 262144;
  }

  private static long ceil(long value, long unit) {
    return (value + unit - 1) / unit;
  }

  private FsException tooSmall() {
    return Mkfs.failure(
        Errno.ENOSPC,
        device,
        sizeBytes
            + " bytes are too small for one with blocks of "
            + blockSizeBytes
            + " bytes and these options");
  }

  private FsException tooManyInodes(long count) {
    return invalid(
        count + " inodes of " + inodeSizeBytes + " bytes are too many for " + sizeBytes + " bytes");
  }

  private FsException invalid(String reason) {
    return Mkfs.failure(Errno.EINVAL, device, reason);
  }
}
