package dev.extant.journal.batching;

import java.util.ArrayList;
import java.util.List;

/// `batching=jiffy`: what ext3 did until 2008. A syncer sleeps until the next tick of the clock,
/// and again as long as new handles joined the transaction meanwhile.
///
/// Ticks are the multiples of a jiffy on the clock of `nowNanos`. What happened at a tick is worked
/// out when the committer asks next, which is at that tick unless the machine is late.
final class JiffyLoop extends SleepingRule {
  /// A syncer that sleeps, and how many handles there were when it last looked.
  private static final class Sleeper {
    private long seenHandles;

    private Sleeper(long seenHandles) {
      this.seenHandles = seenHandles;
    }
  }

  private final long jiffyNanos;
  private final List<Sleeper> sleepers = new ArrayList<>();
  private Group sleepersGroup;
  private long nextTickNanos;

  JiffyLoop(int hz) {
    this.jiffyNanos = 1_000_000_000L / hz;
  }

  @Override
  long sleepNanos(Group group, long nowNanos) {
    tick(group, nowNanos);
    if (sleepersGroup != group) {
      sleepers.clear();
      sleepersGroup = group;
    }
    if (sleepers.isEmpty()) {
      nextTickNanos = tickAfter(nowNanos);
    }
    sleepers.add(new Sleeper(group.handles()));
    return nextTickNanos - nowNanos;
  }

  private long tickAfter(long nowNanos) {
    return (Math.floorDiv(nowNanos, jiffyNanos) + 1) * jiffyNanos;
  }

  /// Whoever sleeps may not be over before it looked again, so only those that did end the wait.
  @Override
  void fellAsleep(Group group, long wakeNanos) {}

  @Override
  public long waitNanos(Group group, long nowNanos) {
    tick(group, nowNanos);
    long woken = super.waitNanos(group, nowNanos);
    return woken <= 0 || !sleepsIn(group) ? woken : Math.min(woken, nextTickNanos - nowNanos);
  }

  @Override
  public long lingerNanos(Group group, long nowNanos) {
    tick(group, nowNanos);
    return sleepsIn(group) ? nextTickNanos - nowNanos : 0;
  }

  private boolean sleepsIn(Group group) {
    return sleepersGroup == group && !sleepers.isEmpty();
  }

  private void tick(Group group, long nowNanos) {
    while (sleepsIn(group) && nowNanos >= nextTickNanos) {
      boolean someWoke = sleepers.removeIf(sleeper -> sleeper.seenHandles == group.handles());
      sleepers.forEach(sleeper -> sleeper.seenHandles = group.handles());
      if (someWoke) {
        group.wokenNanos = Math.min(group.wokenNanos, nextTickNanos);
      }
      nextTickNanos += jiffyNanos;
    }
  }
}
