package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RevokesTest {
  @Test
  void theSetHoldsWhatWasAddedAndNotCancelled() {
    Random random = new Random(7);
    RevokeSet set = new RevokeSet();
    TreeSet<Long> expected = new TreeSet<>();
    for (int i = 0; i < 200_000; i++) {
      long blockNr = random.nextInt(3000) * 1_000_003L;
      if (random.nextInt(5) < 2) {
        set.cancel(blockNr);
        expected.remove(blockNr);
      } else {
        set.add(blockNr);
        expected.add(blockNr);
      }
      assertThat(set.size()).isEqualTo(expected.size());
    }
    long[] sorted = expected.stream().mapToLong(Long::longValue).toArray();
    assertThat(set.sorted()).isEqualTo(sorted);
  }

  @Test
  void theTableKnowsTheLastRevokeOfEachBlock() {
    Random random = new Random(8);
    RevokeTable table = new RevokeTable();
    Map<Long, Integer> expected = new HashMap<>();
    for (int transaction = 0; transaction < 300; transaction++) {
      for (int i = 0; i < 50; i++) {
        long blockNr = random.nextInt(5000);
        table.revoke(blockNr, transaction);
        expected.put(blockNr, transaction);
      }
    }
    for (long blockNr = 0; blockNr < 6000; blockNr++) {
      int last = expected.getOrDefault(blockNr, -1);
      assertThat(table.revoked(blockNr, last + 1)).isFalse();
      if (last >= 0) {
        assertThat(table.revoked(blockNr, last)).isTrue();
        assertThat(table.revoked(blockNr, 0)).isTrue();
      }
    }
  }
}
