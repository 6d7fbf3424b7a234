package dev.extant.journal.batching;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `batching=expected`: holds a commit back until those syncers are back whom the last commits have
/// answered, if that gains more than it costs.
///
/// ## Definitions
///
/// F is the *fixed part* of a commit, which is the same for one syncer and for a thousand; a group
/// has n syncers, and K(w) others are expected to ask within w from now. Each of these saves `F -
/// w`, since it need not wait for a commit of its own; each of the n loses w:
///
/// `gain(w) = K(w) * (F - w) - n * w`
///
/// The commit waits for the w of the greatest gain, if that is above zero. F is the smaller one of
/// the average and the last commit's, so that the rule gets over a slow commit at once.
///
/// ## Invariants
///
/// 1. A group is held back for at most `min(F, maxNanos)` after it was armed, or for `minNanos`.
/// 2. A syncer that is alone is never held back but for `minNanos`: nobody else is expected.
/// 3. Who is overdue is not waited for.
final class ExpectedRule implements BatchingRule {
  /// As many syncers are remembered; more that come and go push out who asked least lately.
  private static final int MOST_SYNCERS = 4096;

  /// In so many steps the wait is searched for.
  private static final int STEPS = 16;

  /// Delays of more than so many fixed parts are all the same.
  private static final int DELAYS_WORTH_KNOWING = 4;

  private final long minNanos;
  private final long maxNanos;
  private final Map<Long, Syncer> syncers = new LinkedHashMap<>(64, 0.75f, true);

  /// Syncers that were answered and did not ask again yet; some may have, and some be overdue.
  private final List<Syncer> outside = new ArrayList<>();

  /// The members of the group that gathers, and of the one that is committed.
  private List<Syncer> members = new ArrayList<>();

  private List<Syncer> closedMembers = new ArrayList<>();
  private double fixedAverageNanos;
  private double fixedLastNanos;

  /// The committer is to look again when the group has so many syncers.
  private int awaitedSyncers = 1;

  ExpectedRule(long minNanos, long maxNanos) {
    this.minNanos = minNanos;
    this.maxNanos = maxNanos;
  }

  @Override
  public boolean joined(Group group, long key, long nowNanos) {
    Syncer syncer = syncer(key);
    boolean waited = syncer.waits();
    syncer.asks(nowNanos, DELAYS_WORTH_KNOWING * fixedNanos());
    if (!waited) {
      (group.closed() ? closedMembers : members).add(syncer);
    }
    return !group.closed() && (group.syncers() == 1 || group.syncers() >= awaitedSyncers);
  }

  private Syncer syncer(long key) {
    Syncer known = syncers.get(key);
    if (known != null) {
      return known;
    }
    if (syncers.size() == MOST_SYNCERS) {
      Iterator<Syncer> eldest = syncers.values().iterator();
      eldest.next();
      eldest.remove();
    }
    Syncer syncer = new Syncer();
    syncers.put(key, syncer);
    return syncer;
  }

  @Override
  public long waitNanos(Group group, long nowNanos) {
    long heldNanos = nowNanos - group.armedNanos();
    long worthNanos = worthNanos(group, heldNanos, nowNanos);
    return Math.max(worthNanos, minNanos - heldNanos);
  }

  private long worthNanos(Group group, long heldNanos, long nowNanos) {
    awaitedSyncers = Integer.MAX_VALUE;
    double fixed = fixedNanos();
    double budget = Math.min(fixed, maxNanos) - heldNanos;
    if (budget <= 0) {
      if (heldNanos > 0 && group.expected() > group.expectedJoined()) {
        group.hitBudget();
      }
      return 0;
    }
    double[] returns = new double[STEPS + 1];
    if (!addReturns(returns, budget, nowNanos)) {
      return 0;
    }
    int best = 0;
    double bestGain = 0;
    for (int g = 1; g <= STEPS; g++) {
      double wait = budget * g / STEPS;
      double gain = returns[g] * (fixed - wait) - group.syncers() * wait;
      if (gain > bestGain) {
        bestGain = gain;
        best = g;
      }
    }
    if (best == 0) {
      return 0;
    }
    int expected = Math.max(1, (int) Math.round(returns[best]));
    group.expect(expected);
    awaitedSyncers = group.syncers() + expected;
    return Math.max(1_000, (long) (budget * best / STEPS));
  }

  private double fixedNanos() {
    return Math.min(fixedAverageNanos, fixedLastNanos);
  }

  /// Returns false if nobody is expected within the budget.
  private boolean addReturns(double[] returns, double budget, long nowNanos) {
    boolean some = false;
    int kept = 0;
    for (int i = 0; i < outside.size(); i++) {
      Syncer syncer = outside.get(i);
      if (!syncer.waits() && !syncer.overdue(nowNanos)) {
        outside.set(kept++, syncer);
        some |= syncer.addReturns(returns, budget, nowNanos);
      } else {
        syncer.listed = false;
      }
    }
    outside.subList(kept, outside.size()).clear();
    return some;
  }

  @Override
  public void closed(Group group, long nowNanos) {
    List<Syncer> empty = closedMembers;
    closedMembers = members;
    members = empty;
    awaitedSyncers = 1;
  }

  @Override
  public void answered(Group group, long fixedNanos, long totalNanos, long nowNanos) {
    fixedLastNanos = fixedNanos;
    fixedAverageNanos += (fixedNanos - fixedAverageNanos) / (fixedAverageNanos == 0 ? 1 : 8);
    for (Syncer syncer : closedMembers) {
      syncer.isAnswered(nowNanos);
      if (!syncer.listed) {
        syncer.listed = true;
        outside.add(syncer);
      }
    }
    closedMembers.clear();
  }
}
