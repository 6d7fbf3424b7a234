package dev.extant.vfs;

/// How a commit is held back so that one serves many who wait: the mount options `batching=`,
/// `hz=`, `min_batch_time=` and `max_batch_time=`.
///
/// `hz` is the clock of the rules that count in jiffies, in ticks a second. `minMicros` is how long
/// `jbd2` and `expected` hold a commit back at least, `maxMicros` how long they and `zil` do at
/// most, in microseconds; a most of 0 means that none of the three ever does.
public record Batching(Rule rule, int hz, int minMicros, int maxMicros) {

  /// The rules by which the time of a commit is chosen.
  public enum Rule {
    /// A commit begins as soon as somebody asks for it and none is under way.
    NONE,

    /// What ext3 did until 2008: until the next tick, and again while handles keep coming.
    JIFFY,

    /// The patch of August 2008: as long as a commit takes on average, the newest weighing most.
    COMMIT_TIME,

    /// The same, but no longer than a jiffy.
    COMMIT_TIME_CAPPED,

    /// What jbd2 does for handles that are synchronous.
    JBD2,

    /// What OpenZFS does: a tenth of the time of a commit, if syncers came together lately.
    ZIL,

    /// Until those are back who are expected back soon, if that gains more than it costs.
    EXPECTED
  }

  public Batching {
    if (hz < 1 || hz > 1_000_000 || minMicros < 0 || maxMicros < 0) {
      throw new IllegalArgumentException(
          "no way to batch: hz=" + hz + ", from " + minMicros + " to " + maxMicros + " us");
    }
  }

  /// The rule of that name with a clock of 250 ticks a second, from 0 to 15 ms, as ext4 has it.
  public static Batching of(Rule rule) {
    return new Batching(rule, 250, 0, 15_000);
  }

  public Batching withRule(Rule value) {
    return new Batching(value, hz, minMicros, maxMicros);
  }

  public Batching withHz(int value) {
    return new Batching(rule, value, minMicros, maxMicros);
  }

  public Batching withMinMicros(int value) {
    return new Batching(rule, hz, value, maxMicros);
  }

  public Batching withMaxMicros(int value) {
    return new Batching(rule, hz, minMicros, value);
  }
}
