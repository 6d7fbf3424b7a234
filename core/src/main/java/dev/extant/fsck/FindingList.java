package dev.extant.fsck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/// Keeps the first findings and counts all.
final class FindingList implements Findings {
  private static final Comparator<Finding> ORDER =
      Comparator.comparing(Finding::problem)
          .thenComparingLong(Finding::ino)
          .thenComparingLong(Finding::blockNr)
          .thenComparing(Finding::detail);

  private final int maxKept;
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private final List<Finding> kept = new ArrayList<>();
  private long errors;
  private long warnings;

  FindingList(int maxKept) {
    this.maxKept = maxKept;
  }

  @Override
  public void report(Problem problem, long ino, long blockNr, String detail) {
    lock.lock();
    try {
      if (problem.warning()) {
        warnings++;
      } else {
        errors++;
      }
      if (kept.size() < maxKept) {
        kept.add(new Finding(problem, ino, blockNr, detail));
      }
    } finally {
      lock.unlock();
    }
  }

  FsckReport report(String notChecked, FsckCounters counters) {
    lock.lock();
    try {
      List<Finding> ordered = kept.stream().sorted(ORDER).toList();
      return new FsckReport(ordered, errors, warnings, notChecked, counters);
    } finally {
      lock.unlock();
    }
  }
}
