package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Directories whose index Linux made, where the root still has the tail of the leaf that it was:
/// they are listed, changed, emptied and removed.
class KernelDirectoriesTest {
  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck");
  }

  @ParameterizedTest
  @CsvSource({
    "1024, metadata_csum, 40",
    "1024, metadata_csum, 9000",
    "4096, metadata_csum, 400",
    "1024, ^metadata_csum, 40",
    "4096, ^metadata_csum, 400"
  })
  void theyAreEmptiedAndRemoved(int blockSize, String features, int names) throws IOException {
    Path image =
        Mke2fs.make(folder.resolve("image"), "-N 10000 -b " + blockSize + " -O " + features, "64M");
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Path directory = Files.createDirectory(kernel.root().resolve("directory"));
      for (int i = 0; i < names; i++) {
        Files.createFile(directory.resolve("a name with the number " + i));
      }
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path directory = mount.fileSystem().getPath("/directory");
      List<Path> files = list(directory);
      assertThat(files).hasSize(names);
      Files.createFile(directory.resolve("one more"));
      Files.delete(directory.resolve("one more"));
      for (Path file : files) {
        Files.delete(file);
      }
      assertThat(list(directory)).isEmpty();
      Files.delete(directory);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return new ArrayList<>(list.toList());
    }
  }
}
