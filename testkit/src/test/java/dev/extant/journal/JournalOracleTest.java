package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.BlockHeader;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.util.Be;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Journals written by debugfs and recovered by us, and the other way round: both programs make the
/// same of them.
@Timeout(120)
class JournalOracleTest {
  /// Blocks of the image that nothing uses.
  private static final int FREE = 5000;

  private static final int BLOCK = 1024;

  @TempDir Path folder;

  @BeforeEach
  void needDebugfs() {
    Oracles.require("mke2fs", "debugfs");
  }

  private String content(int value, int blocks) throws IOException {
    byte[] bytes = new byte[BLOCK * blocks];
    Arrays.fill(bytes, (byte) value);
    if (value == 0xC0) {
      MemorySegment segment = MemorySegment.ofArray(bytes);
      for (int i = 0; i < blocks; i++) {
        BlockHeader.write(segment.asSlice((long) i * BLOCK, BLOCK), BlockHeader.COMMIT, value);
      }
    }
    return Files.write(folder.resolve("content" + value), bytes).toString();
  }

  private JournalImage image(boolean checksums, boolean wide) throws IOException {
    String features = (checksums ? "" : "^") + "metadata_csum," + (wide ? "" : "^") + "64bit";
    return JournalImage.make(folder.resolve("image"), features);
  }

  @ParameterizedTest
  @CsvSource({
    "false, false, ''",
    "false, true, ''",
    "true, false, -c -v 2",
    "true, true, -c -v 2",
    "true, false, -c -v 3",
    "true, true, -c -v 3"
  })
  void whatDebugfsLoggedIsRecoveredAlike(boolean checksums, boolean wide, String options)
      throws IOException {
    JournalImage image = image(checksums, wide);
    image.debugfs(
        "jo " + options,
        "jw -b 5000-5129 " + content(1, 130),
        "jw -b 5010,5020,5030 " + content(2, 3),
        "jw -r 5010,5011",
        "jw -b 5011,5012,5040 " + content(0xC0, 3),
        "jw -r 5030-5040",
        "jw -b 5040 -c " + content(4, 1),
        "jc");
    JournalImage ours = image.copy("ours");
    JournalImage theirs = image.copy("theirs");
    RecoveryReport report = ours.recover();
    theirs.debugfs("jr");
    assertThat(report.damage()).isNull();
    assertThat(report.blocksReplayed()).isGreaterThan(100);
    assertThat(report.revokeHits()).isGreaterThan(3);
    assertThat(JournalImage.differences(ours, theirs)).isEmpty();
    assertThat(JournalImage.differences(ours, image)).contains(5000L, 5129L, 5011L);
    List<LoggedTransaction> seen = new ArrayList<>();
    image.with(
        place -> {
          JournalReader.open(place).forEachTransaction(seen::add);
          return null;
        });
    // The last one has no commit block.
    assertThat(seen).hasSize((int) report.transactions() + 1);
    assertThat(seen.getLast().state()).isEqualTo(LoggedTransaction.State.INCOMPLETE);
    assertThat(seen.getFirst().blocks()).hasSize(130);
  }

  /// Checksums v1 (a compat feature). Without revokes: debugfs sums those up as no other program
  /// does, and does not accept the result itself.
  @ParameterizedTest
  @CsvSource({"false", "true"})
  void theFirstChecksumFormatIsVerified(boolean wide) throws IOException {
    JournalImage image = image(false, wide);
    image.debugfs(
        "jo -c -v 1",
        "jw -b 5000-5129 " + content(1, 130),
        "jw -b 5010,5020,5030 " + content(0xC0, 3),
        "jc");
    JournalImage ours = image.copy("ours");
    JournalImage theirs = image.copy("theirs");
    List<String> features = image.with(place -> JournalReader.open(place).info().features());
    assertThat(features).contains("journal_checksum");
    assertThat(ours.recover().transactions()).isEqualTo(2);
    theirs.debugfs("jr");
    assertThat(JournalImage.differences(ours, theirs)).isEmpty();
    long lastCopy = image.journalBlocks().get(137);
    image.with(
        place -> {
          MemorySegment block = Arena.ofAuto().allocate(BLOCK, 8);
          place.queue().write(lastCopy * BLOCK, List.of(block), true);
          return null;
        });
    assertThat(image.recover().transactions()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void whatWeLoggedIsRecoveredAlike(boolean checksums, boolean wide) throws IOException {
    long seed = Seeds.fixed(21);
    JournalImage image = image(checksums, wide);
    logSomething(image, new Random(seed), checksums, wide);
    JournalImage ours = image.copy("ours");
    JournalImage theirs = image.copy("theirs");
    RecoveryReport report = ours.recover();
    theirs.debugfs("jr");
    assertThat(report.transactions()).isGreaterThan(1);
    assertThat(report.blocksReplayed()).isGreaterThan(1);
    assertThat(JournalImage.differences(ours, theirs)).as("seed " + seed).isEmpty();
    assertThat(JournalImage.differences(ours, image)).as("seed " + seed).isNotEmpty();
    Oracles.require("e2fsck");
    JournalImage checked = image.copy("checked");
    Oracles.run("e2fsck", "-fy", checked.path()).expect(0, 1);
    assertThat(JournalImage.differences(ours, checked)).as("seed " + seed).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, true"})
  void theKernelRecoversWhatWeLogged(boolean checksums, boolean wide) throws IOException {
    Oracles.requireRoot();
    long seed = Seeds.fixed(22);
    JournalImage image = image(checksums, wide);
    logSomething(image, new Random(seed), checksums, wide);
    JournalImage ours = image.copy("ours");
    assertThat(ours.recover().transactions()).isGreaterThan(1);
    JournalImage theirs = image.copy("theirs");
    Path mountPoint = Files.createDirectory(folder.resolve("mounted"));
    Oracles.run("mount", "-o", "loop", theirs.path(), mountPoint).expect(0);
    Oracles.run("umount", mountPoint).expect(0);
    for (int blockNr = FREE; blockNr < FREE + 500; blockNr++) {
      assertThat(theirs.block(blockNr))
          .as("block %d, seed %d", blockNr, seed)
          .isEqualTo(ours.block(blockNr));
    }
  }

  /// Puts transactions of blocks that the file system does not use into the log, until it has
  /// wrapped, and leaves them there.
  private static void logSomething(
      JournalImage image, Random random, boolean checksums, boolean wide) throws IOException {
    image.with(
        place -> {
          markForRecovery(place);
          BufferCache cache = new BufferCache(place.queue(), BLOCK, 1 << 20);
          JournalOptions options =
              JournalOptions.of("image").withCommitIntervalSeconds(0).withFormat(checksums, wide);
          Jbd2Journal journal = Jbd2Journal.open(place, cache, options);
          for (int i = 0; i < 60; i++) {
            try (Handle handle = journal.start(80)) {
              for (int change = 0; change < 60; change++) {
                change(handle, cache, FREE + random.nextInt(500), random);
              }
            }
            journal.commitRunning().join();
          }
          assertThat(journal.statistics().checkpoints()).isPositive();
          journal.abort(new IOException("killed"));
          journal.close();
          clearErrno(place);
          return null;
        });
  }

  private static void change(Handle handle, BufferCache cache, long blockNr, Random random)
      throws IOException {
    if (random.nextInt(6) == 0) {
      handle.forget(blockNr, null);
      return;
    }
    try (Buffer buffer = cache.fresh(blockNr)) {
      handle.createAccess(buffer);
      Be.put64(buffer.data(), 100, random.nextLong());
      if (random.nextInt(4) == 0) {
        BlockHeader.write(buffer.data(), BlockHeader.DESCRIPTOR, handle.tid());
      }
      handle.dirty(buffer);
    }
  }

  private static void markForRecovery(JournalPlace place) throws IOException {
    MemorySegment superblock = Arena.ofAuto().allocate(1024, 8);
    place.queue().read(1024, superblock);
    Superblock.features(superblock, Superblock.features(superblock).with(Feature.NEEDS_RECOVERY));
    Superblock.seal(superblock);
    place.queue().write(1024, List.of(superblock), true);
  }

  /// As if the machine had failed and not the journal been aborted.
  private static void clearErrno(JournalPlace place) throws IOException {
    LogHeader header = LogHeader.read(place);
    dev.extant.journal.format.JournalSuperblock.errno(header.bytes(), 0);
    header.write(true);
  }

  @Test
  void aJournalOnlyUsedByUsStaysCleanForTheChecker() throws IOException {
    Oracles.require("e2fsck");
    JournalImage image = image(true, true);
    image.with(
        place -> {
          BufferCache cache = new BufferCache(place.queue(), BLOCK, 1 << 20);
          Jbd2Journal journal =
              Jbd2Journal.open(place, cache, JournalOptions.of("image").withFormat(true, true));
          for (int i = 0; i < 50; i++) {
            try (Handle handle = journal.start(1);
                Buffer buffer = cache.read(FREE + i)) {
              handle.writeAccess(buffer);
              buffer.data().fill((byte) i);
              handle.dirty(buffer);
            }
          }
          journal.close();
          cache.close();
          return null;
        });
    assertThat(image.block(FREE + 7)).containsOnly(7);
    Oracles.run("e2fsck", "-fn", image.path()).expect(0);
  }
}
