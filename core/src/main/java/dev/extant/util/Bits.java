package dev.extant.util;

import java.lang.foreign.MemorySegment;

/// Bitmaps in ext4's order over a [MemorySegment]: bit `i` is bit `i % 8` (lowest first) of byte `i
/// / 8`. Scans go word by word.
///
/// Ranges are `from` (inclusive) to `limit` (exclusive) and lie within the segment.
public final class Bits {
  private Bits() {}

  public static boolean test(MemorySegment bitmap, int bit) {
    return (Le.u8(bitmap, bit >>> 3) >>> (bit & 7) & 1) != 0;
  }

  public static void set(MemorySegment bitmap, int bit) {
    Le.put8(bitmap, bit >>> 3, Le.u8(bitmap, bit >>> 3) | 1 << (bit & 7));
  }

  public static void clear(MemorySegment bitmap, int bit) {
    Le.put8(bitmap, bit >>> 3, Le.u8(bitmap, bit >>> 3) & ~(1 << (bit & 7)));
  }

  public static void setRange(MemorySegment bitmap, int from, int limit) {
    fill(bitmap, from, limit, true);
  }

  public static void clearRange(MemorySegment bitmap, int from, int limit) {
    fill(bitmap, from, limit, false);
  }

  /// The first bit that is 0 in the range, or `limit`.
  public static int nextClear(MemorySegment bitmap, int from, int limit) {
    return next(bitmap, from, limit, -1L);
  }

  /// The first bit that is 1 in the range, or `limit`.
  public static int nextSet(MemorySegment bitmap, int from, int limit) {
    return next(bitmap, from, limit, 0);
  }

  /// How many bits of the range are 1.
  public static int countSet(MemorySegment bitmap, int from, int limit) {
    int count = 0;
    for (int at = from; at < limit; ) {
      int base = at & ~63;
      count += Long.bitCount(word(bitmap, base) & mask(at - base, limit - base));
      at = base + 64;
    }
    return count;
  }

  private static int next(MemorySegment bitmap, int from, int limit, long flip) {
    for (int at = from; at < limit; ) {
      int base = at & ~63;
      long wanted = (word(bitmap, base) ^ flip) & mask(at - base, limit - base);
      if (wanted != 0) {
        return base + Long.numberOfTrailingZeros(wanted);
      }
      at = base + 64;
    }
    return limit;
  }

  private static void fill(MemorySegment bitmap, int from, int limit, boolean value) {
    if (from >= limit) {
      return;
    }
    int firstByte = from >>> 3;
    int lastByte = limit - 1 >>> 3;
    int firstMask = 0xff << (from & 7) & 0xff;
    int lastMask = 0xff >>> 7 - (limit - 1 & 7);
    if (firstByte == lastByte) {
      mergeByte(bitmap, firstByte, firstMask & lastMask, value);
      return;
    }
    mergeByte(bitmap, lastByte, lastMask, value);
    mergeByte(bitmap, firstByte, firstMask, value);
    bitmap.asSlice(firstByte + 1, lastByte - firstByte - 1).fill((byte) (value ? -1 : 0));
  }

  private static void mergeByte(MemorySegment bitmap, int index, int mask, boolean value) {
    int old = Le.u8(bitmap, index);
    Le.put8(bitmap, index, value ? old | mask : old & ~mask);
  }

  /// Ones from bit `from` up to, not including, bit `limit` of a word; either may lie outside it.
  private static long mask(int from, int limit) {
    return -1L << from & (limit >= 64 ? -1L : (1L << limit) - 1);
  }

  /// The 64 bits from `base` (a multiple of 64) on. A segment that ends within them yields zeroes
  /// there.
  private static long word(MemorySegment bitmap, int base) {
    long offset = base >>> 3;
    long left = bitmap.byteSize() - offset;
    if (left >= 8) {
      return Le.u64(bitmap, offset);
    }
    long word = 0;
    for (int i = 0; i < left; i++) {
      word |= (long) Le.u8(bitmap, offset + i) << 8 * i;
    }
    return word;
  }
}
