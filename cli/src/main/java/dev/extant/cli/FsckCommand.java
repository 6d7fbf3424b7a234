package dev.extant.cli;

import dev.extant.block.FileDevice;
import dev.extant.fsck.Finding;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckCounters;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant fsck`.
@Command(
    name = "fsck",
    description = {
      "Checks a file system, like e2fsck -fn. Changes nothing, and needs nothing that a mount"
          + " needs.",
      "A journal that was not replayed stays so: 'extant recover' replays it."
    },
    footer = {
      "",
      "Exit codes: 0 clean, 4 errors found, 8 could not be checked, 12 both, 16 wrong usage."
    },
    exitCodeOnInvalidInput = FsckCommand.USAGE,
    exitCodeOnExecutionException = FsckReport.CANNOT_CHECK)
final class FsckCommand extends SubCommand {
  static final int USAGE = 16;

  @Option(names = "-n", description = "Repairs nothing; always so.")
  private boolean readOnly;

  @Option(names = "-f", description = "Checks a clean file system too; always so.")
  private boolean force;

  @Option(names = "-v", description = "Counts what there is.")
  private boolean verbose;

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE")
  private Path image;

  @Override
  void run() throws IOException {
    Session.requireImage(image);
    FsckReport report;
    try (FileDevice device = FileDevice.open(image, true);
        StepBar bar = new StepBar(console())) {
      report = Fsck.check(device, FsckOptions.defaults(), bar::at);
    }
    if (json) {
      console().printLine(Json.of(asMap(report)));
    } else {
      print(report);
    }
    exitWith(report.exitCode());
  }

  private void print(FsckReport report) throws IOException {
    for (Finding finding : report.findings()) {
      console().printLine((finding.problem().warning() ? "warning: " : "") + finding);
    }
    long more = report.errors() + report.warnings() - report.findings().size();
    if (more > 0) {
      console().printLine("… and " + more + " more");
    }
    FsckCounters counters = report.counters();
    if (verbose && report.notChecked() == null) {
      line(counters.regularFiles(), "regular files");
      line(counters.directories(), "directories");
      line(counters.symbolicLinks(), "symbolic links");
    }
    String state = report.errors() == 0 ? "clean" : report.errors() + " errors";
    if (report.notChecked() != null) {
      console().complain(image + ": cannot be checked: " + report.notChecked());
      return;
    }
    console()
        .printLine(
            image
                + ": "
                + state
                + (report.warnings() == 0 ? "" : ", " + report.warnings() + " warnings")
                + ", %d/%d inodes, %d/%d blocks"
                    .formatted(
                        counters.inodesUsed(),
                        counters.inodesCount(),
                        counters.blocksUsed(),
                        counters.blocksCount()));
  }

  private void line(long count, String what) throws IOException {
    console().printLine("%12d %s".formatted(count, what));
  }

  private Map<String, Object> asMap(FsckReport report) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("image", image.toString());
    map.put("exitCode", report.exitCode());
    map.put("errors", report.errors());
    map.put("warnings", report.warnings());
    map.put("notChecked", report.notChecked());
    FsckCounters counters = report.counters();
    map.put("inodesUsed", counters.inodesUsed());
    map.put("inodesCount", counters.inodesCount());
    map.put("blocksUsed", counters.blocksUsed());
    map.put("blocksCount", counters.blocksCount());
    map.put("regularFiles", counters.regularFiles());
    map.put("directories", counters.directories());
    map.put("symbolicLinks", counters.symbolicLinks());
    List<Object> findings = new ArrayList<>();
    for (Finding finding : report.findings()) {
      findings.add(asMap(finding));
    }
    map.put("findings", findings);
    return map;
  }

  private static Map<String, Object> asMap(Finding finding) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("problem", finding.problem().name());
    map.put("warning", finding.problem().warning());
    map.put("structure", finding.problem().structure());
    map.put("wording", finding.problem().wording());
    map.put("inode", finding.ino() == 0 ? null : finding.ino());
    map.put("block", finding.blockNr() == 0 ? null : finding.blockNr());
    map.put("detail", finding.detail());
    return map;
  }
}
