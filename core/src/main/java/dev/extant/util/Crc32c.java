package dev.extant.util;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) with the seed as a running state and no
/// inversion before or after, as ext4 and jbd2 use it. The usual start is `~0`; the result of one
/// call is the seed of the next.
///
/// The JDK's [CRC32C] is fast but always starts with the state `~0`. Four bytes carry it to any
/// state: over four bytes the state's step is a bijection `L(state ^ bytes)`, so the bytes are `~0
/// ^ L⁻¹(seed)`.
public final class Crc32c {
  private static final int POLYNOMIAL = 0x82F63B78;

  /// Below this the table loop is faster than setting up the JDK's class.
  private static final int SHORT_LENGTH = 24;

  private static final int[] TABLE = table();

  /// For each top byte of a table entry the index of that entry.
  private static final byte[] REVERSE = reverse();

  private Crc32c() {}

  public static int update(int seed, MemorySegment segment) {
    return update(seed, segment, 0, segment.byteSize());
  }

  public static int update(int seed, MemorySegment segment, long offset, long length) {
    if (length < SHORT_LENGTH) {
      int state = seed;
      for (long i = offset; i < offset + length; i++) {
        state = step(state, Le.u8(segment, i));
      }
      return state;
    }
    CRC32C crc = startingAt(seed);
    crc.update(segment.asSlice(offset, length).asByteBuffer());
    return ~(int) crc.getValue();
  }

  public static int update(int seed, byte[] bytes) {
    return update(seed, MemorySegment.ofArray(bytes));
  }

  /// Over the four bytes of `value`, lowest first.
  public static int updateLe32(int seed, int value) {
    int state = seed ^ value;
    for (int i = 0; i < 4; i++) {
      state = step(state, 0);
    }
    return state;
  }

  /// Over the four bytes of `value`, highest first.
  public static int updateBe32(int seed, int value) {
    return updateLe32(seed, Integer.reverseBytes(value));
  }

  /// Over the eight bytes of `value`, lowest first.
  public static int updateLe64(int seed, long value) {
    return updateLe32(updateLe32(seed, (int) value), (int) (value >>> 32));
  }

  /// Over `count` bytes of zero; for fields that count as zero in their own checksum.
  public static int updateZeroes(int seed, int count) {
    int state = seed;
    for (int i = 0; i < count; i++) {
      state = step(state, 0);
    }
    return state;
  }

  /// The seed from which [#updateZeroes] leads to `state`.
  public static int beforeZeroes(int state, int count) {
    int before = state;
    for (int i = 0; i < count; i++) {
      int index = REVERSE[before >>> 24] & 0xff;
      before = (before ^ TABLE[index]) << 8 | index;
    }
    return before;
  }

  private static int step(int state, int octet) {
    return TABLE[(state ^ octet) & 0xff] ^ state >>> 8;
  }

  private static CRC32C startingAt(int seed) {
    CRC32C crc = new CRC32C();
    if (seed != ~0) {
      int bytes = ~beforeZeroes(seed, 4);
      for (int i = 0; i < 4; i++) {
        crc.update(bytes >>> 8 * i & 0xff);
      }
    }
    return crc;
  }

  private static int[] table() {
    int[] table = new int[256];
    for (int i = 0; i < 256; i++) {
      int state = i;
      for (int bit = 0; bit < 8; bit++) {
        state = (state & 1) != 0 ? state >>> 1 ^ POLYNOMIAL : state >>> 1;
      }
      table[i] = state;
    }
    return table;
  }

  private static byte[] reverse() {
    byte[] reverse = new byte[256];
    for (int i = 0; i < 256; i++) {
      reverse[TABLE[i] >>> 24] = (byte) i;
    }
    return reverse;
  }
}
