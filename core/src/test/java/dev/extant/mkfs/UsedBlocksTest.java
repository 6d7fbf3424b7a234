package dev.extant.mkfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class UsedBlocksTest {
  private static final int BLOCKS = 500;

  @Test
  void agreesWithABitSet() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      int first = random.nextInt(2);
      UsedBlocks used = new UsedBlocks(first, BLOCKS);
      BitSet model = new BitSet(BLOCKS);
      model.set(0, first);
      for (int step = 0; step < 40; step++) {
        int goal = random.nextInt(BLOCKS);
        int count = 1 + random.nextInt(12);
        if (random.nextBoolean()) {
          int limit = goal + random.nextInt(BLOCKS - goal + 1);
          int expected = firstRow(model, goal, count, limit);
          assertThat(used.takeRow(goal, count, limit)).as("seed %d", seed).isEqualTo(expected);
          if (expected >= 0) {
            model.set(expected, expected + count);
          }
        } else {
          takeAny(used, model, goal, count, seed);
        }
        int from = random.nextInt(BLOCKS);
        int to = from + random.nextInt(BLOCKS - from + 1);
        assertThat(used.countUsed(from, to))
            .as("seed %d", seed)
            .isEqualTo(model.get(from, to).cardinality());
      }
      BitSet seen = new BitSet(BLOCKS);
      used.forEachRun(0, BLOCKS, run -> seen.set((int) run.blockNr(), (int) run.end()));
      assertThat(seen).as("seed %d", seed).isEqualTo(model);
    }
  }

  private static int firstRow(BitSet model, int goal, int count, int limit) {
    for (int at = goal; at + count <= limit; at++) {
      if (model.get(at, at + count).isEmpty()) {
        return at;
      }
    }
    return -1;
  }

  private static void takeAny(UsedBlocks used, BitSet model, int goal, int count, int seed) {
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < BLOCKS && expected.size() < count; i++) {
      int blockNr = (goal + i) % BLOCKS;
      if (!model.get(blockNr)) {
        expected.add((long) blockNr);
        model.set(blockNr);
      }
    }
    List<UsedBlocks.Run> runs = used.takeAny(goal, count);
    if (expected.size() < count) {
      assertThat(runs).as("seed %d", seed).isNull();
      return;
    }
    List<Long> taken = new ArrayList<>();
    for (UsedBlocks.Run run : runs) {
      for (long blockNr = run.blockNr(); blockNr < run.end(); blockNr++) {
        taken.add(blockNr);
      }
    }
    assertThat(taken).as("seed %d", seed).isEqualTo(expected);
  }
}
