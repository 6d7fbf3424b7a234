package dev.extant.journal.format;

import dev.extant.util.Be;
import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// `struct commit_header` (Linux documentation, "Journal (jbd2)"): ends a transaction.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | header |
/// | 0xC | h_chksum_type |
/// | 0xD | h_chksum_size |
/// | 0x10 | h_chksum[8]: v2, v3: [0] is the CRC-32C of uuid and block with this field zero; v1: [0] is the CRC-32 of the transaction's blocks |
/// | 0x30 | h_commit_sec |
/// | 0x38 | h_commit_nsec |
public final class CommitBlock {
  private static final int H_CHKSUM_TYPE = 0xC;
  private static final int H_CHKSUM_SIZE = 0xD;
  private static final int H_CHKSUM = 0x10;
  private static final int H_COMMIT_SEC = 0x30;
  private static final int H_COMMIT_NSEC = 0x38;
  private static final int CHECKSUM_SIZE = 4;
  private static final int TYPE_CRC32 = 1;

  private CommitBlock() {}

  /// Makes `block` the commit block of a transaction; `blocksCrc` is the CRC-32 of checksums v1,
  /// else not used.
  public static void write(
      LogFormat format, MemorySegment block, long tid, Instant time, int blocksCrc) {
    block.fill((byte) 0);
    BlockHeader.write(block, BlockHeader.COMMIT, tid);
    Be.put64(block, H_COMMIT_SEC, time.getEpochSecond());
    Be.put32(block, H_COMMIT_NSEC, time.getNano());
    if (format.blockChecksums()) {
      Be.put32(block, H_CHKSUM, checksum(format, block));
    } else if (format.checksums() == LogFormat.Checksums.V1) {
      Be.put8(block, H_CHKSUM_TYPE, TYPE_CRC32);
      Be.put8(block, H_CHKSUM_SIZE, CHECKSUM_SIZE);
      Be.put32(block, H_CHKSUM, blocksCrc);
    }
  }

  /// True if the commit block is whole and (v1) fits the transaction's blocks. A log with checksums
  /// v1 may hold commit blocks without any.
  public static boolean valid(LogFormat format, MemorySegment block, int blocksCrc) {
    int found = Be.i32(block, H_CHKSUM);
    return switch (format.checksums()) {
      case NONE -> true;
      case V2, V3 -> found == checksum(format, block);
      case V1 -> {
        int type = Be.u8(block, H_CHKSUM_TYPE);
        int size = Be.u8(block, H_CHKSUM_SIZE);
        yield type == TYPE_CRC32 && size == CHECKSUM_SIZE && found == blocksCrc
            || type == 0 && size == 0 && found == 0;
      }
    };
  }

  private static int checksum(LogFormat format, MemorySegment block) {
    int crc = Crc32c.update(format.seed(), block, 0, H_CHKSUM);
    crc = Crc32c.updateZeroes(crc, CHECKSUM_SIZE);
    long rest = H_CHKSUM + CHECKSUM_SIZE;
    return Crc32c.update(crc, block, rest, block.byteSize() - rest);
  }

  public static Instant time(MemorySegment block) {
    long seconds = Be.u64(block, H_COMMIT_SEC);
    long bounded = Math.clamp(seconds, Instant.MIN.getEpochSecond(), Instant.MAX.getEpochSecond());
    return Instant.ofEpochSecond(bounded).plusNanos(Be.u32(block, H_COMMIT_NSEC) % 1_000_000_000);
  }
}
