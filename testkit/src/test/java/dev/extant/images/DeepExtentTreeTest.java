package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.FileName;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Files whose extent tree has three levels below the inode, which with blocks of 1 KiB takes more
/// than 4 * 84 * 84 extents.
class DeepExtentTreeTest {
  private static final int BLOCK = 1024;
  private static final int EXTENTS = 30_000;

  /// How every other block comes to differ from its neighbours.
  enum Making {
    WRITTEN_BETWEEN_HOLES,
    WRITTEN_AMONG_UNWRITTEN,
    PUNCHED
  }

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  private static byte[] block(int number) {
    byte[] bytes = new byte[BLOCK];
    Arrays.fill(bytes, (byte) (number % 251 + 1));
    return bytes;
  }

  private static void write(Volume volume, Node file, int number) throws IOException {
    MemorySegment bytes = MemorySegment.ofArray(block(number));
    assertThat(volume.write(file, (long) number * BLOCK, bytes)).isEqualTo(BLOCK);
  }

  private static void make(Volume volume, Node file, Making making) throws IOException {
    int blocks = making == Making.WRITTEN_AMONG_UNWRITTEN ? EXTENTS : 2 * EXTENTS;
    if (making == Making.WRITTEN_AMONG_UNWRITTEN) {
      volume.allocate(file, AllocateMode.ALLOCATE, 0, (long) blocks * BLOCK);
    }
    for (int i = 0; i < blocks; i++) {
      if (i % 2 == 0 || making == Making.PUNCHED) {
        write(volume, file, i);
      }
    }
    for (int i = 1; i < blocks && making == Making.PUNCHED; i += 2) {
      volume.allocate(file, AllocateMode.PUNCH_HOLE, (long) i * BLOCK, BLOCK);
    }
  }

  private static void assertContent(Path file, int blocks) throws IOException {
    byte[] zeroes = new byte[BLOCK];
    int number = 0;
    try (InputStream in = Files.newInputStream(file)) {
      for (byte[] bytes = in.readNBytes(BLOCK);
          bytes.length == BLOCK;
          bytes = in.readNBytes(BLOCK)) {
        byte[] expected = number % 2 == 0 ? block(number) : zeroes;
        if (!Arrays.equals(bytes, expected)) {
          assertThat(bytes).as("block %d", number).isEqualTo(expected);
        }
        number++;
      }
    }
    assertThat(number).isEqualTo(blocks);
  }

  private int depth() throws IOException {
    String extents = Oracles.run("debugfs", "-R", "ex -n /file", image).expect(0).output();
    return extents
        .lines()
        .map(String::strip)
        .filter(line -> line.matches("0/ *[0-9]+ .*"))
        .mapToInt(line -> Integer.parseInt(line.split("[/ ]+")[1]))
        .findFirst()
        .orElse(0);
  }

  @ParameterizedTest
  @EnumSource(Making.class)
  void itIsMadeReadAndTakenDown(Making making) throws IOException {
    Assumptions.assumeTrue(LongRuns.WANTED || making != Making.PUNCHED, "only in long runs");
    image = Mke2fs.make(folder.resolve("image"), "-b 1024 -O extent", "96M");
    try (Extant mount = Extant.open(image, MountOptions.parse("noatime"))) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node file = volume.create(root, FileName.of("file"), new NewFile(0644, 0, 0))) {
        LongRuns.timed(making + ", making it", () -> make(volume, file, making));
      }
    }
    assertThat(depth()).isEqualTo(3);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    int blocks =
        making == Making.WRITTEN_AMONG_UNWRITTEN
            ? EXTENTS
            : making == Making.PUNCHED ? 2 * EXTENTS : 2 * EXTENTS - 1;
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertContent(mount.fileSystem().getPath("/file"), blocks);
    }
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      assertContent(kernel.root().resolve("file"), blocks);
    }
    LongRuns.timed(making + ", taking it down, with checks", () -> takeDown(blocks));
    assertThat(depth()).isZero();
  }

  private void takeDown(int blocks) throws IOException {
    for (int rest : new int[] {blocks - 1, blocks / 2, 600, 2, 0}) {
      truncate(rest);
    }
  }

  private void truncate(int blocks) throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.parse("noatime"))) {
      Volume volume = mount.volume();
      try (Node root = volume.root();
          Node file = volume.lookup(root, FileName.of("file"))) {
        volume.truncate(file, (long) blocks * BLOCK);
      }
      assertContent(mount.fileSystem().getPath("/file"), blocks);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
