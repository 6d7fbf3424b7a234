package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Directories that contain themselves, what is above them, or what another one contains.
class HostileDirectoriesTest {
  @TempDir Path folder;
  private Path image;

  @BeforeEach
  void needs() {
    Oracles.require("mke2fs", "debugfs");
    image = folder.resolve("image");
  }

  /// `/a/b/c` and `/d/e`, and names that lead up and across.
  private void make(String features) throws IOException {
    Path tree = folder.resolve("tree");
    Files.createDirectories(tree.resolve("a/b/c"));
    Files.createDirectories(tree.resolve("d/e"));
    Files.writeString(tree.resolve("a/b/file"), "content");
    Mke2fs.make(image, "-O " + features + " -d " + tree, "8M");
    String[] links = {"/a /a/self", "/a /a/b/up", "/ /a/b/root", "/ /top", "/a/b /d/across"};
    for (String link : links) {
      Oracles.run("debugfs", "-w", "-R", "link " + link, image).expect(0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"extent", "inline_data", "^dir_index"})
  void walksEnd(String features) throws IOException {
    make(features);
    Set<String> visited = new TreeSet<>();
    Set<String> failed = new TreeSet<>();
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      Files.walkFileTree(
          mount.fileSystem().getPath("/"),
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
              visited.add(path.toString());
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
              visited.add(path.toString());
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path path, IOException e) {
              assertThat(e).hasMessageContaining("but its .. is");
              failed.add(path.toString());
              return FileVisitResult.CONTINUE;
            }
          });
    }
    assertThat(visited)
        .containsExactlyInAnyOrder(
            "/", "/lost+found", "/a", "/a/b", "/a/b/c", "/a/b/file", "/d", "/d/e");
    assertThat(failed)
        .containsExactlyInAnyOrder("/a/self", "/a/b/up", "/a/b/root", "/top", "/d/across");
  }

  private interface Attempt {
    void run(Volume volume, Node a) throws IOException;
  }

  @ParameterizedTest
  @ValueSource(strings = {"extent", "inline_data"})
  void changesAreRefused(String features) throws IOException {
    make(features);
    FileName self = FileName.of("self");
    Attempt[] attempts = {
      (volume, a) -> volume.rmdir(a, self),
      (volume, a) -> volume.lookup(a, self).close(),
      (volume, a) -> volume.rename(a, self, a, FileName.of("new"), RenameMode.REPLACE),
      (volume, a) -> volume.rename(a, FileName.of("b"), a, self, RenameMode.EXCHANGE),
      (volume, a) -> volume.rename(a, FileName.of("b"), a, self, RenameMode.REPLACE),
    };
    for (Attempt attempt : attempts) {
      try (Extant mount = Extant.open(image, MountOptions.parse("errors=continue"));
          Node root = mount.volume().root();
          Node a = mount.volume().lookup(root, FileName.of("a"))) {
        assertThatThrownBy(() -> attempt.run(mount.volume(), a))
            .isInstanceOfSatisfying(
                FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
        mount.volume().create(a, FileName.of("x"), new NewFile(0644, 0, 0)).close();
        mount.volume().unlink(a, FileName.of("x"));
      }
    }
  }
}
