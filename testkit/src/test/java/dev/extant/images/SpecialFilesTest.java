package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Device nodes, FIFOs, sockets and symbolic links that have a block of extended attributes, by us
/// for the kernel and the other way.
class SpecialFilesTest {
  private static final NewFile OWNER = new NewFile(0600, 1, 2);

  /// Major and minor numbers: both forms on disk, and their limits.
  private static final int[][] DEVICES = {
    {0, 0}, {1, 3}, {8, 1}, {255, 255}, {256, 0}, {0, 256}, {259, 65_537}, {4095, 0xFFFFF}, {0, 5}
  };

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "mknod", "setfattr");
    Oracles.requireRoot();
  }

  private static long rdev(int[] device) {
    long minor = device[1];
    return minor & 0xFF | (long) device[0] << 8 | (minor & ~0xFFL) << 12;
  }

  @ParameterizedTest
  @ValueSource(strings = {"-b 1024 -I 128", "-b 4096 -I 256", "-b 1024 -I 128 -O ^extent,^64bit"})
  void ofOurs(String options) throws IOException {
    Path image = Mke2fs.make(folder.resolve("image"), options, "16M");
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      make(mount.volume());
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (KernelMount mount = KernelMount.of(image, "ro")) {
      for (int i = 0; i < DEVICES.length; i++) {
        String expected = String.format("%x %x ", DEVICES[i][0], DEVICES[i][1]);
        assertThat(stat(mount, "b" + i)).isEqualTo(expected + "block special file\n");
        assertThat(stat(mount, "c" + i)).isEqualTo(expected + "character special file\n");
      }
      assertThat(stat(mount, "fifo")).isEqualTo("0 0 fifo\n");
      assertThat(stat(mount, "socket")).isEqualTo("0 0 socket\n");
      for (int length : new int[] {1, 58, 59, 60, 61}) {
        assertThat(Files.readSymbolicLink(mount.root().resolve("l" + length)).toString())
            .isEqualTo("t".repeat(length));
      }
      assertThat(Files.readString(mount.root().resolve("regular"))).isEqualTo("text");
    }
  }

  private static String stat(KernelMount mount, String name) throws IOException {
    Path path = mount.root().resolve(name);
    return Oracles.run("stat", "-c", "%t %T %F", path).expect(0).output();
  }

  private static void make(Volume volume) throws IOException {
    XattrName name = XattrName.of("trusted.large");
    byte[] value = new byte[300];
    try (Node root = volume.root()) {
      for (int i = 0; i < DEVICES.length; i++) {
        long rdev = rdev(DEVICES[i]);
        volume.mknod(root, FileName.of("b" + i), FileType.BLOCK_DEVICE, rdev, OWNER).close();
        try (Node node =
            volume.mknod(root, FileName.of("c" + i), FileType.CHARACTER_DEVICE, rdev, OWNER)) {
          volume.setXattr(node, name, value, XattrMode.CREATE);
          assertThat(volume.attributes(node).rdev()).isEqualTo(rdev);
        }
      }
      volume.mknod(root, FileName.of("fifo"), FileType.FIFO, 77, OWNER).close();
      volume.mknod(root, FileName.of("socket"), FileType.SOCKET, 0, OWNER).close();
      for (int length : new int[] {1, 58, 59, 60, 61}) {
        byte[] target = "t".repeat(length).getBytes(StandardCharsets.US_ASCII);
        try (Node link = volume.symlink(root, FileName.of("l" + length), target, OWNER)) {
          volume.setXattr(link, name, value, XattrMode.CREATE);
          assertThat(volume.readlink(link)).isEqualTo(target);
        }
      }
      try (Node file = volume.mknod(root, FileName.of("regular"), FileType.REGULAR, 0, OWNER)) {
        volume.write(file, 0, MemorySegment.ofArray("text".getBytes(StandardCharsets.US_ASCII)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-b 1024 -I 128", "-b 4096 -I 256", "-b 1024 -I 128 -O ^extent,^64bit"})
  void ofTheKernel(String options) throws IOException {
    Path image = Mke2fs.make(folder.resolve("image"), options, "16M");
    try (KernelMount mount = KernelMount.of(image, "rw")) {
      for (int i = 0; i < DEVICES.length; i++) {
        Path node = mount.root().resolve("b" + i);
        Oracles.run("mknod", node, "b", DEVICES[i][0], DEVICES[i][1]).expect(0);
      }
      for (int length : new int[] {1, 59, 60, 500}) {
        Path link = mount.root().resolve("l" + length);
        Files.createSymbolicLink(link, Path.of("t".repeat(length)));
        String value = "v".repeat(300);
        Oracles.run("setfattr", "-h", "-n", "trusted.large", "-v", value, link).expect(0);
      }
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults());
        Node root = mount.volume().root()) {
      Volume volume = mount.volume();
      for (int i = 0; i < DEVICES.length; i++) {
        try (Node node = volume.lookup(root, FileName.of("b" + i))) {
          assertThat(volume.attributes(node).rdev()).isEqualTo(rdev(DEVICES[i]));
        }
      }
      for (int length : new int[] {1, 59, 60, 500}) {
        FileName name = FileName.of("l" + length);
        try (Node link = volume.lookup(root, name)) {
          assertThat(new String(volume.readlink(link))).isEqualTo("t".repeat(length));
          assertThat(volume.xattr(link, XattrName.of("trusted.large"))).hasSize(300);
        }
        volume.unlink(root, name);
      }
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
