package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A file system with directories that fold case is read, each name as it is on disk, and never
/// written.
class CasefoldImageTest {
  /// `EXT4_CASEFOLD_FL` and `EXT4_EXTENTS_FL`; with `EXT4_INDEX_FL` e2fsck makes an index.
  private static final String FLAGS = "0x40081000";

  private static final String NAME = "Ein-ÜBERLANGER-Name-mit-der-Nummer-";

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 20, 1500})
  void namesAreReadAsTheyAre(int names) throws IOException {
    Path tree = folder.resolve("tree");
    Path folded = Files.createDirectories(tree.resolve("folded"));
    Set<String> expected = new TreeSet<>();
    for (int i = 0; i < names; i++) {
      Files.writeString(folded.resolve(NAME + i), "content " + i);
      expected.add("/folded/" + NAME + i);
    }
    Path image = folder.resolve("image");
    Oracles.run(
            "mke2fs",
            "-q",
            "-F",
            "-t",
            "ext4",
            "-b",
            1024,
            "-O",
            "casefold",
            "-d",
            tree,
            image,
            "16M")
        .expect(0);
    Oracles.run("debugfs", "-w", "-R", "sif /folded flags " + FLAGS, image).expect(0);
    // The index is made anew over folded names.
    Oracles.run("e2fsck", "-fyD", image).expect(0, 1);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    byte[] before = Files.readAllBytes(image);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      assertThat(mount.volume().readOnly()).isTrue();
      assertThat(mount.mountReport().warnings()).anyMatch(text -> text.contains("casefold"));
      Path directory = mount.fileSystem().getPath("/folded");
      try (Stream<Path> list = Files.list(directory)) {
        assertThat(list.map(Path::toString)).containsExactlyInAnyOrderElementsOf(expected);
      }
      for (int i = 0; i < names; i++) {
        assertThat(Files.readString(directory.resolve(NAME + i))).isEqualTo("content " + i);
      }
      assertThatThrownBy(() -> Files.readString(directory.resolve(NAME.toLowerCase() + 0)))
          .isInstanceOf(NoSuchFileException.class);
      assertThatThrownBy(() -> Files.createFile(directory.resolve("new")))
          .isInstanceOf(ReadOnlyFileSystemException.class);
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }
}
