package dev.extant.util;

import java.lang.foreign.MemorySegment;

/// CRC-16 (ANSI polynomial 0x8005, reflected: 0xA001) with the seed as a running state and no
/// inversion, as group descriptors under `uninit_bg` use it. Results are 16 bits.
public final class Crc16 {
  private static final int POLYNOMIAL = 0xA001;
  private static final int[] TABLE = table();

  private Crc16() {}

  public static int update(int seed, MemorySegment segment, long offset, long length) {
    int state = seed & 0xffff;
    for (long i = offset; i < offset + length; i++) {
      state = step(state, Le.u8(segment, i));
    }
    return state;
  }

  /// Over the four bytes of `value`, lowest first.
  public static int updateLe32(int seed, int value) {
    int state = seed & 0xffff;
    for (int i = 0; i < 4; i++) {
      state = step(state, value >>> 8 * i & 0xff);
    }
    return state;
  }

  private static int step(int state, int octet) {
    return TABLE[(state ^ octet) & 0xff] ^ state >>> 8;
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
}
