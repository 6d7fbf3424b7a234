package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Extended attributes and ACLs that the kernel set survive what we do to their files.
class AttributesSurviveTest {
  @TempDir Path folder;

  /// One image's options.
  record Options(int blockSize, int inodeSize, String features) {}

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs", "setfattr", "getfattr", "setfacl");
  }

  /// Files whose extended attributes lie in inodes, in blocks of their own and in shared ones.
  private static void addAttributes(Path root) throws IOException {
    Path directory = Files.createDirectory(root.resolve("attributes"));
    for (String name : List.of("small", "large", "shared-1", "shared-2", "shared-3", "acl")) {
      Files.writeString(directory.resolve(name), name);
    }
    Files.createSymbolicLink(directory.resolve("link"), Path.of("small"));
    setAttribute(directory.resolve("small"), "user.small", "tiny");
    setAttribute(directory.resolve("large"), "user.small", "tiny");
    setAttribute(directory.resolve("large"), "user.large", "L".repeat(600));
    for (String name : List.of("shared-1", "shared-2", "shared-3")) {
      setAttribute(directory.resolve(name), "user.shared", "S".repeat(500));
    }
    setAttribute(directory.resolve("link"), "trusted.of-link", "yes");
    Oracles.run("setfacl", "-m", "u:1234:rw,g:77:r,m::rw", directory.resolve("acl")).expect(0);
    Path inherited = Files.createDirectory(directory.resolve("default-acl"));
    Oracles.run("setfacl", "-d", "-m", "u:1234:rwx,g:77:rx", inherited).expect(0);
    setAttribute(inherited, "user.large", "D".repeat(400));
  }

  private static void setAttribute(Path path, String name, String value) throws IOException {
    Oracles.run("setfattr", "-h", "-n", name, "-v", value, path).expect(0);
  }

  /// What getfattr shows, by path below the directory.
  private static String attributes(Path root) throws IOException {
    return Oracles.run(
            List.of(
                "/bin/sh",
                "-c",
                "cd \"$0\" && getfattr -R -P -h -d -m - -e hex . | LC_ALL=C sort",
                root.resolve("attributes").toString()),
            Map.of())
        .expect(0)
        .output();
  }

  static Stream<Options> attributeGrid() {
    return Stream.of(
        new Options(4096, 256, "ext_attr"),
        new Options(1024, 256, "orphan_file"),
        new Options(1024, 128, "ext_attr"),
        new Options(2048, 128, "^metadata_csum"),
        new Options(4096, 256, "^has_journal,^64bit"));
  }

  @ParameterizedTest
  @MethodSource("attributeGrid")
  void extendedAttributesSurviveOurChanges(Options options) throws IOException {
    Path image = folder.resolve("fs.img");
    Oracles.run(
            "mke2fs",
            "-q",
            "-F",
            "-t",
            "ext4",
            "-b",
            options.blockSize,
            "-I",
            options.inodeSize,
            "-O",
            options.features,
            image,
            "32M")
        .expect(0);
    String before;
    try (KernelMount kernel = KernelMount.of(image, "acl,user_xattr")) {
      addAttributes(kernel.root());
      before = attributes(kernel.root());
    }
    assertThat(before).contains("user.shared").contains("system.posix_acl_default");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      changeOwnersOfAttributes(mount.fileSystem());
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (KernelMount kernel = KernelMount.of(image, "acl,user_xattr")) {
      assertThat(attributes(kernel.root())).isEqualTo(before);
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path directory = mount.fileSystem().getPath("/attributes");
      for (String name :
          List.of("shared-1", "shared-2", "shared-3", "large", "small", "link", "acl")) {
        Files.delete(directory.resolve(name));
      }
      Files.delete(directory.resolve("default-acl"));
      Files.delete(directory);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  /// Every kind of change that leaves names and attributes as they are.
  private static void changeOwnersOfAttributes(FileSystem fs) throws IOException {
    Path directory = fs.getPath("/attributes");
    for (String name : List.of("small", "large", "acl", "shared-1")) {
      Files.write(directory.resolve(name), new byte[300_000], StandardOpenOption.APPEND);
    }
    Files.write(directory.resolve("large"), new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
    Files.setAttribute(directory.resolve("small"), "unix:mode", 0100640);
    Files.setAttribute(directory.resolve("shared-2"), "unix:uid", 4321);
    Files.move(directory.resolve("small"), fs.getPath("/elsewhere"));
    Files.move(fs.getPath("/elsewhere"), directory.resolve("small"));
    for (int i = 0; i < 50; i++) {
      Files.writeString(directory.resolve("default-acl").resolve("new-" + i), "new");
    }
    for (int i = 0; i < 50; i++) {
      Files.delete(directory.resolve("default-acl").resolve("new-" + i));
    }
  }

  @Test
  void aSharedAttributeBlockOutlivesItsFirstOwner() throws IOException {
    Path image = folder.resolve("fs.img");
    Oracles.run("mke2fs", "-q", "-F", "-t", "ext4", "-b", 1024, "-I", 128, image, "16M").expect(0);
    try (KernelMount kernel = KernelMount.of(image, "user_xattr")) {
      for (int i = 0; i < 4; i++) {
        Path file = Files.writeString(kernel.root().resolve("file-" + i), "content");
        setAttribute(file, "user.shared", "S".repeat(500));
      }
    }
    String block = attributeBlock(image, "/file-0");
    assertThat(block).isNotEqualTo("0").isEqualTo(attributeBlock(image, "/file-3"));
    for (int i = 0; i < 3; i++) {
      try (Extant mount = Extant.open(image, MountOptions.defaults())) {
        Files.delete(mount.fileSystem().getPath("/file-" + i));
      }
      Oracles.run("e2fsck", "-fn", image).expect(0);
      assertThat(Oracles.run("debugfs", "-R", "ea_get /file-3 user.shared", image).output())
          .contains("S".repeat(500));
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Files.delete(mount.fileSystem().getPath("/file-3"));
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    assertThat(Oracles.run("debugfs", "-R", "testb " + block, image).output())
        .contains("not in use");
  }

  private static String attributeBlock(Path image, String file) throws IOException {
    String stat = Oracles.run("debugfs", "-R", "stat " + file, image).expect(0).output();
    return stat.replaceAll("(?s).*File ACL: (\\d+).*", "$1");
  }
}
