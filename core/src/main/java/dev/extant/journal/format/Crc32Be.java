package dev.extant.journal.format;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// CRC-32 with polynomial 0x04C11DB7, highest bit first, without inversion: the checksum of jbd2's
/// first checksum format. Only replay needs it.
public final class Crc32Be {
  private static final int POLYNOMIAL = 0x04C11DB7;
  private static final int[] TABLE = table();

  private Crc32Be() {}

  /// The usual start is `~0`; the result of one call is the seed of the next.
  public static int update(int seed, MemorySegment segment) {
    int crc = seed;
    for (long i = 0; i < segment.byteSize(); i++) {
      int octet = segment.get(ValueLayout.JAVA_BYTE, i) & 0xff;
      crc = crc << 8 ^ TABLE[crc >>> 24 ^ octet];
    }
    return crc;
  }

  private static int[] table() {
    int[] table = new int[256];
    for (int i = 0; i < 256; i++) {
      int crc = i << 24;
      for (int bit = 0; bit < 8; bit++) {
        crc = crc < 0 ? crc << 1 ^ POLYNOMIAL : crc << 1;
      }
      table[i] = crc;
    }
    return table;
  }
}
