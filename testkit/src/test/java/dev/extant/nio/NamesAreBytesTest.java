package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.MemoryVolume;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Names that no string need stand for are listed, opened, copied, renamed and put into URIs
/// without loss.
class NamesAreBytesTest {
  private static boolean isName(byte... bytes) {
    for (byte b : bytes) {
      if (b == 0 || b == '/') {
        return false;
      }
    }
    return !Arrays.equals(bytes, new byte[] {'.'}) && !Arrays.equals(bytes, new byte[] {'.', '.'});
  }

  private static void add(Set<FileName> names, byte... bytes) {
    if (isName(bytes)) {
      names.add(FileName.of(bytes));
    }
  }

  private static Set<FileName> allShortNames() {
    Set<FileName> names = new HashSet<>();
    for (int i = 0; i < 256; i++) {
      add(names, (byte) i);
      for (int j = 0; j < 256; j++) {
        add(names, (byte) i, (byte) j);
      }
    }
    return names;
  }

  /// One of each byte, surrogates in UTF-8's form, cut sequences, and long names of random bytes.
  private static Set<FileName> oddNames() {
    Random random = new Random(255);
    Set<FileName> names = new HashSet<>();
    for (int i = 0; i < 256; i++) {
      add(names, (byte) i);
      add(names, (byte) 0xed, (byte) (0x80 + i % 64), (byte) (0x80 + i / 4));
      add(names, (byte) 0xf0, (byte) 0x9f, (byte) 0x98, (byte) i, (byte) 0xff);
      byte[] bytes = new byte[255 - i % 3];
      random.nextBytes(bytes);
      for (int j = 0; j < bytes.length; j++) {
        bytes[j] = bytes[j] == 0 || bytes[j] == '/' ? (byte) 0xff : bytes[j];
      }
      add(names, bytes);
    }
    return names;
  }

  private static void make(Volume volume, Set<FileName> names) throws FsException {
    try (Node root = volume.root();
        Node directory = volume.mkdir(root, FileName.of("d"), new NewFile(0755, 0, 0))) {
      for (FileName name : names) {
        volume.create(directory, name, new NewFile(0644, 0, 0)).close();
      }
    }
  }

  private static Set<FileName> names(Volume volume, String directory) throws FsException {
    Set<FileName> names = new HashSet<>();
    try (Node root = volume.root();
        Node node = volume.lookup(root, FileName.of(directory))) {
      volume.readDirectory(
          node,
          0,
          (name, _, _, _) -> {
            if (!name.isDot() && !name.isDotDot()) {
              names.add(name);
            }
            return true;
          });
    }
    return names;
  }

  /// Does with every name what can be done with one, and puts its file below `/moved`.
  private static void use(ExtantFileSystem fileSystem) throws IOException {
    Path moved = Files.createDirectory(fileSystem.getPath("/moved"));
    Path copied = Files.createDirectory(fileSystem.getPath("/copied"));
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(fileSystem.getPath("/d"))) {
      for (Path path : stream) {
        require(fileSystem.getPath(path.toString()).equals(path), path);
        require(Path.of(path.toUri()).equals(path), path);
        require(fileSystem.getPathMatcher("glob:/d/*").matches(path), path);
        Files.copy(path, copied.resolve(path.getFileName()));
        Files.move(path, moved.resolve(path.getFileName().toString()));
      }
    }
  }

  private static void require(boolean holds, Path path) {
    if (!holds) {
      throw new AssertionError("not the same: " + path.toUri());
    }
  }

  private static void roundTrip(Volume volume, ExtantFileSystem fileSystem, Set<FileName> names)
      throws IOException {
    make(volume, names);
    assertThat(names(volume, "d")).isEqualTo(names);
    use(fileSystem);
    assertThat(names(volume, "d")).isEmpty();
    assertThat(names(volume, "moved")).isEqualTo(names);
    assertThat(names(volume, "copied")).isEqualTo(names);
  }

  @Test
  void allNamesOfOneAndTwoBytes() throws IOException {
    MemoryVolume volume = new MemoryVolume();
    Set<FileName> names = allShortNames();
    assertThat(names).hasSize(254 * 255 - 2);
    try (ExtantFileSystem fileSystem = ExtantFileSystem.over(volume)) {
      roundTrip(volume, fileSystem, names);
    }
  }

  @Test
  void oddNamesInAnImage() throws IOException {
    RamDevice device = new RamDevice("ram", 64 << 20);
    Mkfs.make(device, MkfsOptions.builder().build());
    Set<FileName> names = oddNames();
    try (Extant mount =
        Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults())) {
      roundTrip(mount.volume(), mount.fileSystem(), names);
    }
    Images.requireClean(device);
    device.close();
  }

  @Test
  void linksAndAttributesWithSuchNames() throws IOException {
    RamDevice device = new RamDevice("ram", 8 << 20);
    Mkfs.make(device, MkfsOptions.builder().build());
    try (Extant mount =
        Extant.open(DelegatingDevice.withoutClose(device), MountOptions.defaults())) {
      ExtantFileSystem fileSystem = mount.fileSystem();
      Path file = Files.writeString(fileSystem.getPath("/\uDCFFfile\uDCC3"), "abc");
      Path link = Files.createSymbolicLink(fileSystem.getPath("/link\uDC80"), file.getFileName());
      assertThat(Files.readSymbolicLink(link)).isEqualTo(file.getFileName());
      assertThat(link.toRealPath()).isEqualTo(file);
      Files.setAttribute(file, "user:\uDCFE", new byte[] {1});
      assertThat(Files.readAttributes(file, "user:*")).containsOnlyKeys("\uDCFE");
      try (Stream<Path> walk = Files.walk(fileSystem.getPath("/"))) {
        assertThat(walk).contains(file, link);
      }
    }
    Images.requireClean(device);
    device.close();
  }
}
