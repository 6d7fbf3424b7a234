package dev.extant.bench;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/// Extant beside the kernel's ext4 on the same medium: several rounds in turn, medians, ratios.
public final class FsMarkComparison {
  private static final long IMAGE_MEBIBYTES = 1024;
  private static final int FILE_BYTES = 4096;

  /// What to compare: for each number of threads, `rounds` runs of about `files` files on each
  /// medium. `memoryFolder` lies in RAM (tmpfs), `diskFolder` on a disk; each may be null.
  /// `kernel`: run the peer.
  public record Plan(
      List<Integer> threads,
      int files,
      int rounds,
      Path memoryFolder,
      Path diskFolder,
      boolean kernel) {}

  /// Medians of one system on one medium. `ratioToKernel` is NaN without the peer.
  public record Row(
      String system,
      String medium,
      int threads,
      double filesPerSecond,
      double filesPerCommit,
      long p50Nanos,
      long p99Nanos,
      double ratioToKernel) {}

  private final Plan plan;
  private final Consumer<String> progress;

  public FsMarkComparison(Plan plan, Consumer<String> progress) {
    this.plan = plan;
    this.progress = progress;
  }

  public List<Row> run() throws IOException {
    List<Row> rows = new ArrayList<>();
    for (int threads : plan.threads()) {
      FsMark.Load load = new FsMark.Load(threads, Math.max(1, plan.files() / threads), FILE_BYTES);
      compare("ram", null, load, rows);
      if (plan.memoryFolder() != null) {
        compare("memory file", plan.memoryFolder(), load, rows);
      }
      if (plan.diskFolder() != null) {
        compare("disk file", plan.diskFolder(), load, rows);
      }
    }
    return rows;
  }

  /// The peer of the RAM device, which the kernel does not have, is the image in memory.
  private void compare(String medium, Path folder, FsMark.Load load, List<Row> rows)
      throws IOException {
    Path kernelFolder = folder != null ? folder : plan.memoryFolder();
    List<FsMark.Result> ours = new ArrayList<>();
    double[] kernel = new double[plan.rounds()];
    boolean peer = plan.kernel() && kernelFolder != null;
    for (int round = 0; round < plan.rounds(); round++) {
      progress.accept(
          medium + ", " + load.threads() + " threads, round " + (round + 1) + "/" + plan.rounds());
      ours.add(folder == null ? inRam(load) : inFile(folder, load));
      if (peer) {
        kernel[round] = new KernelFsMark(kernelFolder, IMAGE_MEBIBYTES + "M").run(load);
      }
    }
    double rate = median(ours.stream().mapToDouble(FsMark.Result::filesPerSecond).toArray());
    double kernelRate = peer ? median(kernel) : Double.NaN;
    double commits = median(ours.stream().mapToDouble(FsMark.Result::commits).toArray());
    rows.add(
        new Row(
            "extant",
            medium,
            load.threads(),
            rate,
            load.files() / Math.max(1, commits),
            (long) median(ours.stream().mapToDouble(FsMark.Result::p50Nanos).toArray()),
            (long) median(ours.stream().mapToDouble(FsMark.Result::p99Nanos).toArray()),
            rate / kernelRate));
    if (peer) {
      rows.add(new Row("kernel", medium, load.threads(), kernelRate, Double.NaN, 0, 0, 1));
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static FsMark.Result inRam(FsMark.Load load) throws IOException {
    RamDevice device = new RamDevice("ram", IMAGE_MEBIBYTES << 20);
    Mkfs.make(device, MkfsOptions.builder().build());
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      return FsMark.run(mount, "fsmark", load);
    }
  }

  private static FsMark.Result inFile(Path folder, FsMark.Load load) throws IOException {
    Path image = folder.resolve("extant.img");
    Extant.mkfs(image, IMAGE_MEBIBYTES << 20, MkfsOptions.builder().build());
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      return FsMark.run(mount, "fsmark", load);
    } finally {
      Files.delete(image);
    }
  }
}
