package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.block.FileDevice;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.PowerCutDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// The demo's four acts on one image: undisturbed work, a killed process, a power cut that loses
/// all unflushed writes, and one that loses some and tears others. Each ends with a check.
final class Demo {
  private static final long IMAGE_BYTES = 256L << 20;
  private static final int MAX_DISTURBED_SECONDS = 3;

  /// Files kept by all writers together: they fit into the image several times over.
  private static final int KEPT_FILES = 12_288;

  private final Console console;
  private final Path image;
  private final int writers;
  private final int seconds;
  private boolean held = true;

  Demo(Console console, Path image, int writers, int seconds) {
    this.console = console;
    this.image = image;
    this.writers = writers;
    this.seconds = seconds;
  }

  /// How many files one writer of so many keeps.
  static int kept(int writers) {
    return Math.max(2, KEPT_FILES / writers);
  }

  /// True if all promises held.
  boolean run() throws IOException {
    Extant.mkfs(image, IMAGE_BYTES, MkfsOptions.builder().label("demo").zeroed(true).build());
    say(image + ": a new ext4 file system of " + Sizes.human(IMAGE_BYTES));
    undisturbed();
    killed();
    powerCut("loses every unflushed write", "cut", PowerCutDevice::cutPowerAndLoseAll);
    powerCut(
        "loses some unflushed writes and tears others",
        "torn",
        device -> device.cutPower(System.nanoTime()));
    say("");
    say(held ? "All promises held." : "A promise was BROKEN.");
    return held;
  }

  private int disturbedSeconds() {
    return Math.min(seconds, MAX_DISTURBED_SECONDS);
  }

  private void say(String line) throws IOException {
    console.printLine(line);
    console.flush();
  }

  private void title(String title) throws IOException {
    say("");
    say("== " + title);
  }

  private void undisturbed() throws IOException {
    title(writers + " writers store files of up to 4 KiB, each durable before the next");
    long[] acknowledged;
    try (Extant extant = Extant.open(image, MountOptions.defaults())) {
      StoredFiles files = new StoredFiles(extant.fileSystem(), "undisturbed", kept(writers));
      DurableWriters durable = new DurableWriters(files, writers, _ -> {});
      durable.start();
      showEachSecond(extant, durable);
      durable.stop();
      if (durable.failure() != null) {
        throw durable.failure();
      }
      acknowledged = durable.acknowledged();
    }
    check("undisturbed", acknowledged);
  }

  private void showEachSecond(Extant extant, DurableWriters durable) throws IOException {
    long lastNanos = System.nanoTime();
    long lastFiles = 0;
    long lastCommits = extant.journalStatistics().commits();
    long[] lastCounts = durable.latencies().counts();
    for (int second = 1; second <= seconds && durable.failure() == null; second++) {
      pause(TimeUnit.SECONDS.toNanos(1));
      var statistics = extant.journalStatistics();
      long nowNanos = System.nanoTime();
      long files = sum(durable.acknowledged());
      long[] counts = durable.latencies().counts();
      double elapsed = (nowNanos - lastNanos) / 1e9;
      long commits = statistics.commits() - lastCommits;
      say(
          String.format(
              Locale.ROOT,
              "%3d s %,9.0f files/s %,7.0f commits/s %7.1f files per commit   p99 %6.1f ms",
              second,
              (files - lastFiles) / elapsed,
              commits / elapsed,
              (double) (files - lastFiles) / Math.max(1, commits),
              LatencyHistogram.quantileNanos(lastCounts, counts, 0.99) / 1e6));
      lastNanos = nowNanos;
      lastFiles = files;
      lastCommits = statistics.commits();
      lastCounts = counts;
    }
  }

  private void killed() throws IOException {
    title("the same in a process that is killed (SIGKILL) in mid-flight");
    long[] acknowledged = new KilledProcess(image, writers).run(disturbedSeconds());
    say("killed after " + count(sum(acknowledged), "acknowledged file"));
    recover();
    check(KilledProcess.SERIES, acknowledged);
  }

  /// How a power cut goes.
  private interface Cut {
    void on(PowerCutDevice device) throws IOException;
  }

  private void powerCut(String what, String series, Cut cut) throws IOException {
    title("the same on a disk whose power is cut, which " + what);
    long[] acknowledged;
    try (FileDevice file = FileDevice.open(image, false)) {
      PowerCutDevice disk = new PowerCutDevice(file);
      Extant extant = Extant.open(disk, MountOptions.defaults());
      StoredFiles files = new StoredFiles(extant.fileSystem(), series, kept(writers));
      DurableWriters durable = new DurableWriters(files, writers, _ -> {});
      durable.start();
      pause(TimeUnit.SECONDS.toNanos(disturbedSeconds()));
      if (durable.failure() != null) {
        throw durable.failure();
      }
      cut.on(disk);
      durable.stop();
      acknowledged = durable.acknowledged();
      abandon(extant);
    }
    say("power cut after " + count(sum(acknowledged), "acknowledged file"));
    recover();
    check(series, acknowledged);
  }

  /// Ends the mount of a disk without power, which cannot end well.
  private void abandon(Extant extant) throws IOException {
    try {
      extant.close();
    } catch (IOException e) {
      // It complains of the power, as it should.
      return;
    }
    broken("the file system was closed as if the power had not been cut");
  }

  private void recover() throws IOException {
    Extant extant = Extant.open(image, MountOptions.defaults());
    try (extant) {
      for (String sentence : RecoveryText.of(extant)) {
        say("recovered: " + sentence);
      }
    }
  }

  private void check(String series, long[] acknowledged) throws IOException {
    long present = 0;
    long bad = 0;
    long more = 0;
    try (Extant extant = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      StoredFiles files = new StoredFiles(extant.fileSystem(), series, kept(acknowledged.length));
      for (int writer = 0; writer < acknowledged.length; writer++) {
        long end = acknowledged[writer];
        for (long number = files.oldest(end); number < end; number++) {
          String problem = files.problem(writer, number);
          if (problem == null) {
            present++;
          } else if (bad++ < 10) {
            broken(problem);
          }
        }
        more += files.exists(writer, end) ? 1 : 0;
      }
    }
    String verdict =
        bad == 0 ? "all there with their bytes" : "BUT " + bad + " are lost or damaged";
    long deleted = sum(acknowledged) - present - bad;
    say(
        "verified: "
            + count(present + bad, "acknowledged file")
            + ", "
            + verdict
            + (deleted > 0
                ? String.format(Locale.ROOT, " (%,d older ones were deleted)", deleted)
                : "")
            + (more > 0 ? "; " + more + " more made it unacknowledged" : ""));
    fsck();
  }

  private void fsck() throws IOException {
    if (Oracles.find("e2fsck").isEmpty()) {
      say("e2fsck: not installed, so not asked");
      return;
    }
    Oracles.Result result =
        Oracles.run(
            List.of(Oracles.find("e2fsck").orElseThrow().toString(), "-fn", image.toString()),
            Map.of());
    if (result.exitCode() == 0) {
      say("e2fsck -fn: clean");
    } else {
      broken("e2fsck -fn exits with " + result.exitCode() + ":\n" + result.output());
    }
  }

  private void broken(String what) throws IOException {
    held = false;
    console.complain(what);
  }

  static long sum(long[] counts) {
    return Arrays.stream(counts).sum();
  }

  private static String count(long number, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", number, what, number == 1 ? "" : "s");
  }

  /// Sleeps; an interrupt means that the demo should end.
  static void pause(long nanos) throws IOException {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted");
    }
  }
}
