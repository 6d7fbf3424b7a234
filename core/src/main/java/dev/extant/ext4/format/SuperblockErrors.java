package dev.extant.ext4.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;

/// The record of errors found in a file system, kept in its superblock at 0x194 to 0x1FF and 0x278
/// to 0x27B (see [Superblock]): their number, the first one and the last one.
public final class SuperblockErrors {
  /// One error. `where` is at most 31 bytes of ASCII: which check found it. `errorCode` is the
  /// format's own number (s_last_error_errcode), 0 if unknown; `ino` and `blockNr` are 0 if
  /// unknown.
  public record Entry(Instant time, long ino, long blockNr, String where, int errorCode) {}

  private static final int WHERE_SIZE = 32;

  private SuperblockErrors() {}

  public static long count(MemorySegment sb) {
    return Le.u32(sb, 0x194);
  }

  /// Counts one more error and stores it as the last one, and as the first one if it is.
  public static void add(MemorySegment sb, Entry entry) {
    if (count(sb) == 0) {
      Superblock.putTime(sb, 0x198, 0x278, entry.time());
      Le.put32(sb, 0x19C, entry.ino());
      Le.put64(sb, 0x1A0, entry.blockNr());
      putWhere(sb, 0x1A8, entry.where());
      Le.put32(sb, 0x1C8, 0);
      Le.put8(sb, 0x27A, entry.errorCode());
    }
    Superblock.putTime(sb, 0x1CC, 0x279, entry.time());
    Le.put32(sb, 0x1D0, entry.ino());
    Le.put32(sb, 0x1D4, 0);
    Le.put64(sb, 0x1D8, entry.blockNr());
    putWhere(sb, 0x1E0, entry.where());
    Le.put8(sb, 0x27B, entry.errorCode());
    Le.put32(sb, 0x194, Math.min(count(sb) + 1, 0xffff_ffffL));
  }

  private static void putWhere(MemorySegment sb, int offset, String where) {
    byte[] bytes = Arrays.copyOf(where.getBytes(StandardCharsets.US_ASCII), WHERE_SIZE);
    bytes[WHERE_SIZE - 1] = 0;
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, sb, offset, WHERE_SIZE);
  }

  /// The first error; meaningful only if there is one.
  public static Entry first(MemorySegment sb) {
    return new Entry(
        Superblock.time(sb, 0x198, 0x278),
        Le.u32(sb, 0x19C),
        Le.u64(sb, 0x1A0),
        where(sb, 0x1A8),
        Le.u8(sb, 0x27A));
  }

  /// The last error; meaningful only if there is one.
  public static Entry last(MemorySegment sb) {
    return new Entry(
        Superblock.time(sb, 0x1CC, 0x279),
        Le.u32(sb, 0x1D0),
        Le.u64(sb, 0x1D8),
        where(sb, 0x1E0),
        Le.u8(sb, 0x27B));
  }

  private static String where(MemorySegment sb, int offset) {
    byte[] bytes = new byte[WHERE_SIZE];
    MemorySegment.copy(sb, offset, MemorySegment.ofArray(bytes), 0, WHERE_SIZE);
    int length = 0;
    while (length < WHERE_SIZE && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
