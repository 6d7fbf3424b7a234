package dev.extant.journal.batching;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Our own rule against traces worked out by hand.
class ExpectedRuleTest {
  private static final long MS = 1_000_000;
  private static final long MOST = 15 * MS;

  private final Trace trace = new Trace(new ExpectedRule(0, MOST));

  @Test
  void aLoneSyncerIsNeverHeldBack() {
    long now = 0;
    for (int i = 0; i < 100; i++) {
      assertThat(trace.asks(now, 1)).isLessThanOrEqualTo(0);
      trace.close(now);
      trace.answer(now + 10 * MS, 10 * MS);
      now += 10 * MS + (i % 7) * MS / 10;
    }
  }

  /// Two syncers that come back 0.1 ms after each answer, the commits taking 10 ms: the first of
  /// them waits for the second, and the second ends the wait.
  @Test
  void twoThatComeBackSoonAreCommittedTogether() {
    long now = together(40);
    assertThat(trace.asks(now + 100_000, 1)).isBetween(1L, 2 * MS);
    assertThat(trace.asks(now + 110_000, 2)).isLessThanOrEqualTo(0);
    trace.close(now + 110_000);
    Group group = trace.answer(now + 10_110_000, 10 * MS);
    assertThat(group.syncers()).isEqualTo(2);
    assertThat(group.expected()).isEqualTo(1);
    assertThat(group.expectedJoined()).isEqualTo(1);
    assertThat(group.hasHitBudget()).isFalse();
  }

  /// Has syncers 1 and 2 answered together so many times, each 0.1 ms after the last answer;
  /// returns the time of the last one.
  private long together(int times) {
    long now = 0;
    for (int i = 0; i < times; i++) {
      trace.asks(now + 100_000, 1);
      trace.asks(now + 110_000, 2);
      trace.close(now + 110_000);
      now += 110_000 + 10 * MS;
      trace.answer(now, 10 * MS);
    }
    return now;
  }

  @Test
  void whoIsOverdueIsNotWaitedFor() {
    long now = together(40);
    long wait = trace.asks(now + 100_000, 1);
    // Syncer 2 is usually there at 0.11 ms. It is soon given up.
    long given = now + 100_000 + wait;
    int looks = 0;
    for (long left = trace.look(given); left > 0; left = trace.look(given)) {
      given += left;
      looks++;
    }
    assertThat(given - now).isLessThan(MS);
    assertThat(looks).isLessThan(20);
    trace.close(given);
    Group group = trace.answer(given + 10 * MS, 10 * MS);
    assertThat(group.expected()).isEqualTo(1);
    assertThat(group.expectedJoined()).isZero();
    // The next time nobody else is expected.
    assertThat(trace.asks(given + 11 * MS, 1)).isLessThanOrEqualTo(0);
  }

  /// Of two syncers one is always away for longer than a commit takes.
  @Test
  void whoIsAwayForLongerThanACommitIsNotWaitedFor() {
    long now = 0;
    // The last time it asked was in round 57, so it will be there in round 60, after a whole
    // commit.
    for (int i = 0; i < 59; i++) {
      trace.asks(now, 1);
      if (i % 3 == 0) {
        trace.asks(now, 2);
      }
      trace.close(now);
      now += MS;
      trace.answer(now, MS);
      now += 50_000;
    }
    assertThat(trace.asks(now, 1)).isLessThanOrEqualTo(0);
  }

  /// The last commit took long, those before did not: what a wait may cost is measured by the
  /// shorter; and the other way round after a long time of slow commits.
  @Test
  void theWaitIsBoundByTheShorterOfTheAverageAndTheLastCommit() {
    long now = together(40);
    trace.asks(now + 100_000, 1);
    trace.asks(now + 110_000, 2);
    trace.close(now + 110_000);
    now += 1_000 * MS;
    trace.answer(now, 1_000 * MS);
    assertThat(held(now + 100_000)).isLessThan(10 * MS + 200_000);
  }

  @Test
  void noWaitIsLongerThanTheMost() {
    Trace slow = new Trace(new ExpectedRule(0, 2 * MS));
    long now = 0;
    // Syncer 2 comes 5 ms later than syncer 1, the commits take 100 ms.
    for (int i = 0; i < 40; i++) {
      slow.asks(now + MS, 1);
      slow.asks(now + 6 * MS, 2);
      slow.close(now + 6 * MS);
      now += 106 * MS;
      slow.answer(now, 100 * MS);
    }
    long left = slow.asks(now + MS, 1);
    long at = now + MS;
    while (left > 0) {
      at += left;
      left = slow.look(at);
    }
    assertThat(at - now - MS).isLessThanOrEqualTo(2 * MS);
  }

  private long held(long atNanos) {
    long at = atNanos;
    for (long left = trace.asks(at, 1); left > 0; left = trace.look(at)) {
      at += left;
    }
    return at - atNanos;
  }

  @Test
  void aLeastHoldsBackEvenTheLone() {
    Trace least = new Trace(new ExpectedRule(3 * MS, MOST));
    assertThat(least.asks(0, 1)).isEqualTo(3 * MS);
    assertThat(least.look(2 * MS)).isEqualTo(MS);
    assertThat(least.look(3 * MS)).isZero();
  }

  /// One returner saves F - w, each of the n present loses w. With F = 10 ms and a return due at 4
  /// ms, one present waits (10 - 4 > 4), but three do not (10 - 4 < 12).
  @Test
  void theWaitIsWorthMoreThanItCosts() {
    assertThat(waitsForOneDueAt4Ms(1)).isPositive();
    assertThat(waitsForOneDueAt4Ms(3)).isLessThanOrEqualTo(0);
  }

  private long waitsForOneDueAt4Ms(int present) {
    Trace one = new Trace(new ExpectedRule(0, MOST));
    long now = 0;
    for (int i = 0; i < 60; i++) {
      for (int syncer = 1; syncer <= present; syncer++) {
        one.asks(now, syncer);
      }
      one.asks(now + 4 * MS, 99);
      one.close(now + 4 * MS);
      now += 14 * MS;
      one.answer(now, 10 * MS);
    }
    long wait = 0;
    for (int syncer = 1; syncer <= present; syncer++) {
      wait = one.asks(now, syncer);
      if (syncer < present) {
        // The others come at the same time.
        wait = Math.max(wait, 0);
      }
    }
    return one.look(now);
  }

  /// More syncers than are remembered come and go; the ones that come back are still expected.
  @Test
  void strangersDoNotPushOutThoseWhoComeBack() {
    long stranger = 1_000;
    long now = 0;
    for (int i = 0; i < 5_000; i++) {
      trace.asks(now + 100_000, 1);
      trace.asks(now + 105_000, stranger++);
      trace.asks(now + 110_000, 2);
      trace.close(now + 110_000);
      now += 110_000 + 10 * MS;
      trace.answer(now, 10 * MS);
    }
    assertThat(trace.asks(now + 100_000, 1)).isPositive();
  }
}
