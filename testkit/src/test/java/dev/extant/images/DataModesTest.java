package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `data=journal` and `data=writeback` in images: what a crash leaves, what others make of it.
class DataModesTest {
  /// Begins a block of a journal, so that a copy of it in the log has to be escaped.
  private static final int JBD2_MAGIC = 0xC03B3998;

  @TempDir Path folder;
  private Path image;
  private Path crashed;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  private void mke2fs(String size, Object... options) throws IOException {
    image = folder.resolve("fs.img");
    crashed = folder.resolve("crashed.img");
    Object[] start = {"-q", "-F", "-t", "ext4"};
    Object[] all = Arrays.copyOf(start, start.length + options.length + 2);
    System.arraycopy(options, 0, all, start.length, options.length);
    all[all.length - 2] = image;
    all[all.length - 1] = size;
    Oracles.run("mke2fs", all).expect(0);
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    ByteBuffer.wrap(bytes).putInt(JBD2_MAGIC);
    return bytes;
  }

  private static Map<String, String> exact(Extant mount) throws IOException {
    return TreeDescription.of(mount.fileSystem().getPath("/"), TreeDescription.Times.EXACT);
  }

  /// The crashed image recovers to the tree under e2fsck, the kernel and us.
  private void assertRecovers(Map<String, String> expected) throws IOException {
    Path other = folder.resolve("other.img");
    Files.copy(crashed, other, StandardCopyOption.REPLACE_EXISTING);
    Oracles.run("e2fsck", "-fy", other).expect(0, 1);
    try (Extant mount = Extant.open(other, MountOptions.defaults().withReadOnly(true))) {
      TreeDescription.requireSame(expected, exact(mount));
    }
    try (Extant mount = Extant.open(crashed, MountOptions.parse("noatime"))) {
      TreeDescription.requireSame(expected, exact(mount));
    }
    Oracles.run("e2fsck", "-fn", crashed).expect(0);
    Oracles.requireRoot();
    try (KernelMount kernel = KernelMount.of(crashed, "ro")) {
      TreeDescription.requireSame(
          expected, TreeDescription.of(kernel.root(), TreeDescription.Times.EXACT));
    }
  }

  private static void force(FileSystem fs, String name, byte[] bytes, long at) throws IOException {
    try (FileChannel channel =
        FileChannel.open(fs.getPath(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(bytes), at);
      channel.force(false);
    }
  }

  /// How many blocks of the file hold that content although no journal was replayed.
  private long blocksAtHome(Path file, byte[] content, int blockSize) throws IOException {
    Path dumped = folder.resolve("dumped");
    Oracles.run("debugfs", "-R", "dump /big " + dumped, file).expect(0);
    byte[] found = Files.readAllBytes(dumped);
    long same = 0;
    for (int at = 0; at + blockSize <= Math.min(found.length, content.length); at += blockSize) {
      same += Arrays.equals(found, at, at + blockSize, content, at, at + blockSize) ? 1 : 0;
    }
    return same;
  }

  @ParameterizedTest
  @CsvSource({
    "4096, metadata_csum, 4",
    "1024, metadata_csum, 1",
    "1024, '^metadata_csum,^64bit', 4"
  })
  void journaledDataIsDurableWithoutBeingAtHome(int blockSize, String features, int journal)
      throws IOException {
    mke2fs("32M", "-b", blockSize, "-O", features, "-J", "size=" + journal);
    byte[] old = bytes(200_000, 1);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Files.write(mount.fileSystem().getPath("/big"), old);
    }
    byte[] newer = bytes(100_000, 2);
    for (int seed = 1; seed <= 3; seed++) {
      CrashedImage.make(
          image,
          crashed,
          seed,
          "data=journal",
          mount -> {
            force(mount.fileSystem(), "/big", newer, 0);
            force(mount.fileSystem(), "/small", bytes(5_000, 3), 100_000);
            try (FileChannel channel =
                FileChannel.open(mount.fileSystem().getPath("/big"), StandardOpenOption.WRITE)) {
              channel.truncate(199_999);
              channel.write(ByteBuffer.allocate(1), 249_999);
            }
          });
      assertThat(blocksAtHome(crashed, newer, blockSize)).isZero();
      byte[] expected = Arrays.copyOf(Arrays.copyOf(old, 199_999), 250_000);
      System.arraycopy(newer, 0, expected, 0, newer.length);
      Map<String, String> tree;
      try (Extant mount = Extant.open(crashed, MountOptions.parse("ro"))) {
        FileSystem fs = mount.fileSystem();
        assertThat(Arrays.equals(Files.readAllBytes(fs.getPath("/big")), expected)).isTrue();
        assertThat(Arrays.copyOfRange(Files.readAllBytes(fs.getPath("/small")), 100_000, 105_000))
            .isEqualTo(bytes(5_000, 3));
        tree = exact(mount);
      }
      assertRecovers(tree);
    }
  }

  /// With the flag on their directory, files are journaled in any mode, while others are not.
  @ParameterizedTest
  @CsvSource({"4096, ordered", "1024, ordered", "1024, writeback"})
  void replayDoesNotBringDeletedDataOverItsReuse(int blockSize, String mode) throws IOException {
    mke2fs("16M", "-b", blockSize, "-J", "size=4");
    Oracles.run("debugfs", "-w", "-R", "mkdir /journaled", image).expect(0);
    Oracles.run("debugfs", "-w", "-R", "sif /journaled flags 0x84000", image).expect(0);
    int deletedBlocks = 400_000 / blockSize;
    byte[] rest = bytes(32 << 20, 5);
    CrashedImage.make(
        image,
        crashed,
        4,
        "data=" + mode,
        mount -> {
          FileSystem fs = mount.fileSystem();
          long loggedBefore = mount.journalStatistics().blocksLogged();
          force(fs, "/journaled/deleted", bytes(400_000, 4), 0);
          assertThat(mount.journalStatistics().blocksLogged() - loggedBefore)
              .isGreaterThan(deletedBlocks);
          Files.delete(fs.getPath("/journaled/deleted"));
          mount.volume().sync();
          try {
            force(fs, "/rest", rest, 0);
          } catch (FileSystemException e) {
            assertThat(e).hasMessageContaining("space");
          }
          assertThat(mount.volume().statistics().freeBlocks()).isZero();
        });
    Map<String, String> tree;
    try (Extant mount = Extant.open(crashed, MountOptions.parse("ro"))) {
      assertThat(mount.mountReport().recovery().revokeHits()).isGreaterThanOrEqualTo(deletedBlocks);
      byte[] found = Files.readAllBytes(mount.fileSystem().getPath("/rest"));
      assertThat(found.length).isGreaterThan(8 << 20);
      assertThat(Arrays.equals(found, Arrays.copyOf(rest, found.length))).isTrue();
      tree = exact(mount);
    }
    assertRecovers(tree);
  }

  /// Far more data and revokes than the journal has blocks, through it and back.
  @Test
  void filesLargerThanTheJournalGoThroughIt() throws IOException {
    mke2fs("64M", "-b", 1024, "-J", "size=1");
    byte[] big = bytes(20 << 20, 6);
    try (Extant mount = Extant.open(image, MountOptions.parse("data=journal,commit=0"))) {
      FileSystem fs = mount.fileSystem();
      Files.write(fs.getPath("/big"), big);
      Files.write(fs.getPath("/kept"), big);
      assertThat(Arrays.equals(Files.readAllBytes(fs.getPath("/big")), big)).isTrue();
      Files.delete(fs.getPath("/big"));
      mount.volume().sync();
      assertThat(mount.journalStatistics().blocksLogged()).isGreaterThan(40_000);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    Oracles.requireRoot();
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      assertThat(Arrays.equals(Files.readAllBytes(kernel.root().resolve("kept")), big)).isTrue();
      assertThat(kernel.root().resolve("big")).doesNotExist();
    }
  }

  /// Nothing orders the data, but an fsync writes it first.
  @Test
  void whatWasSyncedWithWritebackIsThere() throws IOException {
    mke2fs("16M");
    for (int seed = 1; seed <= 5; seed++) {
      byte[] content = bytes(300_000, seed);
      CrashedImage.make(
          image,
          crashed,
          seed,
          "data=writeback",
          mount -> force(mount.fileSystem(), "/file", content, 0));
      try (Extant mount = Extant.open(crashed, MountOptions.parse("ro"))) {
        byte[] found = Files.readAllBytes(mount.fileSystem().getPath("/file"));
        assertThat(Arrays.equals(found, content)).as("seed " + seed).isTrue();
      }
    }
  }

  @Test
  void withoutAJournalTheDataIsWrittenHome() throws IOException {
    mke2fs("16M", "-O", "^has_journal");
    try (Extant mount = Extant.open(image, MountOptions.parse("data=journal"))) {
      force(mount.fileSystem(), "/big", bytes(100_000, 1), 0);
      assertThat(blocksAtHome(image, bytes(100_000, 1), 4096)).isPositive();
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
