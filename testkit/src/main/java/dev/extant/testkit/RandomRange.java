package dev.extant.testkit;

import dev.extant.vfs.AllocateMode;
import java.util.SplittableRandom;

/// A range of a file and what is to be done with it, for random workloads. Ranges to be moved are
/// multiples of [#UNIT_BYTES], which suits every block size up to that, or odd.
record RandomRange(AllocateMode mode, long offset, long lengthBytes) {
  static final long UNIT_BYTES = 4096;

  /// A range of up to `maxBytes` in or around a file of that size.
  static RandomRange of(SplittableRandom random, long sizeBytes, long maxBytes) {
    AllocateMode[] modes = AllocateMode.values();
    AllocateMode mode = modes[random.nextInt(modes.length)];
    long offset = random.nextLong(sizeBytes + (random.nextInt(4) == 0 ? maxBytes : 1));
    long length = 1 + random.nextLong(random.nextBoolean() ? maxBytes : 5_000);
    boolean whole = moves(mode) ? random.nextInt(10) > 0 : random.nextInt(3) == 0;
    if (whole) {
      offset -= offset % UNIT_BYTES;
      length = (length + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    }
    return new RandomRange(mode, offset, length);
  }

  static boolean moves(AllocateMode mode) {
    return mode == AllocateMode.COLLAPSE_RANGE || mode == AllocateMode.INSERT_RANGE;
  }

  long end() {
    return offset + lengthBytes;
  }
}
