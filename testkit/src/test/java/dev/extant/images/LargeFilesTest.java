package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A sparse file of 5 GiB with a little in it, and one that is written whole: 3 GiB in the long
/// form.
class LargeFilesTest {
  private static final long GIB = 1L << 30;
  private static final long SPARSE_SIZE = 5 * GIB;
  private static final int PIECE = 70_000;
  private static final long[] OFFSETS = {
    0, GIB - 1000, 2 * GIB - 30_000, 4 * GIB - 35_000, SPARSE_SIZE - PIECE
  };
  private static final long WRITTEN_SIZE = LongRuns.WANTED ? 3 * GIB : 96L << 20;
  private static final int CHUNK = 1 << 20;

  @TempDir Path folder;
  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck");
  }

  private void mke2fs(String type, int blockSize, long sizeBytes) throws IOException {
    image = folder.resolve("image");
    Oracles.run("mke2fs", "-q", "-F", "-t", type, "-b", blockSize, image, (sizeBytes >> 10) + "k")
        .expect(0);
  }

  private static ByteBuffer piece(long seed, int length) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    SplittableRandom random = new SplittableRandom(seed);
    while (bytes.remaining() >= 8) {
      bytes.putLong(random.nextLong());
    }
    return bytes.clear();
  }

  private static void write(FileChannel channel, long offset, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes, offset + bytes.position());
    }
  }

  private static void assertPiece(FileChannel channel, long offset, ByteBuffer expected)
      throws IOException {
    ByteBuffer found = ByteBuffer.allocate(expected.capacity());
    while (found.hasRemaining()) {
      assertThat(channel.read(found, offset + found.position())).isPositive();
    }
    assertThat(found.flip().mismatch(expected)).as("at %d", offset).isEqualTo(-1);
  }

  private static void assertSparse(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      assertThat(channel.size()).isEqualTo(SPARSE_SIZE);
      for (long offset : OFFSETS) {
        assertPiece(channel, offset, piece(offset, PIECE));
      }
      assertPiece(channel, 3 * GIB, ByteBuffer.allocate(PIECE));
    }
    assertThat((long) Files.getAttribute(file, "unix:size")).isEqualTo(SPARSE_SIZE);
  }

  @ParameterizedTest
  @CsvSource({"ext4, 4096", "ext4, 1024", "ext3, 4096", "ext2, 1024"})
  void fiveGibibytesSparse(String type, int blockSize) throws IOException {
    mke2fs(type, blockSize, 32L << 20);
    try (Extant mount = Extant.open(image, MountOptions.defaults());
        FileChannel channel =
            FileChannel.open(
                mount.fileSystem().getPath("/sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE)) {
      for (long offset : OFFSETS) {
        write(channel, offset, piece(offset, PIECE));
      }
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      assertSparse(kernel.root().resolve("sparse"));
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path file = mount.fileSystem().getPath("/sparse");
      assertSparse(file);
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.truncate(2 * GIB);
      }
      assertThat(Files.size(file)).isEqualTo(2 * GIB);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Files.delete(mount.fileSystem().getPath("/sparse"));
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void assertWritten(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      assertThat(channel.size()).isEqualTo(WRITTEN_SIZE);
      for (long offset = 0; offset < WRITTEN_SIZE; offset += CHUNK) {
        assertPiece(channel, offset, piece(offset, CHUNK));
      }
    }
  }

  @Test
  void writtenWhole() throws IOException {
    mke2fs("ext4", 4096, WRITTEN_SIZE + WRITTEN_SIZE / 16 + (64L << 20));
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path file = mount.fileSystem().getPath("/written");
      LongRuns.timed(
          "writing " + WRITTEN_SIZE + " bytes, made for it, and fsync", () -> fill(file));
      LongRuns.timed("reading and comparing them", () -> assertWritten(file));
    }
    LongRuns.timed("both checks", () -> Oracles.run("e2fsck", "-fn", image).expect(0));
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      LongRuns.timed(
          "reading and comparing in the kernel's mount",
          () -> assertWritten(kernel.root().resolve("written")));
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path file = mount.fileSystem().getPath("/written");
      LongRuns.timed("deleting", () -> Files.delete(file));
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void fill(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long offset = 0; offset < WRITTEN_SIZE; offset += CHUNK) {
        write(channel, offset, piece(offset, CHUNK));
      }
      channel.force(true);
    }
  }
}
