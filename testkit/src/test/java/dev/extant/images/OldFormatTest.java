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
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What only old file systems have: block pointers of all levels, revision 0, names hashed in every
/// way; written by the kernel and read by us, and the other way round.
class OldFormatTest {
  private static final int PART_BYTES = 5_000;

  @TempDir Path folder;
  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs", "dumpe2fs");
  }

  @BeforeEach
  void nameImage() {
    image = folder.resolve("fs.img");
  }

  private void mke2fs(String options, String size) throws IOException {
    String[] words = options.split(" ");
    Object[] all = Arrays.copyOf(new Object[] {"-q", "-F"}, words.length + 4);
    System.arraycopy(words, 0, all, 2, words.length);
    all[all.length - 2] = image;
    all[all.length - 1] = size;
    Oracles.run("mke2fs", all).expect(0);
  }

  private void e2fsck() throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private String debugfs(String command) throws IOException {
    return Oracles.run("debugfs", "-w", "-R", command, image).expect(0).output();
  }

  private static byte[] part(long at) {
    byte[] bytes = new byte[PART_BYTES];
    new Random(at).nextBytes(bytes);
    return bytes;
  }

  private static void writePart(FileChannel channel, long at) throws IOException {
    assertThat(channel.write(ByteBuffer.wrap(part(at)), at)).isEqualTo(PART_BYTES);
  }

  /// Around the borders of the levels, and in the middle of the last one.
  private static long[] places(int blockSize) {
    long perBlock = blockSize / 4;
    long single = 12;
    long twice = single + perBlock;
    long thrice = twice + perBlock * perBlock;
    return new long[] {
      0,
      single * blockSize - 100,
      twice * blockSize - 2_000,
      (twice + 3 * perBlock) * blockSize - 1,
      thrice * blockSize - 3_000,
      (thrice + perBlock * perBlock) * blockSize - 500,
      (thrice + 7 * perBlock * perBlock + 5) * blockSize + 7
    };
  }

  private static void writeAll(Path file, int blockSize) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long at : places(blockSize)) {
        writePart(channel, at);
      }
      channel.force(true);
    }
  }

  private static void checkAll(Path file, int blockSize) throws IOException {
    long[] places = places(blockSize);
    long size = places[places.length - 1] + PART_BYTES;
    assertThat(Files.size(file)).isEqualTo(size);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      for (long at : places) {
        ByteBuffer found = ByteBuffer.allocate(PART_BYTES + 20_000);
        channel.read(found, at);
        byte[] expected = Arrays.copyOf(part(at), found.position());
        assertThat(Arrays.copyOf(found.array(), PART_BYTES))
            .isEqualTo(Arrays.copyOf(expected, PART_BYTES));
      }
      ByteBuffer hole = ByteBuffer.allocate(100_000);
      channel.read(hole, places[4] - 200_000);
      assertThat(hole.array()).containsOnly(0);
    }
  }

  @ParameterizedTest
  @CsvSource({"ext2, 1024", "ext3, 1024", "ext3, 2048", "ext2, 4096"})
  void allLevelsAreTheSameForTheKernel(String type, int blockSize) throws IOException {
    mke2fs("-t " + type + " -b " + blockSize, "40M");
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      writeAll(kernel.root().resolve("theirs"), blockSize);
      writeAll(kernel.root().resolve("cut"), blockSize);
    }
    long cut = places(blockSize)[3] + 1;
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path root = mount.fileSystem().getPath("/");
      checkAll(root.resolve("theirs"), blockSize);
      writeAll(root.resolve("ours"), blockSize);
      writeAll(root.resolve("gone"), blockSize);
      Files.delete(root.resolve("gone"));
      try (FileChannel channel = FileChannel.open(root.resolve("cut"), StandardOpenOption.WRITE)) {
        channel.truncate(cut);
      }
    }
    e2fsck();
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      checkAll(kernel.root().resolve("theirs"), blockSize);
      checkAll(kernel.root().resolve("ours"), blockSize);
      assertThat(Files.size(kernel.root().resolve("cut"))).isEqualTo(cut);
      Files.delete(kernel.root().resolve("cut"));
      Files.delete(kernel.root().resolve("ours"));
    }
    e2fsck();
  }

  /// The largest file of each block size is the kernel's too, or a block shorter.
  @ParameterizedTest
  @CsvSource({
    "1024, ext2",
    "2048, ext2",
    "4096, ext2",
    "4096, 'ext4 -O ^extent,^64bit'",
    "4096, 'ext4 -O ^huge_file'",
    "1024, 'ext4 -O ^huge_file'"
  })
  void filesEndWhereTheKernelsEnd(int blockSize, String type) throws IOException {
    mke2fs("-b " + blockSize + " -t " + type, "20M");
    long most;
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      most = mostBytes(kernel.root().resolve("file"));
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path file = mount.fileSystem().getPath("/file");
      long ours = mostBytes(file);
      assertThat(ours).isBetween(most - blockSize, most);
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.allocate(10), ours - 10);
        assertThat(channel.size()).isEqualTo(ours);
      }
    }
    e2fsck();
  }

  /// Found by trying: the largest offset behind which a byte can be written.
  private static long mostBytes(Path file) throws IOException {
    long low = 1;
    long high = 1L << 45;
    Files.write(file, new byte[1]);
    while (low < high) {
      long middle = (low + high + 1) >>> 1;
      if (canEndAt(file, middle)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private static boolean canEndAt(Path file, long sizeBytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(1), sizeBytes - 1);
      channel.truncate(1);
      return true;
    } catch (IOException e) {
      assertThat(e.getMessage()).containsIgnoringCase("large");
      return false;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-t ext3 -O ^large_file", "-t ext2 -r 0", "-t ext4 -O ^large_file"})
  void theFeatureLargeFileComesWithTheFirstLargeFile(String options) throws IOException {
    mke2fs(options, "20M");
    for (long size : new long[] {Integer.MAX_VALUE, Integer.MAX_VALUE + 1L}) {
      try (Extant mount = Extant.open(image, MountOptions.defaults())) {
        Path file = mount.fileSystem().getPath("/file");
        Files.deleteIfExists(file);
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
          channel.write(ByteBuffer.allocate(1), size - 1);
        }
      }
      e2fsck();
      String header = Oracles.run("dumpe2fs", "-h", image).expect(0).output();
      assertThat(header.contains("large_file")).isEqualTo(size > Integer.MAX_VALUE);
    }
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      assertThat(Files.size(kernel.root().resolve("file"))).isEqualTo(Integer.MAX_VALUE + 1L);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-r 0 -b 1024",
        "-r 0 -b 4096",
        "-r 0 -b 2048 -g 4096",
        "-t ext2 -O none -I 128 -b 1024",
        "-t ext3 -O ^sparse_super,^resize_inode,^filetype,^dir_index -I 128"
      })
  void oldRevisionsAreReadAndWritten(String options) throws IOException {
    Path tree = folder.resolve("tree");
    SampleTree.make(tree);
    mke2fs(options + " -d " + tree, "72M");
    Map<String, String> original = TreeDescription.of(tree, TreeDescription.Times.COPIED);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path root = mount.fileSystem().getPath("/");
      TreeDescription.requireSame(original, TreeDescription.of(root, TreeDescription.Times.COPIED));
      BulkChanges.apply(root, 5);
    }
    e2fsck();
    BulkChanges.apply(tree, 5);
    Map<String, String> changed = TreeDescription.of(tree, TreeDescription.Times.COPIED);
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      TreeDescription.requireSame(
          changed, TreeDescription.of(kernel.root(), TreeDescription.Times.COPIED));
    }
  }

  /// Names with bytes above 127, in directories that the kernel indexed, looked up and added to by
  /// us and by the kernel again.
  @ParameterizedTest
  @CsvSource({
    "legacy, 1",
    "legacy, 2",
    "half_md4, 1",
    "half_md4, 2",
    "tea, 1",
    "tea, 2",
    "half_md4, 0"
  })
  void namesAreHashedAsTheSuperblockSays(String hash, int flags) throws IOException {
    mke2fs("-t ext3 -b 1024", "20M");
    debugfs("ssv def_hash_version " + hash);
    debugfs("ssv flags " + flags);
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Files.createDirectory(kernel.root().resolve("names"));
      create(kernel.root(), 0, 400);
    }
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path root = mount.fileSystem().getPath("/");
      find(root, 0, 400);
      create(root, 400, 800);
      find(root, 0, 800);
    }
    e2fsck();
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      find(kernel.root(), 0, 800);
      create(kernel.root(), 800, 1000);
    }
    e2fsck();
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      find(mount.fileSystem().getPath("/"), 0, 1000);
    }
  }

  private static String name(int number) {
    return "näme-ÿ-€-" + number * 7919 + "-" + "ж".repeat(number % 30);
  }

  private static void create(Path root, int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      Files.createFile(root.resolve("names").resolve(name(i)));
    }
  }

  private static void find(Path root, int from, int to) {
    for (int i = from; i < to; i++) {
      assertThat(root.resolve("names").resolve(name(i))).exists();
    }
  }
}
