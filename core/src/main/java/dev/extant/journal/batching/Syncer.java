package dev.extant.journal.batching;

/// What is known of one syncer: when it was answered last, and how long it usually takes to come
/// back from there.
///
/// The return delay is an average that weighs the newest with 1/8, and its deviation one that
/// weighs it with 1/4, as for the round trips of TCP.
final class Syncer {
  /// No return is expected before it has been seen once.
  private static final double UNKNOWN = -1;

  /// A syncer whose deviation is at most this part of its delay comes at its time; others come at
  /// any time around it.
  private static final double REGULAR = 0.35;

  private static final double SLACK_NANOS = 1_000;
  private static final double IRREGULAR_SLACK_NANOS = 500;

  private long answeredNanos;
  private boolean answered;
  private boolean waits;

  /// It is in the rule's list of those outside.
  boolean listed;

  private double delayNanos = UNKNOWN;
  private double deviationNanos;

  /// It asks, `mostNanos` being the longest delay worth knowing: how much longer it was away does
  /// not matter, and would only hide for a while that it is quick again.
  void asks(long nowNanos, double mostNanos) {
    if (answered && !waits) {
      double sample = Math.min(nowNanos - answeredNanos, mostNanos);
      if (delayNanos == UNKNOWN) {
        delayNanos = sample;
        deviationNanos = sample / 2;
      } else {
        deviationNanos += (Math.abs(sample - delayNanos) - deviationNanos) / 4;
        delayNanos += (sample - delayNanos) / 8;
      }
    }
    waits = true;
  }

  void isAnswered(long nowNanos) {
    answered = true;
    waits = false;
    answeredNanos = nowNanos;
  }

  boolean waits() {
    return waits;
  }

  private boolean regular() {
    return deviationNanos <= REGULAR * delayNanos;
  }

  /// True if it is not to be expected any more before it asks again.
  boolean overdue(long nowNanos) {
    double elapsed = nowNanos - answeredNanos;
    return delayNanos == UNKNOWN || elapsed >= latestNanos();
  }

  private double latestNanos() {
    return regular()
        ? delayNanos + 4 * deviationNanos + SLACK_NANOS
        : delayNanos + 2 * deviationNanos + IRREGULAR_SLACK_NANOS;
  }

  /// Adds to `returns[g]` how probable it is that it asks within the first `g` steps of
  /// `budgetNanos / (returns.length - 1)` from now. Returns false, and adds nothing, if it is not
  /// expected within the budget.
  boolean addReturns(double[] returns, double budgetNanos, long nowNanos) {
    double elapsed = nowNanos - answeredNanos;
    return regular()
        ? addStep(returns, budgetNanos, elapsed)
        : addRamp(returns, budgetNanos, elapsed);
  }

  /// It comes a deviation after its average delay; if that is over, within the rest of what is left
  /// to it.
  private boolean addStep(double[] returns, double budgetNanos, double elapsed) {
    double dueNanos = delayNanos + deviationNanos - elapsed;
    if (dueNanos < 0) {
      dueNanos = (latestNanos() - elapsed) / 4;
    }
    if (dueNanos >= budgetNanos) {
      return false;
    }
    int steps = returns.length - 1;
    int from = Math.max(1, (int) Math.ceil(dueNanos * steps / budgetNanos));
    for (int g = from; g <= steps; g++) {
      returns[g] += 1;
    }
    return true;
  }

  /// It comes at any time between two deviations before and after its average delay, given that it
  /// did not yet.
  private boolean addRamp(double[] returns, double budgetNanos, double elapsed) {
    double from = Math.max(elapsed, delayNanos - 2 * deviationNanos);
    if (from - elapsed >= budgetNanos) {
      return false;
    }
    int steps = returns.length - 1;
    double span = latestNanos() - from;
    for (int g = 1; g <= steps; g++) {
      double reached = elapsed + budgetNanos * g / steps - from;
      returns[g] += Math.min(1, Math.max(0, reached / span));
    }
    return true;
  }
}
