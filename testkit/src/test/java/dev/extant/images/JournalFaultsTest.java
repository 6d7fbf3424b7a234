package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.Images;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordingDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Faults that other implementations of the format had around the journal and its recovery.
class JournalFaultsTest {
  @TempDir Path folder;
  private Path image;
  private Path crashed;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs", "tune2fs");
  }

  private void mke2fs(String size, Object... options) throws IOException {
    image = folder.resolve("fs.img");
    crashed = folder.resolve("crashed.img");
    Object[] start = {"-q", "-F", "-t", "ext4", "-E", "nodiscard"};
    Object[] all = Arrays.copyOf(start, start.length + options.length + 2);
    System.arraycopy(options, 0, all, start.length, options.length);
    all[all.length - 2] = image;
    all[all.length - 1] = size;
    Oracles.run("mke2fs", all).expect(0);
  }

  private static void check(Path image) throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static Map<String, String> exact(Extant mount) throws IOException {
    return TreeDescription.of(mount.fileSystem().getPath("/"), TreeDescription.Times.EXACT);
  }

  private static boolean needsRecovery(byte[] superblock) {
    return Superblock.features(MemorySegment.ofArray(superblock)).has(Feature.NEEDS_RECOVERY);
  }

  private static boolean needsRecovery(Path image) throws IOException {
    return needsRecovery(CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE));
  }

  /// Changes of names and contents; a sync after each round.
  private static void churn(Extant mount, String prefix, int rounds, int seed) throws IOException {
    FileSystem fs = mount.fileSystem();
    Random random = new Random(seed);
    for (int round = 0; round < rounds; round++) {
      Path directory = Files.createDirectories(fs.getPath("/" + prefix + round % 5));
      for (int i = 0; i < 8; i++) {
        byte[] bytes = new byte[random.nextInt(6_000)];
        random.nextBytes(bytes);
        Files.write(directory.resolve("file-" + i), bytes);
      }
      Files.move(
          directory.resolve("file-3"), directory.resolve("file-4"), StandardCopyOption.ATOMIC_MOVE);
      Files.delete(directory.resolve("file-5"));
      mount.volume().sync();
    }
  }

  /// Recovers the crashed image by us, by e2fsck and by the kernel, each a copy; all give the tree.
  private void assertRecovers(Map<String, String> expected) throws IOException {
    if (Oracles.find("mount").isPresent() && "root".equals(System.getProperty("user.name"))) {
      Path other = folder.resolve("other.img");
      Files.copy(crashed, other, StandardCopyOption.REPLACE_EXISTING);
      try (KernelMount kernel = KernelMount.of(other, "noatime")) {
        TreeDescription.requireSame(
            expected, TreeDescription.of(kernel.root(), TreeDescription.Times.EXACT));
      }
    }
    assertWeRecover(expected);
  }

  private void assertWeRecover(Map<String, String> expected) throws IOException {
    assertThat(needsRecovery(crashed)).isTrue();
    Path other = folder.resolve("other.img");
    Files.copy(crashed, other, StandardCopyOption.REPLACE_EXISTING);
    Oracles.run("e2fsck", "-fy", other).expect(0, 1);
    try (Extant mount = Extant.open(other, MountOptions.defaults().withReadOnly(true))) {
      TreeDescription.requireSame(expected, exact(mount));
    }
    try (Extant mount = Extant.open(crashed, MountOptions.parse("ro"))) {
      TreeDescription.requireSame(expected, exact(mount));
    }
    assertThat(needsRecovery(crashed)).as("after a read-only mount").isTrue();
    try (Extant mount = Extant.open(crashed, MountOptions.parse("noatime"))) {
      assertThat(mount.mountReport().recovery()).isNotNull();
      assertThat(mount.mountReport().recovery().damage()).isNull();
      TreeDescription.requireSame(expected, exact(mount));
    }
    assertThat(needsRecovery(crashed)).as("after a mount").isFalse();
    check(crashed);
  }

  /// Crashes the image after `churn`; returns the tree as it was then.
  private Map<String, String> crash(String prefix, int rounds, int seed) throws IOException {
    return crash(prefix, rounds, seed, InstantSource.system());
  }

  private Map<String, String> crash(String prefix, int rounds, int seed, InstantSource clock)
      throws IOException {
    AtomicReference<Map<String, String>> tree = new AtomicReference<>();
    CrashedImage.make(
        image,
        crashed,
        seed,
        MountOptions.parse("commit=0,noatime").withClock(clock),
        mount -> {
          churn(mount, prefix, rounds, seed);
          tree.set(exact(mount));
        });
    return tree.get();
  }

  @Test
  void theSuperblockNeedNotHaveTheJournalsUuid() throws IOException {
    mke2fs("16M", "-b", 1024);
    byte[] superblock = CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE);
    assertThat(Arrays.copyOfRange(superblock, 0xD0, 0xE0)).isEqualTo(new byte[16]);
    Map<String, String> expected = crash("d", 6, 1);
    assertRecovers(expected);
  }

  /// The old and the new file system make journals of the same layout, so that what the old one
  /// left begins right where the new one ends, with the sequence number that the new one expects.
  /// The old one is an hour older: where a transaction has a wrong checksum, Linux tells a stale
  /// one from a damaged one by the seconds of its commit time.
  @ParameterizedTest
  @CsvSource({
    "metadata_csum, mke2fs, lazy_journal_init=1",
    "metadata_csum, mke2fs, lazy_journal_init=0",
    "^metadata_csum, mke2fs, lazy_journal_init=0",
    "metadata_csum, extant, -",
    "^metadata_csum, extant, -"
  })
  void whatAnEarlierFileSystemLeftInTheJournalIsNotReplayed(
      String features, String maker, String extended) throws IOException {
    mke2fs("16M", "-b", 1024, "-O", features, "-U", UUID.randomUUID());
    InstantSource anHourAgo = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));
    crash("old-directory", 12, 2, anHourAgo);
    Files.move(crashed, image, StandardCopyOption.REPLACE_EXISTING);
    if (maker.equals("mke2fs")) {
      mke2fs("16M", "-b", 1024, "-O", features, "-E", "nodiscard," + extended);
    } else {
      try (FileDevice device = FileDevice.open(image, false)) {
        dev.extant.mkfs.Mkfs.make(
            device, MkfsOptions.builder().blockSizeBytes(1024).features(features).build());
      }
    }
    Map<String, String> expected = crash("new-directory", 5, 2);
    assertThat(expected).hasSize(5 + 5 * 6);
    assertRecovers(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"metadata_csum", "^metadata_csum", "^64bit,^metadata_csum"})
  void aJournalThatWrappedRecovers(String features) throws IOException {
    mke2fs("24M", "-b", 1024, "-J", "size=1", "-O", features);
    for (int seed = 1; seed <= 2; seed++) {
      AtomicReference<Map<String, String>> tree = new AtomicReference<>();
      int rounds = 200 + 7 * seed;
      CrashedImage.make(
          image,
          crashed,
          seed,
          mount -> {
            churn(mount, "d", rounds, rounds);
            tree.set(exact(mount));
            assertThat(mount.journalStatistics().blocksLogged()).isGreaterThan(2 * 1024);
          });
      assertRecovers(tree.get());
    }
  }

  @Test
  void aFragmentedJournalIsReadAndWritten() throws IOException {
    mke2fs("8M", "-b", 1024, "-O", "^has_journal", "-N", 8192);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      FileSystem fs = mount.fileSystem();
      int count = 0;
      for (; mount.volume().statistics().freeBlocks() > 900; count++) {
        Files.write(fs.getPath("/fill-" + count), new byte[3000]);
        if (count % 50 == 0) {
          mount.volume().sync();
        }
      }
      for (int i = 0; i < count; i += 3) {
        Files.delete(fs.getPath("/fill-" + i));
      }
    }
    check(image);
    Oracles.run("tune2fs", "-j", "-J", "size=1", image).expect(0);
    check(image);
    String extents = Oracles.run("debugfs", "-R", "dump_extents -l <8>", image).output();
    assertThat(extents.lines().count()).isGreaterThan(100);
    Map<String, String> expected = crash("d", 40, 1);
    assertRecovers(expected);
  }

  /// The journal holds good copies of blocks that are broken at home: recovery brings them back
  /// before anything judges them.
  @ParameterizedTest
  @ValueSource(ints = {1024, 4096})
  void theJournalIsReplayedBeforeHomeBlocksAreJudged(int blockSize) throws IOException {
    mke2fs("24M", "-b", blockSize, "-J", "size=4");
    Map<String, String> expected = crash("d", 10, 4);
    Set<Long> logged = loggedBlocks();
    long journalInodeBlock = number("imap <8>", "located at block (\\d+)");
    logged.remove(journalInodeBlock);
    logged.remove(blockSize == 1024 ? 1L : 0L);
    long descriptors = blockSize == 1024 ? 2 : 1;
    long rootDirectory = number("blocks <2>", "(?m)^(\\d+)");
    assertThat(logged).contains(descriptors, rootDirectory);
    logged.remove(descriptors);
    byte[] garbage = new byte[blockSize];
    new Random(1).nextBytes(garbage);
    for (long blockNr : logged) {
      CrashedImage.write(crashed, blockNr * blockSize, garbage);
    }
    Path withDescriptors = folder.resolve("with-descriptors.img");
    Files.copy(crashed, withDescriptors);
    assertRecovers(expected);
    // The kernel judges the descriptors first. They say where the journal's inode is: here their
    // checksums break, not their places.
    crashed = withDescriptors;
    long descriptorsAt = descriptors * blockSize;
    byte[] block = CrashedImage.read(crashed, descriptorsAt, blockSize);
    for (int at = 0; at < blockSize; at += 64) {
      block[at + 0x0C] ^= 0x55;
    }
    CrashedImage.write(crashed, descriptorsAt, block);
    assertWeRecover(expected);
  }

  /// The file system's blocks that the crashed image's journal has copies of. debugfs shows them
  /// all; what is older than the log's start is at home anyway.
  private Set<Long> loggedBlocks() throws IOException {
    String log = Oracles.run("debugfs", "-R", "logdump -a", crashed).expect(0).output();
    Set<Long> blocks = new LinkedHashSet<>();
    Matcher matcher = Pattern.compile("FS block (\\d+) logged at").matcher(log);
    while (matcher.find()) {
      blocks.add(Long.valueOf(matcher.group(1)));
    }
    return blocks;
  }

  private long number(String request, String pattern) throws IOException {
    String output = Oracles.run("debugfs", "-R", request, crashed).expect(0).output();
    Matcher matcher = Pattern.compile(pattern).matcher(output);
    assertThat(matcher.find()).as(output).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  /// Cuts the power at every moment of a mount that recovers: wherever needs_recovery is gone, what
  /// the journal held is at home; everywhere another recovery gives the same tree.
  @ParameterizedTest
  @ValueSource(strings = {"metadata_csum", "^metadata_csum", "orphan_file"})
  void needsRecoveryIsClearedOnlyAfterTheReplayIsDurable(String features) throws IOException {
    mke2fs("8M", "-b", 1024, "-J", "size=1", "-O", features);
    Map<String, String> expected = crash("d", 8, 5);
    Path state = folder.resolve("state.img");
    try (FileDevice base = FileDevice.open(crashed, true)) {
      RecordingDevice device = new RecordingDevice(new OverlayDevice(CrashedImage.shared(base)));
      Extant.open(device, MountOptions.parse("noatime")).close();
      CutStates states = new CutStates(base, device.log());
      int cleared = 0;
      for (long tick = 0; tick <= states.lastTick(); tick++) {
        try (BlockDevice after = states.materialise(tick, tick)) {
          byte[] superblock = new byte[Superblock.SIZE];
          after.read(Superblock.OFFSET, MemorySegment.ofArray(superblock));
          if (!needsRecovery(superblock)) {
            cleared++;
            Images.copy(after, state);
            check(state);
          }
          try (Extant mount =
              Extant.open(CrashedImage.shared(after), MountOptions.parse("noatime"))) {
            TreeDescription.requireSame(expected, exact(mount));
          } catch (IOException | AssertionError e) {
            throw new AssertionError("cut at tick " + tick + ": " + e.getMessage(), e);
          }
        }
      }
      assertThat(cleared).isPositive().isLessThan((int) states.lastTick());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"metadata_csum", "^has_journal", "orphan_file", "^metadata_csum"})
  void anImageOpenedAndClosedWithoutAChangeIsClean(String features) throws IOException {
    mke2fs("16M", "-b", 1024, "-O", features);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Files.writeString(mount.fileSystem().getPath("/file"), "content");
    }
    for (int i = 0; i < 2; i++) {
      byte[] before = Files.readAllBytes(image);
      Extant.open(image, MountOptions.defaults()).close();
      check(image);
      assertThat(needsRecovery(image)).isFalse();
      byte[] superblock = CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE);
      assertThat(Superblock.state(MemorySegment.ofArray(superblock)))
          .isEqualTo(Superblock.STATE_CLEAN);
      byte[] after = Files.readAllBytes(image);
      Extant.open(image, MountOptions.parse("ro")).close();
      assertThat(Files.mismatch(image, write("after", after))).isEqualTo(-1);
      assertThat(after).hasSameSizeAs(before);
    }
    if (Oracles.find("mount").isPresent() && "root".equals(System.getProperty("user.name"))) {
      try (KernelMount kernel = KernelMount.of(image, "rw")) {
        assertThat(Files.readString(kernel.root().resolve("file"))).isEqualTo("content");
      }
    }
    check(image);
  }

  private Path write(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }
}
