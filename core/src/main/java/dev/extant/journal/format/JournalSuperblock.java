package dev.extant.journal.format;

import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;

/// `struct journal_superblock_s` (Linux documentation, "Journal (jbd2)"): the first 1,024 bytes of
/// the journal's first block, edited in place.
///
/// | offset | field | | offset | field |
/// | --- | --- | --- | --- | --- |
/// | 0x00 | s_header | | 0x2C | s_feature_ro_compat |
/// | 0x0C | s_blocksize | | 0x30 | s_uuid[16] |
/// | 0x10 | s_maxlen | | 0x40 | s_nr_users |
/// | 0x14 | s_first | | 0x48 | s_max_transaction |
/// | 0x18 | s_sequence | | 0x50 | s_checksum_type |
/// | 0x1C | s_start | | 0x54 | s_num_fc_blks |
/// | 0x20 | s_errno | | 0xFC | s_checksum |
/// | 0x24 | s_feature_compat | | 0x100 | s_users[16*48] |
/// | 0x28 | s_feature_incompat | | | |
///
/// The fields from 0x24 on are there in version 2 only (block type 4).
public final class JournalSuperblock {
  public static final int SIZE = 1024;

  public static final long COMPAT_CHECKSUM = 0x1;
  public static final long INCOMPAT_REVOKE = 0x1;
  public static final long INCOMPAT_64BIT = 0x2;
  public static final long INCOMPAT_ASYNC_COMMIT = 0x4;
  public static final long INCOMPAT_CSUM_V2 = 0x8;
  public static final long INCOMPAT_CSUM_V3 = 0x10;
  public static final long INCOMPAT_FAST_COMMIT = 0x20;
  public static final int CHECKSUM_TYPE_CRC32C = 4;

  private static final int S_BLOCKSIZE = 0x0C;
  private static final int S_MAXLEN = 0x10;
  private static final int S_FIRST = 0x14;
  private static final int S_SEQUENCE = 0x18;
  private static final int S_START = 0x1C;
  private static final int S_ERRNO = 0x20;
  private static final int S_FEATURE_COMPAT = 0x24;
  private static final int S_FEATURE_INCOMPAT = 0x28;
  private static final int S_FEATURE_RO_COMPAT = 0x2C;
  private static final int S_UUID = 0x30;
  private static final int S_NR_USERS = 0x40;
  private static final int S_CHECKSUM_TYPE = 0x50;
  private static final int S_NUM_FC_BLKS = 0x54;
  private static final int S_CHECKSUM = 0xFC;
  private static final int DEFAULT_FAST_COMMIT_BLOCKS = 256;

  private JournalSuperblock() {}

  /// Makes `superblock` that of an empty journal. `incompat` are features of the journal, none of
  /// which a new journal needs: who writes to it sets them. The segment may be a whole block.
  public static void initialise(
      MemorySegment superblock, int blockSizeBytes, long lengthBlocks, byte[] uuid, long incompat) {
    superblock.fill((byte) 0);
    BlockHeader.write(superblock, BlockHeader.SUPERBLOCK_V2, 0);
    Be.put32(superblock, S_BLOCKSIZE, blockSizeBytes);
    Be.put32(superblock, S_MAXLEN, lengthBlocks);
    Be.put32(superblock, S_FIRST, 1);
    Be.put32(superblock, S_SEQUENCE, 1);
    MemorySegment.copy(MemorySegment.ofArray(uuid), 0, superblock, S_UUID, LogFormat.UUID_SIZE);
    Be.put32(superblock, S_NR_USERS, 1);
    incompat(superblock, incompat);
    seal(superblock);
  }

  public static long version(MemorySegment superblock) {
    return BlockHeader.type(superblock) == BlockHeader.SUPERBLOCK_V1 ? 1 : 2;
  }

  /// Gives a version 1 superblock the fields of version 2, all zero.
  public static void upgrade(MemorySegment superblock) {
    superblock.asSlice(S_FEATURE_COMPAT, SIZE - S_FEATURE_COMPAT).fill((byte) 0);
    Be.put32(superblock, 4, BlockHeader.SUPERBLOCK_V2);
    Be.put32(superblock, S_NR_USERS, 1);
  }

  public static long blockSizeBytes(MemorySegment superblock) {
    return Be.u32(superblock, S_BLOCKSIZE);
  }

  public static long lengthBlocks(MemorySegment superblock) {
    return Be.u32(superblock, S_MAXLEN);
  }

  public static long first(MemorySegment superblock) {
    return Be.u32(superblock, S_FIRST);
  }

  /// The tid of the first transaction that may be in the log.
  public static long sequence(MemorySegment superblock) {
    return Be.u32(superblock, S_SEQUENCE);
  }

  public static void sequence(MemorySegment superblock, long tid) {
    Be.put32(superblock, S_SEQUENCE, tid);
  }

  /// Where the log begins; 0 if it is empty.
  public static long start(MemorySegment superblock) {
    return Be.u32(superblock, S_START);
  }

  public static void start(MemorySegment superblock, long logBlock) {
    Be.put32(superblock, S_START, logBlock);
  }

  /// What an abort recorded: 0 or a negative number of Linux's errno list.
  public static int errno(MemorySegment superblock) {
    return Be.i32(superblock, S_ERRNO);
  }

  public static void errno(MemorySegment superblock, int value) {
    Be.put32(superblock, S_ERRNO, value);
  }

  public static long compat(MemorySegment superblock) {
    return version(superblock) == 1 ? 0 : Be.u32(superblock, S_FEATURE_COMPAT);
  }

  public static void compat(MemorySegment superblock, long features) {
    Be.put32(superblock, S_FEATURE_COMPAT, features);
  }

  public static long incompat(MemorySegment superblock) {
    return version(superblock) == 1 ? 0 : Be.u32(superblock, S_FEATURE_INCOMPAT);
  }

  /// Sets the incompat features, and the type of checksum where they ask for one.
  public static void incompat(MemorySegment superblock, long features) {
    Be.put32(superblock, S_FEATURE_INCOMPAT, features);
    boolean checksummed = (features & (INCOMPAT_CSUM_V2 | INCOMPAT_CSUM_V3)) != 0;
    Be.put8(superblock, S_CHECKSUM_TYPE, checksummed ? CHECKSUM_TYPE_CRC32C : 0);
  }

  public static long roCompat(MemorySegment superblock) {
    return version(superblock) == 1 ? 0 : Be.u32(superblock, S_FEATURE_RO_COMPAT);
  }

  public static byte[] uuid(MemorySegment superblock) {
    byte[] uuid = new byte[LogFormat.UUID_SIZE];
    if (version(superblock) > 1) {
      MemorySegment.copy(superblock, S_UUID, MemorySegment.ofArray(uuid), 0, LogFormat.UUID_SIZE);
    }
    return uuid;
  }

  public static long userCount(MemorySegment superblock) {
    return version(superblock) == 1 ? 1 : Be.u32(superblock, S_NR_USERS);
  }

  public static int checksumType(MemorySegment superblock) {
    return Be.u8(superblock, S_CHECKSUM_TYPE);
  }

  /// How many blocks at the end are kept for fast commits.
  public static long fastCommitBlocks(MemorySegment superblock) {
    if ((incompat(superblock) & INCOMPAT_FAST_COMMIT) == 0) {
      return 0;
    }
    long count = Be.u32(superblock, S_NUM_FC_BLKS);
    return count == 0 ? DEFAULT_FAST_COMMIT_BLOCKS : count;
  }

  /// Stores the checksum, where the features ask for one.
  public static void seal(MemorySegment superblock) {
    if (checksummed(superblock)) {
      Be.put32(superblock, S_CHECKSUM, checksum(superblock));
    }
  }

  /// True if the checksum fits or there is none.
  public static boolean valid(MemorySegment superblock) {
    return !checksummed(superblock) || Be.i32(superblock, S_CHECKSUM) == checksum(superblock);
  }

  private static boolean checksummed(MemorySegment superblock) {
    return (incompat(superblock) & (INCOMPAT_CSUM_V2 | INCOMPAT_CSUM_V3)) != 0;
  }

  private static int checksum(MemorySegment superblock) {
    int crc = Crc32c.update(~0, superblock, 0, S_CHECKSUM);
    crc = Crc32c.updateZeroes(crc, 4);
    return Crc32c.update(crc, superblock, S_CHECKSUM + 4, SIZE - S_CHECKSUM - 4);
  }
}
