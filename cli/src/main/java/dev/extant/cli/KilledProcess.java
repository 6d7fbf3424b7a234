package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.vfs.MountOptions;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The writers in a JVM of their own that is killed while they work. The child writes a line with a
/// writer's number to its standard output whenever a file of that writer is durable; what the
/// parent has read is acknowledged.
final class KilledProcess {
  static final String SERIES = "killed";

  private static final long START_SECONDS = 60;

  private final Path image;
  private final int writers;

  KilledProcess(Path image, int writers) {
    this.image = image;
    this.writers = writers;
  }

  /// The child's part.
  void storeUntilKilled(Console console) throws IOException {
    try (Extant extant = Extant.open(image, MountOptions.defaults())) {
      StoredFiles files = new StoredFiles(extant.fileSystem(), SERIES, Demo.kept(writers));
      Object lock = new Object();
      DurableWriters durable =
          new DurableWriters(
              files,
              writers,
              writer -> {
                synchronized (lock) {
                  console.printLine(Integer.toString(writer));
                  console.flush();
                }
              });
      durable.start();
      while (durable.failure() == null) {
        Demo.pause(TimeUnit.MILLISECONDS.toNanos(100));
      }
      throw durable.failure();
    }
  }

  /// The parent's part: kills the child so many seconds after its first acknowledgement and returns
  /// how many files of each writer were acknowledged.
  long[] run(int seconds) throws IOException {
    Process child =
        new ProcessBuilder(command()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    long[] acknowledged = new long[writers];
    Thread killer = killAfter(child, START_SECONDS);
    try (InputStream output = new BufferedInputStream(child.getInputStream())) {
      boolean started = false;
      int writer;
      while ((writer = readLine(output)) >= 0) {
        acknowledged[writer]++;
        if (!started) {
          started = true;
          killer.interrupt();
          killer = killAfter(child, seconds);
        }
      }
    } finally {
      killer.interrupt();
      child.destroyForcibly();
    }
    if (Demo.sum(acknowledged) == 0) {
      throw new CommandFailure("the process that was to be killed stored nothing");
    }
    return acknowledged;
  }

  /// The number on the next line, or -1 if the output ended before the line did.
  private static int readLine(InputStream output) throws IOException {
    int number = 0;
    int character;
    while ((character = output.read()) != '\n') {
      if (character < 0) {
        return -1;
      }
      number = number * 10 + character - '0';
    }
    return number;
  }

  private static Thread killAfter(Process child, long seconds) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                TimeUnit.SECONDS.sleep(seconds);
                // Not Process.destroyForcibly: that closes the pipe with what is still in it.
                child.toHandle().destroyForcibly();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseSerialGC");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.addAll(List.of("demo", "--writers", Integer.toString(writers)));
    command.addAll(List.of("--store-into", image.toString()));
    return command;
  }
}
