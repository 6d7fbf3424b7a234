package dev.extant.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `extant demo`.
@Command(
    name = "demo",
    description = {
      "Shows in half a minute what this is for: many writers store small files durably in an ext4",
      "image, then the process is killed and the power is cut, and nothing acknowledged is lost."
    })
final class DemoCommand extends SubCommand {
  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long the writers work undisturbed (default ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int seconds;

  @Option(
      names = "--writers",
      paramLabel = "N",
      description = "How many write at once (default ${DEFAULT-VALUE}).",
      defaultValue = "64")
  private int writers;

  @Option(
      names = "--keep",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "Keeps the image, to look inside (default), or with --no-keep does not.")
  private boolean keep;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where to make the image; a new temporary directory if left out.")
  private Path directory;

  /// The demo starts itself with this in a JVM that it then kills.
  @Option(names = "--store-into", hidden = true)
  private Path storeInto;

  @Override
  void run() throws IOException {
    if (seconds < 1 || seconds > 3600) {
      throw usage("--seconds " + seconds + ": not between 1 and 3600");
    }
    if (writers < 1 || writers > 4096) {
      throw usage("--writers " + writers + ": not between 1 and 4096");
    }
    if (storeInto != null) {
      new KilledProcess(storeInto, writers).storeUntilKilled(console());
      return;
    }
    Path home = directory == null ? Files.createTempDirectory("extant-demo") : directory;
    Files.createDirectories(home);
    Path image = home.resolve("demo.img");
    if (directory != null && Files.exists(image)) {
      throw new CommandFailure(image + ": exists; remove it or name another --dir");
    }
    try {
      if (!new Demo(console(), image, writers, seconds).run()) {
        failed();
      }
    } finally {
      if (!keep) {
        Files.deleteIfExists(image);
        if (directory == null) {
          Files.deleteIfExists(home);
        }
      }
    }
    if (keep) {
      showHowToLook(image);
    }
  }

  private void showHowToLook(Path image) throws IOException {
    String extant = System.getProperty("extant.command", "extant");
    console().printLine("");
    console().printLine("Look inside:");
    console().printLine("  " + extant + " ls -l " + image + ":/");
    console().printLine("  " + extant + " info " + image);
    console().printLine("  sudo mount -o loop " + image + " /mnt");
    console().printLine("Remove it: rm " + image);
  }
}
