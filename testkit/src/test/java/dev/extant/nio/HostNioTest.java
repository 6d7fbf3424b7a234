package dev.extant.nio;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The contract on the JDK's default provider.
class HostNioTest extends NioContract {
  @TempDir private Path directory;

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public Path otherDirectory() {
    return null;
  }

  @Override
  public boolean differs(Difference difference) {
    return false;
  }
}
