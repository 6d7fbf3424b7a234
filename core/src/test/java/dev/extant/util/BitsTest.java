package dev.extant.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class BitsTest {
  @Test
  void bitZeroIsTheLowestOfTheFirstByte() {
    MemorySegment bitmap = MemorySegment.ofArray(new byte[2]);
    Bits.set(bitmap, 0);
    Bits.set(bitmap, 9);
    assertThat(Le.u16(bitmap, 0)).isEqualTo(0x0201);
    Bits.clear(bitmap, 0);
    assertThat(Bits.test(bitmap, 0)).isFalse();
    assertThat(Bits.test(bitmap, 9)).isTrue();
  }

  /// Sizes that are no multiple of 8 bytes too.
  @Test
  void agreesWithABitSetOnRandomRanges() {
    long seed = 11;
    Random random = new Random(seed);
    for (int round = 0; round < 300; round++) {
      int size = 8 * (1 + random.nextInt(70));
      MemorySegment bitmap = MemorySegment.ofArray(new byte[size / 8]);
      BitSet model = new BitSet(size);
      for (int step = 0; step < 20; step++) {
        int from = random.nextInt(size + 1);
        int limit = from + random.nextInt(size - from + 1);
        if (random.nextBoolean()) {
          Bits.setRange(bitmap, from, limit);
          model.set(from, limit);
        } else {
          Bits.clearRange(bitmap, from, limit);
          model.clear(from, limit);
        }
        compare(bitmap, model, random.nextInt(size + 1), size, seed, round);
      }
    }
  }

  private static void compare(
      MemorySegment bitmap, BitSet model, int from, int size, long seed, int round) {
    String where = "seed " + seed + ", round " + round + ", from " + from + " of " + size;
    int set = model.nextSetBit(from);
    assertThat(Bits.nextSet(bitmap, from, size)).as(where).isEqualTo(set < 0 ? size : set);
    int clear = Math.min(model.nextClearBit(from), size);
    assertThat(Bits.nextClear(bitmap, from, size)).as(where).isEqualTo(clear);
    assertThat(Bits.countSet(bitmap, from, size))
        .as(where)
        .isEqualTo(model.get(from, size).cardinality());
    int limit = from + (size - from) / 2;
    assertThat(Bits.countSet(bitmap, from, limit))
        .as(where)
        .isEqualTo(model.get(from, limit).cardinality());
    assertThat(Bits.nextSet(bitmap, from, limit))
        .as(where)
        .isEqualTo(set < 0 || set > limit ? limit : set);
  }
}
