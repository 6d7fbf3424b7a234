package dev.extant.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/// Temporary directories in memory, where the system has a file system for that: for tests that
/// write images by the hundred.
public final class MemoryTempDir implements TempDirFactory {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  @Override
  public Path createTempDirectory(
      AnnotatedElementContext elementContext, ExtensionContext extensionContext)
      throws IOException {
    return Files.isWritable(SHARED_MEMORY)
        ? Files.createTempDirectory(SHARED_MEMORY, "junit")
        : Files.createTempDirectory("junit");
  }
}
