package dev.extant.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Runs commands of debugfs on an image.
public final class Debugfs {
  private Debugfs() {}

  /// Runs commands that may change the image, one after the other; returns what they print. That
  /// one of them fails is not noticed.
  public static String write(Path image, List<String> commands) throws IOException {
    Path file = Files.createTempFile("extant-debugfs", ".cmd");
    try {
      Files.write(file, commands);
      return Oracles.run("debugfs", "-w", "-f", file, image).output();
    } finally {
      Files.delete(file);
    }
  }

  /// Runs one command that only looks.
  public static String read(Path image, String command) throws IOException {
    return Oracles.run("debugfs", "-R", command, image).output();
  }
}
