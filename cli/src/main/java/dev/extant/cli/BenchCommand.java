package dev.extant.cli;

import dev.extant.bench.FsMarkComparison;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant bench`.
@Command(
    name = "bench",
    description = {
      "Measures. The experiment fsmark creates files of 4,096 bytes in 64 directories, each made"
          + " durable,",
      "in RAM, in an image in memory and in one on a disk, and beside it, as root on Linux with"
          + " --kernel,",
      "fs_mark on the kernel's ext4 on the same medium. Figures are medians of rounds run in turn."
    })
final class BenchCommand extends SubCommand {
  private static final String FORMAT = "%-8s %-12s %8s %10s %13s %10s %10s %9s";

  /// What can be measured.
  enum Experiment {
    fsmark
  }

  @Parameters(paramLabel = "EXPERIMENT", description = "fsmark")
  private Experiment experiment;

  @Option(
      names = "--threads",
      paramLabel = "LIST",
      split = ",",
      defaultValue = "1,8,32,256",
      description = "Numbers of threads. Default: ${DEFAULT-VALUE}.")
  private List<Integer> threads;

  @Option(
      names = "--files",
      paramLabel = "N",
      defaultValue = "2000",
      description = "Files of a run, all threads together. Default: ${DEFAULT-VALUE}.")
  private int files;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Rounds. Default: ${DEFAULT-VALUE}.")
  private int rounds;

  @Option(
      names = "--memory",
      paramLabel = "DIR",
      description = "A directory in memory (tmpfs) for images, e.g. /dev/shm.")
  private Path memory;

  @Option(names = "--disk", paramLabel = "DIR", description = "A directory on a disk for images.")
  private Path disk;

  @Option(
      names = "--kernel",
      description = "Measures the kernel's ext4 too; needs root, mke2fs and fs_mark.")
  private boolean kernel;

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Override
  void run() throws IOException {
    check();
    FsMarkComparison.Plan plan =
        new FsMarkComparison.Plan(threads, files, rounds, memory, disk, kernel);
    List<FsMarkComparison.Row> rows =
        new FsMarkComparison(
                plan, step -> console().err().println("extant: " + experiment + ": " + step))
            .run();
    if (json) {
      console().printLine(Json.of(json(rows)));
    } else {
      table(rows);
    }
  }

  private void check() {
    if (files < 1 || rounds < 1 || threads.stream().anyMatch(number -> number < 1)) {
      throw usage("--files, --rounds and --threads must be at least 1");
    }
    if (kernel && memory == null && disk == null) {
      throw usage("--kernel needs --memory or --disk, where its images are put");
    }
    for (Path folder : new Path[] {memory, disk}) {
      if (folder != null && !Files.isDirectory(folder)) {
        throw usage(folder + ": not a directory");
      }
    }
  }

  private void table(List<FsMarkComparison.Row> rows) throws IOException {
    console()
        .printLine(
            String.format(
                FORMAT,
                "system",
                "medium",
                "threads",
                "files/s",
                "files/commit",
                "p50 us",
                "p99 us",
                "x kernel"));
    for (FsMarkComparison.Row row : rows) {
      boolean ours = !Double.isNaN(row.filesPerCommit());
      console()
          .printLine(
              String.format(
                  FORMAT,
                  row.system(),
                  row.medium(),
                  row.threads(),
                  String.format("%.0f", row.filesPerSecond()),
                  ours ? String.format("%.1f", row.filesPerCommit()) : "",
                  ours ? row.p50Nanos() / 1000 : "",
                  ours ? row.p99Nanos() / 1000 : "",
                  Double.isNaN(row.ratioToKernel())
                      ? ""
                      : String.format("%.2f", row.ratioToKernel())));
    }
  }

  private Map<String, Object> json(List<FsMarkComparison.Row> rows) {
    List<Object> list = new ArrayList<>();
    for (FsMarkComparison.Row row : rows) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("system", row.system());
      map.put("device", row.medium());
      map.put("threads", row.threads());
      map.put("filesPerSecond", row.filesPerSecond());
      if (!Double.isNaN(row.filesPerCommit())) {
        map.put("filesPerCommit", row.filesPerCommit());
        map.put("fsyncP50Nanos", row.p50Nanos());
        map.put("fsyncP99Nanos", row.p99Nanos());
      }
      if (!Double.isNaN(row.ratioToKernel())) {
        map.put("ratioToKernel", row.ratioToKernel());
      }
      list.add(map);
    }
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("experiment", experiment.name());
    result.put("rows", list);
    return result;
  }
}
