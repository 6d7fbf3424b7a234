package dev.extant.util;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Little-endian access to a [MemorySegment], for ext2/3/4 structures (`__le16`, `__le32`,
/// `__le64`).
///
/// Unsigned values widen: a `u16` is an `int`, a `u32` is a `long`. A `u64` stays a `long` with its
/// bits as they are. Offsets are in bytes from the start of the segment; an access outside it
/// throws [IndexOutOfBoundsException].
public final class Le {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Le() {}

  public static int u8(MemorySegment segment, long offset) {
    return segment.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
  }

  public static int u16(MemorySegment segment, long offset) {
    return segment.get(SHORT, offset) & 0xffff;
  }

  public static long u32(MemorySegment segment, long offset) {
    return segment.get(INT, offset) & 0xffff_ffffL;
  }

  public static int i32(MemorySegment segment, long offset) {
    return segment.get(INT, offset);
  }

  public static long u64(MemorySegment segment, long offset) {
    return segment.get(LONG, offset);
  }

  public static void put8(MemorySegment segment, long offset, int value) {
    segment.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
  }

  public static void put16(MemorySegment segment, long offset, int value) {
    segment.set(SHORT, offset, (short) value);
  }

  public static void put32(MemorySegment segment, long offset, long value) {
    segment.set(INT, offset, (int) value);
  }

  public static void put64(MemorySegment segment, long offset, long value) {
    segment.set(LONG, offset, value);
  }
}
