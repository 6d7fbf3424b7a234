package dev.extant.ext4;

import dev.extant.journal.RecoveryReport;
import java.util.List;

/// What mounting found and did. `recovery` is null if the journal needed none. `warnings` are
/// sentences for the user.
public record MountReport(RecoveryReport recovery, int orphansFinished, List<String> warnings) {
  public MountReport {
    warnings = List.copyOf(warnings);
  }
}
