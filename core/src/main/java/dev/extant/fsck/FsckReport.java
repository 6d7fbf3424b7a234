package dev.extant.fsck;

import java.util.List;

/// What a check found. `findings` are ordered and at most as many as asked for; `errors` and
/// `warnings` count all. `notChecked` says in one sentence why the check could not begin or end, or
/// is null.
public record FsckReport(
    List<Finding> findings, long errors, long warnings, String notChecked, FsckCounters counters) {
  public static final int CLEAN = 0;
  public static final int ERRORS = 4;
  public static final int CANNOT_CHECK = 8;

  public FsckReport {
    findings = List.copyOf(findings);
  }

  /// As of e2fsck -fn: 0 clean, 4 errors, 8 could not be checked; 12 is both.
  public int exitCode() {
    return (errors > 0 ? ERRORS : CLEAN) | (notChecked != null ? CANNOT_CHECK : CLEAN);
  }

  public boolean clean() {
    return exitCode() == CLEAN;
  }
}
