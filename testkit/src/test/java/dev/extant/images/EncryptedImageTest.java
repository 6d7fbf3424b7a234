package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.FileName;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// File systems that the kernel encrypted with its test key, read without a key: the same names and
/// targets as the kernel shows then, no content, and everything that is not encrypted.
class EncryptedImageTest {
  private static final Path KERNEL_FEATURE =
      Path.of("/sys/fs/ext4/features/test_dummy_encryption_v2");

  /// The longest names are shown in part only; see [dev.extant.ext4.EncryptedNames].
  private static final int[] NAME_LENGTHS = {1, 15, 16, 17, 100, 144, 145, 149, 150, 160, 200, 255};

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck");
    Oracles.require("encryption in the kernel", Files.exists(KERNEL_FEATURE));
  }

  /// What is made while the key is there is encrypted, in directories that are made then.
  private Path make(int blockSize, String features) throws IOException {
    Path image =
        Mke2fs.make(
            folder.resolve("image"),
            "-b " + blockSize + " -O encrypt,stable_inodes" + features,
            "32M");
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Path plain = Files.createDirectory(kernel.root().resolve("plain"));
      Files.writeString(plain.resolve("file"), "not encrypted");
      Files.createSymbolicLink(plain.resolve("link"), Path.of("file"));
    }
    try (KernelMount kernel = KernelMount.of(image, "noatime,test_dummy_encryption=v2")) {
      Path secret = Files.createDirectory(kernel.root().resolve("secret"));
      Files.writeString(secret.resolve("file"), "encrypted");
      Files.createLink(secret.resolve("second name"), secret.resolve("file"));
      Files.createDirectory(secret.resolve("empty"));
      Path lengths = Files.createDirectory(secret.resolve("lengths"));
      for (int length : NAME_LENGTHS) {
        Files.createFile(lengths.resolve("n".repeat(length)));
        Files.createSymbolicLink(
            lengths.resolve("l".repeat(length)), Path.of("t".repeat(3 * length)));
      }
      Path many = Files.createDirectory(secret.resolve("many"));
      for (int i = 0; i < 600; i++) {
        Files.createFile(many.resolve("name-" + i));
      }
    }
    return image;
  }

  /// A line per path below a directory, without content.
  private static Map<String, String> tree(Path root) throws IOException {
    Map<String, String> lines = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        if (path.endsWith("lost+found")) {
          continue;
        }
        Map<String, Object> attributes =
            Files.readAttributes(
                path, "unix:ino,mode,nlink,size,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
        String target = Files.isSymbolicLink(path) ? " -> " + Files.readSymbolicLink(path) : "";
        lines.put(root.relativize(path).toString(), new TreeMap<>(attributes) + target);
      }
    }
    return lines;
  }

  @ParameterizedTest
  @CsvSource({"4096, ''", "1024, ''", "4096, ',^dir_index'", "4096, ',inline_data'"})
  void readersSeeWhatTheKernelShowsWithoutTheKey(int blockSize, String features)
      throws IOException {
    Path image = make(blockSize, features);
    byte[] before = Files.readAllBytes(image);
    Map<String, String> ours;
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      Path root = mount.fileSystem().getPath("/");
      ours = tree(root);
      assertThat(Files.readString(root.resolve("plain/link"))).isEqualTo("not encrypted");
      assertContentIsRefused(root.resolve("secret"));
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      TreeDescription.requireSame(tree(kernel.root()), ours);
    }
    assertThat(ours).hasSizeGreaterThan(600 + 2 * NAME_LENGTHS.length);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void assertContentIsRefused(Path secret) throws IOException {
    int files = 0;
    try (Stream<Path> list = Files.list(secret)) {
      for (Path path : (Iterable<Path>) list::iterator) {
        if (Files.isRegularFile(path)) {
          assertThat(Files.size(path)).isEqualTo("encrypted".length());
          assertThatThrownBy(() -> Files.readAllBytes(path))
              .isInstanceOf(FileSystemException.class)
              .hasMessageContaining("feature encrypt");
          files++;
        }
      }
    }
    assertThat(files).isEqualTo(2);
  }

  @Test
  void itIsOpenedReadOnlyAndSaysWhy() throws IOException {
    Path image = make(4096, "");
    byte[] before = Files.readAllBytes(image);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      assertThat(mount.volume().readOnly()).isTrue();
      assertThat(mount.mountReport().warnings()).anyMatch(text -> text.contains("encrypt"));
      Path plain = mount.fileSystem().getPath("/plain");
      assertThatThrownBy(() -> Files.createFile(plain.resolve("new")))
          .isInstanceOf(ReadOnlyFileSystemException.class)
          .cause()
          .hasMessageContaining("feature encrypt");
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  /// Every name that a listing shows can be looked up, and nothing else can.
  @Test
  void namesThatAreNotShownAreNotFound() throws IOException {
    Path image = make(1024, "");
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node secret = volume.lookup(root, FileName.of("secret"))) {
        List<FileName> names = new ArrayList<>();
        volume.readDirectory(secret, 0, (name, ino, type, next) -> names.add(name));
        assertThat(names).hasSize(2 + 5);
        for (FileName name : names) {
          volume.lookup(secret, name).close();
        }
        for (String absent :
            List.of("file", "A", "AAAAAAAAAAAAAAAA", "%%%", "A".repeat(252), "A".repeat(253))) {
          assertThatThrownBy(() -> volume.lookup(secret, FileName.of(absent)))
              .hasMessageContaining("no such file");
        }
      }
    }
  }
}
