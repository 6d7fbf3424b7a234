package dev.extant.nio;

import dev.extant.Extant;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/// The contract on our provider over ext4 in an image file; afterwards e2fsck finds nothing.
class Ext4NioTest extends NioContract {
  @TempDir static Path folder;

  private final List<Path> images = new ArrayList<>();
  private final List<Extant> mounts = new ArrayList<>();
  private final Path directory;

  Ext4NioTest() throws IOException {
    directory = newDirectory();
  }

  private Path newDirectory() throws IOException {
    Path image = Files.createTempFile(folder, "contract", ".img");
    Extant.mkfs(image, 64L << 20, MkfsOptions.builder().build());
    Extant mount = Extant.open(image, MountOptions.defaults());
    images.add(image);
    mounts.add(mount);
    return Files.createDirectory(mount.fileSystem().getPath("/contract"));
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public Path otherDirectory() throws IOException {
    return newDirectory();
  }

  @AfterEach
  void closeAndCheck() throws IOException {
    for (Extant mount : mounts) {
      mount.close();
    }
    for (Path image : images) {
      if (Oracles.find("e2fsck").isPresent()) {
        Oracles.run("e2fsck", "-fn", image).expect(0);
      }
      Files.delete(image);
    }
  }
}
