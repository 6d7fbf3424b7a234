package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.MemoryVolume;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/// The contract on our provider over the model; afterwards no reference to an inode is left.
class MemoryNioTest extends NioContract {
  private final List<MemoryVolume> volumes = new ArrayList<>();
  private final List<ExtantFileSystem> fileSystems = new ArrayList<>();
  private final Path directory = newDirectory();

  private Path newDirectory() {
    MemoryVolume volume = new MemoryVolume();
    ExtantFileSystem fileSystem = ExtantFileSystem.over(volume);
    volumes.add(volume);
    fileSystems.add(fileSystem);
    return fileSystem.getPath("/");
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public Path otherDirectory() {
    return newDirectory();
  }

  @AfterEach
  void closeAndCountReferences() throws IOException {
    for (ExtantFileSystem fileSystem : fileSystems) {
      fileSystem.close();
    }
    assertThat(volumes).allMatch(volume -> volume.openReferences() == 0);
  }

  @Override
  public boolean differs(Difference difference) {
    return true;
  }
}
