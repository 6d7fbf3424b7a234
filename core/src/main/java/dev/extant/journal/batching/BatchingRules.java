package dev.extant.journal.batching;

import dev.extant.vfs.Batching;
import java.util.concurrent.TimeUnit;

/// Makes the rule that a mount option names.
public final class BatchingRules {
  private BatchingRules() {}

  /// A new rule, for one journal.
  public static BatchingRule create(Batching batching) {
    long minNanos = TimeUnit.MICROSECONDS.toNanos(batching.minMicros());
    long maxNanos = TimeUnit.MICROSECONDS.toNanos(batching.maxMicros());
    return switch (batching.rule()) {
      case NONE -> new NoWait();
      case JIFFY -> new JiffyLoop(batching.hz());
      case COMMIT_TIME -> CommitTime.posted();
      case COMMIT_TIME_CAPPED -> CommitTime.capped(batching.hz());
      case JBD2 -> maxNanos == 0 ? new NoWait() : CommitTime.jbd2(minNanos, maxNanos);
      case ZIL -> new ZilRule(maxNanos);
      case EXPECTED -> maxNanos == 0 ? new NoWait() : new ExpectedRule(minNanos, maxNanos);
    };
  }
}
