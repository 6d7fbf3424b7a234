package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Blocks larger than a page of memory, which the kernel of most machines does not mount: read back
/// from mke2fs, changed in bulk, and read again by e2fsck and debugfs.
class LargeBlocksTest {
  private static final long SEED = 20_250_103;
  private static final int NAMES = 6_000;

  @TempDir static Path shared;
  @TempDir Path folder;

  private static Path tree;
  private static Path model;

  @BeforeAll
  static void makeTrees() throws IOException {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs");
    tree = shared.resolve("tree");
    SampleTree.make(tree);
    model = shared.resolve("model");
    Oracles.run("cp", "-a", tree, model).expect(0);
    BulkChanges.apply(model, SEED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-b 8192",
        "-b 16384 -O ^metadata_csum",
        "-b 32768 -I 512",
        "-b 65536",
        "-b 65536 -O ^64bit,^metadata_csum",
        "-b 65536 -O bigalloc -C 262144"
      })
  void filesAndDirectoriesAreReadAndWritten(String options) throws IOException {
    Path image = folder.resolve("fs.img");
    Mke2fs.make(image, options + " -N 16384 -d " + tree, "400M");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path root = mount.fileSystem().getPath("/");
      TreeDescription.Times times = TreeDescription.Times.COPIED;
      TreeDescription.requireSame(TreeDescription.of(tree, times), TreeDescription.of(root, times));
      BulkChanges.apply(root, SEED);
      fillDirectory(root.resolve("many"));
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertThat(names(mount.fileSystem().getPath("/many"))).isEqualTo(expectedNames());
    }
    Oracles.run("debugfs", "-R", "rdump / " + folder, image).expect(0);
    assertThat(names(folder.resolve("many"))).isEqualTo(expectedNames());
    assertThat(contents(folder)).containsAllEntriesOf(contents(model));
  }

  private static void fillDirectory(Path directory) throws IOException {
    Files.createDirectory(directory);
    for (int i = 0; i < NAMES; i++) {
      Files.createFile(directory.resolve(name(i)));
    }
    for (int i = 0; i < NAMES; i += 3) {
      Files.delete(directory.resolve(name(i)));
    }
  }

  private static String name(int i) {
    return "a name that is somewhat longer than it has to be, number " + i;
  }

  private static Set<String> expectedNames() {
    Set<String> names = new TreeSet<>();
    for (int i = 0; i < NAMES; i++) {
      if (i % 3 != 0) {
        names.add(name(i));
      }
    }
    return names;
  }

  private static Set<String> names(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return list.map(path -> path.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /// Of each regular file below `root`.
  private static Map<String, String> contents(Path root) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    TreeDescription.of(root, TreeDescription.Times.COPIED)
        .forEach(
            (name, line) -> {
              if (line.contains(" crc32c ")) {
                contents.put(name, line.substring(line.lastIndexOf(' ')));
              }
            });
    return contents;
  }
}
