package dev.extant.journal.batching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.vfs.Batching;
import dev.extant.vfs.Batching.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The rules that are there to be compared with, against traces worked out by hand.
class OldRulesTest {
  private static final long MS = 1_000_000;

  private static Trace trace(Batching batching) {
    return new Trace(BatchingRules.create(batching));
  }

  @Test
  void noneCommitsAtOnce() {
    Trace trace = trace(Batching.of(Rule.NONE));
    assertThat(trace.asks(5 * MS, 1)).isZero();
    assertThat(trace.close(5 * MS)).isZero();
    assertThat(trace.asks(6 * MS, 2)).isEqualTo(Trace.IDLE);
    assertThat(trace.asks(6 * MS, 3)).isEqualTo(Trace.IDLE);
    Group first = trace.answer(7 * MS, 2 * MS);
    assertThat(first.syncers()).isEqualTo(1);
    assertThat(trace.look(7 * MS)).isZero();
    trace.close(7 * MS);
    assertThat(trace.answer(9 * MS, 2 * MS).syncers()).isEqualTo(2);
  }

  @Test
  void theJiffyLoopSleepsUntilTheNextTickAndAgainWhileHandlesCome() {
    // HZ=250: ticks at 4, 8, 12 ms.
    Trace trace = trace(Batching.of(Rule.JIFFY).withHz(250));
    trace.handle(5 * MS);
    assertThat(trace.asks(5 * MS, 1)).isEqualTo(3 * MS);
    trace.handle(6 * MS);
    // At 8 ms there is one handle more than at 5 ms: another jiffy.
    assertThat(trace.look(8 * MS)).isEqualTo(4 * MS);
    // At 12 ms there is none.
    assertThat(trace.look(12 * MS)).isZero();
    assertThat(trace.close(12 * MS)).isZero();
  }

  @Test
  void theJiffyLoopWaitsForThoseWhoSleepWithTheirHandlesOpen() {
    Trace trace = trace(Batching.of(Rule.JIFFY).withHz(250));
    trace.handle(1 * MS);
    assertThat(trace.asks(1 * MS, 1)).isEqualTo(3 * MS);
    trace.handle(2 * MS);
    trace.asks(2 * MS, 2);
    // At 4 ms syncer 1 sees a new handle and sleeps on; syncer 2 has seen it, and is the first up.
    assertThat(trace.look(4 * MS)).isZero();
    // Syncer 1 still has its handle open, until 8 ms.
    assertThat(trace.close(4 * MS)).isEqualTo(4 * MS);
    assertThat(trace.rule.lingerNanos(lastClosed(trace), 8 * MS)).isZero();
  }

  private static Group lastClosed(Trace trace) {
    return trace.answer(8 * MS, MS);
  }

  @Test
  void theJiffyLoopNeverSleepsForTheLastSyncer() {
    Trace trace = trace(Batching.of(Rule.JIFFY));
    trace.asks(1 * MS, 7);
    trace.look(4 * MS);
    trace.close(4 * MS);
    trace.answer(5 * MS, MS);
    assertThat(trace.asks(5 * MS, 7)).isZero();
    trace.close(5 * MS);
    trace.answer(6 * MS, MS);
    assertThat(trace.asks(6 * MS, 8)).isEqualTo(2 * MS);
  }

  @Test
  void thePatchOf2008SleepsAWholeAverageIfTheTransactionIsYounger() {
    Trace trace = trace(Batching.of(Rule.COMMIT_TIME));
    trace.commitOf(1, 0, 8 * MS);
    // The average is 8 ms. The same syncer never sleeps.
    trace.commitOf(1, 10 * MS, 4 * MS);
    // (3 * 4 + 8) / 4 = 5 ms.
    trace.handle(20 * MS);
    assertThat(trace.asks(21 * MS, 2)).isEqualTo(5 * MS);
    assertThat(trace.close(26 * MS)).isZero();
    trace.answer(31 * MS, 5 * MS);
    // As old as the average: too late to sleep.
    trace.handle(40 * MS);
    assertThat(trace.asks(45 * MS, 3)).isZero();
  }

  @Test
  void thePatchOf2008WaitsForALaterSleeperToo() {
    Trace trace = trace(Batching.of(Rule.COMMIT_TIME));
    trace.commitOf(1, 0, 8 * MS);
    trace.handle(10 * MS);
    assertThat(trace.asks(10 * MS, 2)).isEqualTo(8 * MS);
    trace.asks(13 * MS, 3);
    assertThat(trace.look(18 * MS)).isZero();
    // Syncer 3 sleeps until 21 ms, with its handle open.
    assertThat(trace.close(18 * MS)).isEqualTo(3 * MS);
  }

  @Test
  void cappedAtAJiffyItSleepsNoLongerThanThat() {
    Trace trace = trace(Batching.of(Rule.COMMIT_TIME_CAPPED).withHz(1000));
    trace.commitOf(1, 0, 8 * MS);
    assertThat(trace.asks(20 * MS, 2)).isEqualTo(1 * MS);
  }

  @Test
  void jbd2WeighsTheNewestCommitLeastAndKeepsToItsBounds() {
    Trace trace = trace(Batching.of(Rule.JBD2));
    trace.commitOf(1, 0, 8 * MS);
    trace.commitOf(1, 10 * MS, 4 * MS);
    // (4 + 3 * 8) / 4 = 7 ms.
    assertThat(trace.asks(20 * MS, 2)).isEqualTo(7 * MS);

    Trace atMost = trace(Batching.of(Rule.JBD2).withMaxMicros(2_000));
    atMost.commitOf(1, 0, 8 * MS);
    assertThat(atMost.asks(20 * MS, 2)).isEqualTo(2 * MS);

    Trace atLeast = trace(Batching.of(Rule.JBD2).withMinMicros(9_000));
    atLeast.commitOf(1, 0, 8 * MS);
    assertThat(atLeast.asks(20 * MS, 2)).isEqualTo(9 * MS);
  }

  @Test
  void zilWaitsATenthOfTheAverageIfSyncersCameTogether() {
    Trace trace = trace(Batching.of(Rule.ZIL));
    // The first syncer of an idle journal is alone.
    assertThat(trace.asks(0, 1)).isZero();
    trace.close(0);
    // Another comes while that is committed.
    trace.asks(3 * MS, 2);
    trace.answer(8 * MS, 8 * MS);
    // The average is 8 ms.
    assertThat(trace.look(8 * MS)).isEqualTo(800_000);
    assertThat(trace.look(8 * MS + 300_000)).isEqualTo(500_000);
    assertThat(trace.look(8 * MS + 800_000)).isZero();
  }

  @Test
  void zilForgetsThatSyncersCameTogether() {
    Trace trace = trace(Batching.of(Rule.ZIL));
    trace.asks(0, 1);
    trace.close(0);
    trace.asks(3 * MS, 2);
    trace.answer(8 * MS, 8 * MS);
    trace.look(9 * MS);
    trace.close(9 * MS);
    trace.answer(17 * MS, 8 * MS);
    for (int i = 0; i < 2; i++) {
      assertThat(trace.asks((20 + 10 * i) * MS, 1)).isPositive();
      trace.close((21 + 10 * i) * MS);
      trace.answer((29 + 10 * i) * MS, 8 * MS);
    }
    assertThat(trace.asks(60 * MS, 1)).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Rule.class,
      names = {"JBD2", "ZIL", "EXPECTED"})
  void aMostOfZeroTurnsTheRuleOff(Rule rule) {
    Trace trace = trace(Batching.of(rule).withMaxMicros(0));
    trace.commitOf(1, 0, 8 * MS);
    trace.asks(9 * MS, 1);
    trace.close(9 * MS);
    trace.asks(10 * MS, 2);
    trace.asks(10 * MS, 3);
    trace.answer(17 * MS, 8 * MS);
    assertThat(trace.look(17 * MS)).isLessThanOrEqualTo(0);
  }
}
