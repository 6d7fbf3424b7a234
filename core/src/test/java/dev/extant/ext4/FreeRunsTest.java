package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.util.Bits;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FreeRunsTest {
  private static final int BITS = 1024;

  private static MemorySegment bitmap() {
    return MemorySegment.ofArray(new long[BITS / 64]);
  }

  private static MemorySegment full() {
    MemorySegment bitmap = bitmap();
    Bits.setRange(bitmap, 0, BITS);
    return bitmap;
  }

  @Test
  void takesTheFirstRunLongEnoughBehindTheStart() {
    MemorySegment bitmap = full();
    Bits.clearRange(bitmap, 10, 100);
    Bits.clearRange(bitmap, 300, 305);
    Bits.clearRange(bitmap, 400, 420);
    FreeRuns runs = new FreeRuns(bitmap, null, BITS);
    assertThat(runs.find(200, 8)).isEqualTo(new FreeRuns.Run(400, 8, false));
    assertThat(runs.find(200, 5)).isEqualTo(new FreeRuns.Run(300, 5, false));
    assertThat(runs.find(410, 20)).isEqualTo(new FreeRuns.Run(10, 20, false));
  }

  @Test
  void takesTheLongestWhereNoneIsLongEnough() {
    MemorySegment bitmap = full();
    Bits.clearRange(bitmap, 10, 17);
    Bits.clearRange(bitmap, 300, 305);
    FreeRuns runs = new FreeRuns(bitmap, null, BITS);
    assertThat(runs.find(200, 8)).isEqualTo(new FreeRuns.Run(10, 7, true));
    assertThat(new FreeRuns(full(), null, BITS).find(200, 8).count()).isZero();
  }

  @Test
  void runAtTheStartIsCutAtItsLengthAndAtTheLimit() {
    FreeRuns runs = new FreeRuns(bitmap(), null, BITS - 3);
    assertThat(runs.at(5, 10)).isEqualTo(new FreeRuns.Run(5, 10, false));
    assertThat(runs.at(BITS - 10, 10).count()).isEqualTo(7);
    assertThat(runs.at(BITS - 3, 10).count()).isZero();
  }

  @Test
  void heldBitsCountAsSet() {
    MemorySegment held = bitmap();
    Bits.setRange(held, 0, 100);
    Bits.setRange(held, 104, BITS);
    FreeRuns runs = new FreeRuns(bitmap(), held, BITS);
    assertThat(runs.find(0, 50)).isEqualTo(new FreeRuns.Run(100, 4, true));
  }

  @Test
  void agreesWithASearchBitByBit() {
    long seed = 20_260_301;
    Random random = new Random(seed);
    for (int round = 0; round < 3_000; round++) {
      int limit = 64 + random.nextInt(BITS - 64);
      MemorySegment bitmap = bitmap();
      for (int i = random.nextInt(40); i > 0; i--) {
        int from = random.nextInt(BITS);
        Bits.setRange(bitmap, from, Math.min(BITS, from + 1 + random.nextInt(60)));
      }
      int from = random.nextInt(limit);
      int wanted = 1 + random.nextInt(90);
      FreeRuns.Run run = new FreeRuns(bitmap, null, limit).find(from, wanted);
      String context = "seed " + seed + " round " + round;
      for (int i = run.start(); i < run.start() + run.count(); i++) {
        assertThat(i < limit && !Bits.test(bitmap, i)).as(context).isTrue();
      }
      int longest = longest(bitmap, limit);
      if (run.count() < wanted) {
        // A run around the start is seen in two parts.
        assertThat(run.count()).as(context).isLessThanOrEqualTo(longest);
        assertThat(longest < wanted || splitBy(bitmap, limit, from, wanted)).as(context).isTrue();
      }
    }
  }

  private static int longest(MemorySegment bitmap, int limit) {
    int longest = 0;
    int length = 0;
    for (int i = 0; i < limit; i++) {
      length = Bits.test(bitmap, i) ? 0 : length + 1;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  private static boolean splitBy(MemorySegment bitmap, int limit, int from, int wanted) {
    int start = from;
    while (start > 0 && !Bits.test(bitmap, start - 1)) {
      start--;
    }
    int end = from;
    while (end < limit && !Bits.test(bitmap, end)) {
      end++;
    }
    return end - start >= wanted && end - from < wanted;
  }
}
