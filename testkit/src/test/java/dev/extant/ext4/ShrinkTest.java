package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.TreeSnapshot;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// File systems of many layouts, with files, holes, links, attributes and large directories behind
/// their new end, become smaller and keep all of that.
class ShrinkTest {
  private static final long MIB = 1L << 20;

  @TempDir Path directory;
  private Path image;

  @BeforeEach
  void tools() {
    Oracles.require("mke2fs", "e2fsck", "dumpe2fs");
    image = directory.resolve("shrunk.img");
  }

  private void make(String options, long sizeMebibytes) throws IOException {
    List<Object> arguments = new ArrayList<>(List.of(options.replace('/', ',').split(" ")));
    arguments.addAll(List.of("-q", image, sizeMebibytes + "M"));
    Oracles.run("mke2fs", arguments.toArray()).expect(0);
  }

  /// Fills the file system and deletes most of it again, so that what stays lies all over it.
  private void fill(long seed) throws IOException {
    Random random = new Random(seed);
    try (Extant mounted = Extant.open(image, MountOptions.defaults())) {
      Path root = mounted.fileSystem().getPath("/");
      List<Path> ballast = new ArrayList<>();
      long freeBytes = mounted.volume().statistics().freeBlocks();
      freeBytes *= mounted.volume().statistics().blockSizeBytes();
      int pieces = 24;
      for (int i = 0; i < pieces; i++) {
        Path file = root.resolve("ballast" + i);
        ballast.add(file);
        writeRandom(file, freeBytes * 8 / 10 / pieces, random);
        Path dir = Files.createDirectories(root.resolve("dir" + i % 5).resolve("sub" + i));
        writeRandom(dir.resolve("file"), random.nextInt(200_000), random);
        writeSparse(dir.resolve("sparse"), random);
        for (int k = 0; k < 12; k++) {
          Files.writeString(dir.resolve("small" + k), "small " + i + " " + k);
        }
        Files.createLink(root.resolve("link" + i), dir.resolve("file"));
        Files.createSymbolicLink(dir.resolve("symlink"), dir.resolve("t".repeat(20 + 8 * i)));
      }
      largeDirectory(root.resolve("large"));
      for (Path file : ballast) {
        Files.delete(file);
      }
    }
  }

  private static void largeDirectory(Path dir) throws IOException {
    Files.createDirectory(dir);
    Path first = Files.writeString(dir.resolve("first"), "the first");
    for (int i = 0; i < 600; i++) {
      Files.createLink(dir.resolve("a name that takes some room " + i), first);
    }
  }

  private static void writeRandom(Path file, long bytes, Random random) throws IOException {
    byte[] chunk = new byte[64 << 10];
    try (OutputStream out = Files.newOutputStream(file)) {
      for (long left = bytes; left > 0; left -= chunk.length) {
        random.nextBytes(chunk);
        out.write(chunk, 0, (int) Math.min(left, chunk.length));
      }
    }
  }

  /// A block here and there, so that the map of the file is large.
  private static void writeSparse(Path file, Random random) throws IOException {
    byte[] bytes = new byte[1024];
    try (var channel =
        Files.newByteChannel(
            file,
            java.nio.file.StandardOpenOption.CREATE_NEW,
            java.nio.file.StandardOpenOption.WRITE)) {
      for (int i = 0; i < 20; i++) {
        random.nextBytes(bytes);
        channel.position(i * 130_000L);
        channel.write(java.nio.ByteBuffer.wrap(bytes));
      }
    }
  }

  private TreeSnapshot tree() throws IOException {
    try (Extant mounted = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      return TreeSnapshot.of(mounted.volume());
    }
  }

  private void clean() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  @ParameterizedTest
  @CsvSource({
    "-t ext4 -b 1024 -J size=1, 64, 40",
    "-t ext4 -b 1024 -J size=1 -O ^resize_inode, 200, 150",
    "-t ext4 -b 1024 -J size=1 -O sparse_super2, 64, 40",
    "-t ext4 -b 1024 -O ^has_journal, 64, 40",
    "-t ext2 -b 1024, 64, 60",
    "-t ext3 -b 1024 -J size=1, 64, 60",
  })
  void shrinks(String options, long from, long to) throws IOException {
    shrink(options, from, to);
  }

  @ParameterizedTest
  @EnabledIfSystemProperty(named = "extant.layouts", matches = "all")
  @CsvSource({
    "-t ext4 -b 1024 -J size=1 -O ^64bit, 64, 33",
    "-t ext4 -b 1024 -J size=1 -O meta_bg/^resize_inode, 200, 150",
    "-t ext4 -b 1024 -J size=1 -O ^flex_bg/^sparse_super/^resize_inode, 64, 60",
    "-t ext4 -b 1024 -J size=1 -O ^metadata_csum/uninit_bg, 64, 40",
    "-t ext4 -b 1024 -J size=1 -O ^metadata_csum/^uninit_bg, 64, 40",
    "-t ext4 -b 1024 -J size=1 -O inline_data -I 256, 64, 40",
    "-t ext4 -b 1024 -O ^has_journal/bigalloc -C 8192, 100, 60",
    "-t ext4 -b 4096 -J size=4 -g 1024 -O ^resize_inode, 64, 40",
  })
  void shrinksOtherLayouts(String options, long from, long to) throws IOException {
    shrink(options, from, to);
  }

  private void shrink(String options, long from, long to) throws IOException {
    make(options, from);
    fill(from);
    clean();
    TreeSnapshot before = tree();
    long reached = Extant.resize(image, to * MIB);
    assertThat(reached).isBetween((to - 8) * MIB, to * MIB);
    assertThat(Files.size(image)).isEqualTo(to * MIB);
    clean();
    before.requireSame("shrunk", tree());
    long minimum = Extant.minimumSize(image);
    long least = Extant.shrinkToMinimum(image);
    assertThat(least).isLessThanOrEqualTo(minimum);
    assertThat(Files.size(image)).isEqualTo(least);
    clean();
    before.requireSame("shrunk", tree());
    Extant.resize(image, from * MIB);
    clean();
    before.requireSame("shrunk", tree());
    Oracles.requireRoot();
    try (KernelMount mounted = KernelMount.of(image, "rw")) {
      before.requireSame("seen by the kernel", TreeSnapshot.of(mounted.root()));
      Files.writeString(mounted.root().resolve("by-the-kernel"), "written");
    }
    clean();
  }
}
