package dev.extant.ext4.format;

import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import dev.extant.util.Le;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;

/// `struct ext4_super_block` (Linux documentation, "The Super Block"): accessors over its 1,024
/// bytes, which lie at byte [#OFFSET] of the image. Numbers are as they are on disk: [#geometry] is
/// the only place that checks them.
///
/// | offset | field | | offset | field |
/// | --- | --- | --- | --- | --- |
/// | 0x00 | s_inodes_count | | 0x104 | s_first_meta_bg |
/// | 0x04 | s_blocks_count_lo | | 0x108 | s_mkfs_time |
/// | 0x08 | s_r_blocks_count_lo | | 0x10C | s_jnl_blocks[17] |
/// | 0x0C | s_free_blocks_count_lo | | 0x150 | s_blocks_count_hi |
/// | 0x10 | s_free_inodes_count | | 0x154 | s_r_blocks_count_hi |
/// | 0x14 | s_first_data_block | | 0x158 | s_free_blocks_count_hi |
/// | 0x18 | s_log_block_size | | 0x15C | s_min_extra_isize |
/// | 0x1C | s_log_cluster_size | | 0x15E | s_want_extra_isize |
/// | 0x20 | s_blocks_per_group | | 0x160 | s_flags |
/// | 0x24 | s_clusters_per_group | | 0x164 | s_raid_stride |
/// | 0x28 | s_inodes_per_group | | 0x166 | s_mmp_update_interval |
/// | 0x2C | s_mtime | | 0x168 | s_mmp_block |
/// | 0x30 | s_wtime | | 0x170 | s_raid_stripe_width |
/// | 0x34 | s_mnt_count | | 0x174 | s_log_groups_per_flex |
/// | 0x36 | s_max_mnt_count | | 0x175 | s_checksum_type |
/// | 0x38 | s_magic | | 0x178 | s_kbytes_written |
/// | 0x3A | s_state | | 0x194 | s_error_count |
/// | 0x3C | s_errors | | 0x198 | s_first_error_time |
/// | 0x40 | s_lastcheck | | 0x19C | s_first_error_ino |
/// | 0x44 | s_checkinterval | | 0x1A0 | s_first_error_block |
/// | 0x48 | s_creator_os | | 0x1A8 | s_first_error_func[32] |
/// | 0x4C | s_rev_level | | 0x1C8 | s_first_error_line |
/// | 0x54 | s_first_ino | | 0x1CC | s_last_error_time, then as for the first, but line first |
/// | 0x58 | s_inode_size | | 0x200 | s_mount_opts[64] |
/// | 0x5A | s_block_group_nr | | 0x248 | s_overhead_blocks |
/// | 0x5C.. | s_feature_compat, _incompat, _ro_compat | | 0x24C | s_backup_bgs[2] |
/// | 0x68 | s_uuid[16] | | 0x268 | s_lpf_ino |
/// | 0x78 | s_volume_name[16] | | 0x270 | s_checksum_seed |
/// | 0x88 | s_last_mounted[64] | | 0x274 | s_wtime_hi |
/// | 0xCE | s_reserved_gdt_blocks | | 0x275 | s_mtime_hi |
/// | 0xD0 | s_journal_uuid[16] | | 0x276 | s_mkfs_time_hi |
/// | 0xE0 | s_journal_inum | | 0x277 | s_lastcheck_hi |
/// | 0xE8 | s_last_orphan | | 0x278 | s_first_error_time_hi |
/// | 0xEC | s_hash_seed[4] | | 0x279 | s_last_error_time_hi |
/// | 0xFC | s_def_hash_version | | 0x27A | s_first_error_errcode |
/// | 0xFD | s_jnl_backup_type | | 0x27B | s_last_error_errcode |
/// | 0xFE | s_desc_size | | 0x280 | s_orphan_file_inum |
/// | 0x100 | s_default_mount_opts | | 0x3FC | s_checksum |
public final class Superblock {
  /// Where the primary superblock begins in the image, in bytes.
  public static final int OFFSET = 1024;

  public static final int SIZE = 1024;
  public static final int MAGIC = 0xEF53;

  /// s_state: everything was written home and the file system was closed.
  public static final int STATE_CLEAN = 1;

  /// s_state: an error was found and not repaired yet.
  public static final int STATE_ERRORS = 2;

  /// s_state: orphans are being removed.
  public static final int STATE_ORPHANS = 4;

  /// s_errors.
  public static final int ERRORS_CONTINUE = 1;

  public static final int ERRORS_READ_ONLY = 2;
  public static final int ERRORS_PANIC = 3;

  /// s_flags: names are hashed as signed bytes, or as unsigned ones.
  public static final int FLAGS_SIGNED_HASH = 1;

  public static final int FLAGS_UNSIGNED_HASH = 2;

  /// s_jnl_backup_type: s_jnl_blocks holds the journal inode's i_block and size.
  public static final int JOURNAL_BACKUP_BLOCKS = 1;

  public static final int CHECKSUM_TYPE_CRC32C = 1;
  public static final int REVISION_DYNAMIC = 1;

  public static final int ROOT_INO = 2;
  public static final int QUOTA_TYPES = 3;
  public static final int RESIZE_INO = 7;
  public static final int JOURNAL_INO = 8;
  public static final int GOOD_OLD_FIRST_INO = 11;

  private static final int LABEL = 0x78;
  private static final int LABEL_SIZE = 16;
  private static final int JOURNAL_BLOCKS = 0x10C;
  private static final int CHECKSUM = 0x3FC;

  /// The last four bytes of s_last_mounted, behind the end of the text in it.
  private static final int BALANCE = 0xC4;

  private Superblock() {}

  public static boolean hasMagic(MemorySegment sb) {
    return Le.u16(sb, 0x38) == MAGIC;
  }

  public static void putMagic(MemorySegment sb) {
    Le.put16(sb, 0x38, MAGIC);
  }

  /// The layout of the file system on a device of that size. The one place that checks the numbers:
  /// throws EUCLEAN with the field and its value where one is impossible.
  public static Geometry geometry(MemorySegment sb, long deviceSizeBytes) throws FsException {
    return new SuperblockCheck(sb, deviceSizeBytes).geometry();
  }

  public static Features features(MemorySegment sb) {
    return new Features(Le.i32(sb, 0x5C), Le.i32(sb, 0x60), Le.i32(sb, 0x64));
  }

  public static void features(MemorySegment sb, Features features) {
    Le.put32(sb, 0x5C, features.compat());
    Le.put32(sb, 0x60, features.incompat());
    Le.put32(sb, 0x64, features.roCompat());
  }

  private static boolean has(MemorySegment sb, Feature feature) {
    return features(sb).has(feature);
  }

  public static long inodesCount(MemorySegment sb) {
    return Le.u32(sb, 0x00);
  }

  public static void inodesCount(MemorySegment sb, long count) {
    Le.put32(sb, 0x00, count);
  }

  public static long blocksCount(MemorySegment sb) {
    return u64(sb, 0x04, 0x150);
  }

  public static void blocksCount(MemorySegment sb, long count) {
    putU64(sb, 0x04, 0x150, count);
  }

  /// Blocks that only root may use.
  public static long reservedBlocks(MemorySegment sb) {
    return u64(sb, 0x08, 0x154);
  }

  public static void reservedBlocks(MemorySegment sb, long count) {
    putU64(sb, 0x08, 0x154, count);
  }

  public static long freeBlocks(MemorySegment sb) {
    return u64(sb, 0x0C, 0x158);
  }

  public static void freeBlocks(MemorySegment sb, long count) {
    putU64(sb, 0x0C, 0x158, count);
  }

  public static long freeInodes(MemorySegment sb) {
    return Le.u32(sb, 0x10);
  }

  public static void freeInodes(MemorySegment sb, long count) {
    Le.put32(sb, 0x10, count);
  }

  public static long firstDataBlock(MemorySegment sb) {
    return Le.u32(sb, 0x14);
  }

  public static void firstDataBlock(MemorySegment sb, long blockNr) {
    Le.put32(sb, 0x14, blockNr);
  }

  /// The block size is 1,024 shifted left by this.
  public static long logBlockSize(MemorySegment sb) {
    return Le.u32(sb, 0x18);
  }

  /// Sets the cluster size to the same.
  public static void logBlockSize(MemorySegment sb, int log) {
    Le.put32(sb, 0x18, log);
    Le.put32(sb, 0x1C, log);
  }

  public static long logClusterSize(MemorySegment sb) {
    return Le.u32(sb, 0x1C);
  }

  /// With bigalloc; after [#logBlockSize].
  public static void logClusterSize(MemorySegment sb, int log) {
    Le.put32(sb, 0x1C, log);
  }

  public static long blocksPerGroup(MemorySegment sb) {
    return Le.u32(sb, 0x20);
  }

  /// Sets the clusters per group to the same; see [#clustersPerGroup].
  public static void blocksPerGroup(MemorySegment sb, long count) {
    Le.put32(sb, 0x20, count);
    Le.put32(sb, 0x24, count);
  }

  public static long clustersPerGroup(MemorySegment sb) {
    return Le.u32(sb, 0x24);
  }

  /// With bigalloc; after [#blocksPerGroup].
  public static void clustersPerGroup(MemorySegment sb, long count) {
    Le.put32(sb, 0x24, count);
  }

  public static long inodesPerGroup(MemorySegment sb) {
    return Le.u32(sb, 0x28);
  }

  public static void inodesPerGroup(MemorySegment sb, long count) {
    Le.put32(sb, 0x28, count);
  }

  /// When it was last mounted; the epoch if never.
  public static Instant mountTime(MemorySegment sb) {
    return time(sb, 0x2C, 0x275);
  }

  public static void mountTime(MemorySegment sb, Instant time) {
    putTime(sb, 0x2C, 0x275, time);
  }

  /// When the superblock was last written.
  public static Instant writeTime(MemorySegment sb) {
    return time(sb, 0x30, 0x274);
  }

  public static void writeTime(MemorySegment sb, Instant time) {
    putTime(sb, 0x30, 0x274, time);
  }

  public static Instant lastCheck(MemorySegment sb) {
    return time(sb, 0x40, 0x277);
  }

  public static void lastCheck(MemorySegment sb, Instant time) {
    putTime(sb, 0x40, 0x277, time);
  }

  /// Longest time between two checks; 0 for none.
  public static long checkIntervalSeconds(MemorySegment sb) {
    return Le.u32(sb, 0x44);
  }

  public static void checkIntervalSeconds(MemorySegment sb, long seconds) {
    Le.put32(sb, 0x44, seconds);
  }

  public static Instant mkfsTime(MemorySegment sb) {
    return time(sb, 0x108, 0x276);
  }

  public static void mkfsTime(MemorySegment sb, Instant time) {
    putTime(sb, 0x108, 0x276, time);
  }

  /// Mounts since the last check.
  public static int mountCount(MemorySegment sb) {
    return Le.u16(sb, 0x34);
  }

  public static void mountCount(MemorySegment sb, int count) {
    Le.put16(sb, 0x34, count);
  }

  /// Mounts after which a check is due; -1 for never.
  public static int maxMountCount(MemorySegment sb) {
    return (short) Le.u16(sb, 0x36);
  }

  public static void maxMountCount(MemorySegment sb, int count) {
    Le.put16(sb, 0x36, count);
  }

  /// Bits `STATE_…`.
  public static int state(MemorySegment sb) {
    return Le.u16(sb, 0x3A);
  }

  public static void state(MemorySegment sb, int state) {
    Le.put16(sb, 0x3A, state);
  }

  /// What to do when an error is found: one of `ERRORS_…`.
  public static int errors(MemorySegment sb) {
    return Le.u16(sb, 0x3C);
  }

  public static void errors(MemorySegment sb, int behaviour) {
    Le.put16(sb, 0x3C, behaviour);
  }

  public static long revision(MemorySegment sb) {
    return Le.u32(sb, 0x4C);
  }

  public static void revision(MemorySegment sb, long revision) {
    Le.put32(sb, 0x4C, revision);
  }

  /// The first inode that is not reserved.
  public static long firstInode(MemorySegment sb) {
    return revision(sb) == 0 ? GOOD_OLD_FIRST_INO : Le.u32(sb, 0x54);
  }

  public static void firstInode(MemorySegment sb, long ino) {
    Le.put32(sb, 0x54, ino);
  }

  public static int inodeSize(MemorySegment sb) {
    return revision(sb) == 0 ? RawInode.GOOD_OLD_INODE_SIZE : Le.u16(sb, 0x58);
  }

  public static void inodeSize(MemorySegment sb, int sizeBytes) {
    Le.put16(sb, 0x58, sizeBytes);
  }

  /// The group whose copy of the superblock this is.
  public static int groupNr(MemorySegment sb) {
    return Le.u16(sb, 0x5A);
  }

  public static void groupNr(MemorySegment sb, int group) {
    Le.put16(sb, 0x5A, group);
  }

  public static UUID uuid(MemorySegment sb) {
    return uuid(sb, 0x68);
  }

  public static void uuid(MemorySegment sb, UUID uuid) {
    putUuid(sb, 0x68, uuid);
  }

  /// s_volume_name up to its first NUL, as UTF-8.
  public static String label(MemorySegment sb) {
    byte[] bytes = new byte[LABEL_SIZE];
    MemorySegment.copy(sb, LABEL, MemorySegment.ofArray(bytes), 0, LABEL_SIZE);
    int length = 0;
    while (length < LABEL_SIZE && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /// At most 16 bytes of UTF-8.
  public static void label(MemorySegment sb, String label) {
    byte[] bytes = label.getBytes(StandardCharsets.UTF_8);
    MemorySegment field = MemorySegment.ofArray(Arrays.copyOf(bytes, LABEL_SIZE));
    MemorySegment.copy(field, 0, sb, LABEL, LABEL_SIZE);
  }

  /// Blocks behind the group descriptors that are kept for growing their table.
  public static int reservedGdtBlocks(MemorySegment sb) {
    return Le.u16(sb, 0xCE);
  }

  public static void reservedGdtBlocks(MemorySegment sb, int count) {
    Le.put16(sb, 0xCE, count);
  }

  /// The inode of the journal, 0 if there is none in this file system.
  public static long journalInode(MemorySegment sb) {
    return Le.u32(sb, 0xE0);
  }

  public static void journalInode(MemorySegment sb, long ino) {
    Le.put32(sb, 0xE0, ino);
  }

  /// The device number of an external journal, 0 if there is none.
  public static long journalDevice(MemorySegment sb) {
    return Le.u32(sb, 0xE4);
  }

  /// The head of the orphan list, 0 when it is empty.
  public static long lastOrphan(MemorySegment sb) {
    return Le.u32(sb, 0xE8);
  }

  public static void lastOrphan(MemorySegment sb, long ino) {
    Le.put32(sb, 0xE8, ino);
  }

  /// The four words that directory hashes start from; all zero means the built-in ones.
  public static int[] hashSeed(MemorySegment sb) {
    int[] words = new int[4];
    for (int i = 0; i < 4; i++) {
      words[i] = Le.i32(sb, 0xEC + 4 * i);
    }
    return words;
  }

  /// The bytes of the UUID are the four words.
  public static void hashSeed(MemorySegment sb, UUID seed) {
    putUuid(sb, 0xEC, seed);
  }

  /// The hash of new directory indexes: 0 legacy, 1 half MD4, 2 TEA.
  public static int defaultHashVersion(MemorySegment sb) {
    return Le.u8(sb, 0xFC);
  }

  public static void defaultHashVersion(MemorySegment sb, int version) {
    Le.put8(sb, 0xFC, version);
  }

  /// Bits `FLAGS_…`.
  public static long flags(MemorySegment sb) {
    return Le.u32(sb, 0x160);
  }

  public static void flags(MemorySegment sb, long flags) {
    Le.put32(sb, 0x160, flags);
  }

  /// True if names are hashed as unsigned bytes. Where no flag says so they are signed, as on the
  /// machines that the format began on.
  public static boolean unsignedHash(MemorySegment sb) {
    return (flags(sb) & FLAGS_UNSIGNED_HASH) != 0;
  }

  /// As it is on disk; meaningful only with 64bit.
  public static int descriptorSize(MemorySegment sb) {
    return Le.u16(sb, 0xFE);
  }

  public static void descriptorSize(MemorySegment sb, int sizeBytes) {
    Le.put16(sb, 0xFE, sizeBytes);
  }

  public static long defaultMountOptions(MemorySegment sb) {
    return Le.u32(sb, 0x100);
  }

  public static void defaultMountOptions(MemorySegment sb, long options) {
    Le.put32(sb, 0x100, options);
  }

  /// The first meta block group, in units of descriptor blocks; meaningful only with meta_bg.
  public static long firstMetaGroup(MemorySegment sb) {
    return Le.u32(sb, 0x104);
  }

  public static void firstMetaGroup(MemorySegment sb, long index) {
    Le.put32(sb, 0x104, index);
  }

  /// Keeps a copy of the journal inode's block map and size, from which e2fsck can restore it.
  public static void backUpJournal(MemorySegment sb, MemorySegment inode) {
    MemorySegment.copy(inode, RawInode.I_BLOCK, sb, JOURNAL_BLOCKS, RawInode.I_BLOCK_SIZE);
    Le.put32(sb, JOURNAL_BLOCKS + RawInode.I_BLOCK_SIZE, RawInode.size(inode) >>> 32);
    Le.put32(sb, JOURNAL_BLOCKS + RawInode.I_BLOCK_SIZE + 4, RawInode.size(inode));
    Le.put8(sb, 0xFD, JOURNAL_BACKUP_BLOCKS);
  }

  public static int minExtraIsize(MemorySegment sb) {
    return Le.u16(sb, 0x15C);
  }

  public static void minExtraIsize(MemorySegment sb, int sizeBytes) {
    Le.put16(sb, 0x15C, sizeBytes);
  }

  public static int wantExtraIsize(MemorySegment sb) {
    return Le.u16(sb, 0x15E);
  }

  public static void wantExtraIsize(MemorySegment sb, int sizeBytes) {
    Le.put16(sb, 0x15E, sizeBytes);
  }

  /// i_extra_isize of a new inode: what the superblock wants, or up to i_projid (32) where that is
  /// impossible; 0 in 128-byte inodes.
  public static int newExtraIsize(MemorySegment sb) {
    int room = inodeSize(sb) - RawInode.GOOD_OLD_INODE_SIZE;
    int wanted = Math.max(wantExtraIsize(sb), minExtraIsize(sb));
    boolean possible = wanted >= 4 && wanted <= room && wanted % 4 == 0;
    return Math.max(0, possible ? wanted : Math.min(room, 32));
  }

  public static int logGroupsPerFlex(MemorySegment sb) {
    return Le.u8(sb, 0x174);
  }

  public static void logGroupsPerFlex(MemorySegment sb, int log) {
    Le.put8(sb, 0x174, log);
  }

  public static int checksumType(MemorySegment sb) {
    return Le.u8(sb, 0x175);
  }

  public static void checksumType(MemorySegment sb, int type) {
    Le.put8(sb, 0x175, type);
  }

  public static long kbytesWritten(MemorySegment sb) {
    return Le.u64(sb, 0x178);
  }

  public static void kbytesWritten(MemorySegment sb, long kbytes) {
    Le.put64(sb, 0x178, kbytes);
  }

  /// With mmp: how often whoever uses the file system changes the MMP block, in seconds; 0 for the
  /// usual time.
  public static int mmpUpdateInterval(MemorySegment sb) {
    return Le.u16(sb, 0x166);
  }

  public static void mmpUpdateInterval(MemorySegment sb, int seconds) {
    Le.put16(sb, 0x166, seconds);
  }

  /// With mmp: the block with [MmpBlock].
  public static long mmpBlock(MemorySegment sb) {
    return Le.u64(sb, 0x168);
  }

  public static void mmpBlock(MemorySegment sb, long blockNr) {
    Le.put64(sb, 0x168, blockNr);
  }

  /// Blocks that go to one disk of a RAID before the next one's turn; 0 if there is none.
  public static void raidStride(MemorySegment sb, int blocks) {
    Le.put16(sb, 0x164, blocks);
  }

  /// Blocks in one stripe over all disks of a RAID with data.
  public static void raidStripeWidth(MemorySegment sb, long blocks) {
    Le.put32(sb, 0x170, blocks);
  }

  /// What the file system's own structures occupy, in clusters.
  public static long overheadClusters(MemorySegment sb) {
    return Le.u32(sb, 0x248);
  }

  public static void overheadClusters(MemorySegment sb, long count) {
    Le.put32(sb, 0x248, count);
  }

  /// With sparse_super2 the groups that hold backups; 0 for none.
  public static long backupGroup(MemorySegment sb, int index) {
    return Le.u32(sb, 0x24C + 4L * index);
  }

  public static void backupGroup(MemorySegment sb, int index, long group) {
    Le.put32(sb, 0x24C + 4L * index, group);
  }

  public static int checksumSeed(MemorySegment sb) {
    return Le.i32(sb, 0x270);
  }

  public static void checksumSeed(MemorySegment sb, int seed) {
    Le.put32(sb, 0x270, seed);
  }

  /// The inode of the orphan file; meaningful only with orphan_file.
  public static long orphanFileInode(MemorySegment sb) {
    return Le.u32(sb, 0x280);
  }

  public static void orphanFileInode(MemorySegment sb, long ino) {
    Le.put32(sb, 0x280, ino);
  }

  /// The inode of the quota of users (type 0), groups (1) or projects (2); 0 for none.
  public static long quotaInode(MemorySegment sb, int type) {
    return Le.u32(sb, type == 2 ? 0x26C : 0x240 + 4L * type);
  }

  /// True if the checksum is right or the file system has none (no metadata_csum).
  public static boolean checksumValid(MemorySegment sb) {
    return !has(sb, Feature.METADATA_CSUM) || Le.i32(sb, CHECKSUM) == checksum(sb);
  }

  /// Stores the checksum; does nothing without metadata_csum.
  public static void seal(MemorySegment sb) {
    if (has(sb, Feature.METADATA_CSUM)) {
      Le.put32(sb, CHECKSUM, checksum(sb));
    }
  }

  /// Makes the stored checksum right for what was changed in front of it, by the four bytes behind
  /// the text in s_last_mounted, which mean nothing. Then all that changed lies in the first 512
  /// bytes: a power cut that tears the write between sectors leaves the old superblock or the new
  /// one, where [#seal] could leave one with a wrong checksum. If the text takes that place, does
  /// as [#seal].
  public static void sealInFirstSector(MemorySegment sb) {
    if (!has(sb, Feature.METADATA_CSUM)) {
      return;
    }
    if (sb.get(ValueLayout.JAVA_BYTE, BALANCE - 1) != 0) {
      seal(sb);
      return;
    }
    Le.put32(sb, BALANCE, 0);
    int difference = Le.i32(sb, CHECKSUM) ^ checksum(sb);
    Le.put32(sb, BALANCE, Crc32c.beforeZeroes(difference, CHECKSUM - BALANCE));
  }

  private static int checksum(MemorySegment sb) {
    return Crc32c.update(~0, sb, 0, CHECKSUM);
  }

  private static long u64(MemorySegment sb, int low, int high) {
    long value = Le.u32(sb, low);
    return has(sb, Feature.BIT64) ? value | Le.u32(sb, high) << 32 : value;
  }

  private static void putU64(MemorySegment sb, int low, int high, long value) {
    Le.put32(sb, low, value);
    if (has(sb, Feature.BIT64)) {
      Le.put32(sb, high, value >>> 32);
    }
  }

  /// 40 unsigned bits of seconds.
  static Instant time(MemorySegment sb, int low, int high) {
    return Instant.ofEpochSecond(Le.u32(sb, low) | (long) Le.u8(sb, high) << 32);
  }

  static void putTime(MemorySegment sb, int low, int high, Instant time) {
    long seconds = Math.clamp(time.getEpochSecond(), 0, 0xff_ffff_ffffL);
    Le.put32(sb, low, seconds);
    Le.put8(sb, high, (int) (seconds >>> 32));
  }

  private static UUID uuid(MemorySegment sb, int offset) {
    return new UUID(Be.u64(sb, offset), Be.u64(sb, offset + 8));
  }

  private static void putUuid(MemorySegment sb, int offset, UUID uuid) {
    Be.put64(sb, offset, uuid.getMostSignificantBits());
    Be.put64(sb, offset + 8, uuid.getLeastSignificantBits());
  }
}
