package dev.extant.cli;

import dev.extant.Extant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What mounting found and did, in sentences.
final class RecoveryText {
  private RecoveryText() {}

  static List<String> of(Extant mounted) {
    List<String> sentences = new ArrayList<>();
    var report = mounted.mountReport();
    var recovery = report.recovery();
    if (recovery == null || !recovery.needed()) {
      sentences.add("the journal was clean");
    } else if (recovery.transactions() == 0) {
      sentences.add("the journal held no whole transaction");
    } else {
      sentences.add(
          String.format(
              Locale.ROOT,
              "replayed %,d transactions (%d to %d) with %,d blocks",
              recovery.transactions(),
              recovery.firstTid(),
              recovery.lastTid(),
              recovery.blocksReplayed()));
    }
    if (report.orphansFinished() > 0) {
      sentences.add(
          "finished " + report.orphansFinished() + " deletions or truncations of files in use");
    }
    sentences.addAll(report.warnings());
    return sentences;
  }
}
