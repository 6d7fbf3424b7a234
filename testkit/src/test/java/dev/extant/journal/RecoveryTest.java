package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.testkit.Seeds;
import dev.extant.util.Be;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Journals that were damaged or made up: a typed error or the transactions before the damage.
@Timeout(60)
class RecoveryTest {
  private static final int LOG = 128;
  private static final int HOMES = 16;

  private final RamDevice ram = new RamDevice("ram", Bed.sizeBytes(LOG, HOMES));
  private final Bed bed = Bed.on(ram, LOG);

  /// The log holds the transactions 2, 3 and 4 of two blocks each: descriptor, two copies, commit
  /// block.
  @BeforeEach
  void threeTransactions() throws IOException {
    Bed.format(ram, LOG);
    bed.open();
    for (int i = 1; i <= 3; i++) {
      try (Handle handle = bed.journal.start(2)) {
        bed.put(handle, 0, 10 * i);
        bed.put(handle, i, 10 * i);
      }
      bed.journal.commitRunning().join();
    }
    MemorySegment kept = new RamDevice("kept", ram.sizeBytes()).memory();
    kept.copyFrom(ram.memory());
    bed.journal.abort(new IOException("killed"));
    bed.journal.close();
    bed.journal = null;
    ram.memory().copyFrom(kept);
  }

  private MemorySegment logBlock(int logBlock) {
    return ram.memory().asSlice((long) (1 + logBlock) * Bed.BLOCK, Bed.BLOCK);
  }

  private void reseal() {
    JournalSuperblock.seal(logBlock(0));
  }

  @Test
  void allThreeAreReplayedAndAgainWithTheSameResult() throws IOException {
    for (int i = 0; i < 2; i++) {
      RecoveryReport report = Recovery.replay(bed.place);
      assertThat(report.transactions()).isEqualTo(3);
      assertThat(report.firstTid()).isEqualTo(2);
      assertThat(report.lastTid()).isEqualTo(4);
      assertThat(report.nextTid()).isGreaterThan(4);
      assertThat(report.damage()).isNull();
      assertThat(bed.onDevice(0)).isEqualTo(30);
      assertThat(bed.onDevice(1)).isEqualTo(10);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // log block, offset, transactions left, damage is told
    "9, 20, 2, true", // descriptor of the third
    "10, 500, 2, true", // its first copy
    "11, 1023, 2, true", // its second
    "12, 60, 2, false", // its commit block
    "5, 20, 1, true", // descriptor of the second
    "8, 0, 1, false", // magic number of its commit block
    "1, 0, 0, false" // magic number of the first descriptor
  })
  void replayStopsBeforeTheTransactionThatIsNotWhole(
      int logBlock, int offset, int transactions, boolean damage) throws IOException {
    MemorySegment block = logBlock(logBlock);
    Be.put8(block, offset, Be.u8(block, offset) ^ 0x40);
    RecoveryReport report = bed.recover();
    assertThat(report.transactions()).isEqualTo(transactions);
    assertThat(report.damage() != null).isEqualTo(damage);
    assertThat(bed.onDevice(0)).isEqualTo(10 * transactions);
    assertThat(report.nextTid()).as("beyond all that is in the log").isGreaterThanOrEqualTo(5);
  }

  @Test
  void theReaderShowsEachTransactionAndWhatIsWrong() throws IOException {
    Be.put8(logBlock(10), 7, 1);
    List<LoggedTransaction> seen = new ArrayList<>();
    JournalReader reader = JournalReader.open(bed.place);
    reader.forEachTransaction(seen::add);
    assertThat(seen).hasSize(3);
    assertThat(seen.get(0).state()).isEqualTo(LoggedTransaction.State.COMMITTED);
    assertThat(seen.get(0).blocks())
        .extracting(LoggedTransaction.LoggedBlock::blockNr)
        .containsExactly(bed.home(0), bed.home(1));
    assertThat(seen.get(0).commitTime()).isNotNull();
    assertThat(seen.get(2).state()).isEqualTo(LoggedTransaction.State.DAMAGED);
    assertThat(seen.get(2).blocks().get(0).intact()).isFalse();
    assertThat(seen.get(2).blocks().get(1).intact()).isTrue();
    assertThat(reader.info().features())
        .containsExactly("journal_incompat_revoke", "journal_64bit", "journal_checksum_v3");
    assertThat(reader.info().start()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "0x0, 1, CORRUPT, magic",
    "0xC, 4096, CORRUPT, block size",
    "0x10, 129, CORRUPT, blocks",
    "0x10, 0xffffffff, CORRUPT, blocks",
    "0x10, 3, CORRUPT, impossible",
    "0x14, 0, CORRUPT, impossible",
    "0x14, 127, CORRUPT, impossible",
    "0x1C, 128, CORRUPT, starts at",
    "0x1C, 0x80000000, CORRUPT, starts at",
    "0x28, 0x112, UNSUPPORTED, 0x100",
    "0x2C, 0x1, UNSUPPORTED, read-only compatible",
    "0x28, 0x1b, CORRUPT, two kinds",
    "0x40, 2, UNSUPPORTED, external",
    "0x54, 500, CORRUPT, impossible"
  })
  void anImpossibleSuperblockIsNamed(String offset, String value, Kind kind, String word)
      throws IOException {
    if (word.equals("impossible") && offset.equals("0x54")) {
      JournalSuperblock.incompat(logBlock(0), 0x33);
    }
    Be.put32(logBlock(0), Long.decode(offset), Long.decode(value));
    reseal();
    MemorySegment before = new RamDevice("before", ram.sizeBytes()).memory();
    before.copyFrom(ram.memory());
    assertThatThrownBy(() -> Recovery.replay(bed.place))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining(word)
        .extracting(e -> ((JournalException) e).kind())
        .isEqualTo(kind);
    assertThat(ram.memory().mismatch(before)).isEqualTo(-1);
  }

  @Test
  void aSuperblockWithAWrongChecksumIsRefused() {
    Be.put32(logBlock(0), 0x18, 3);
    assertThatThrownBy(() -> Recovery.replay(bed.place)).hasMessageContaining("checksum");
  }

  @Test
  void aCopyOfABlockOutsideTheFileSystemIsRefused() throws IOException {
    JournalPlace smaller =
        new JournalPlace(bed.queue, bed.place.location(), Bed.BLOCK, bed.home(2));
    assertThatThrownBy(() -> Recovery.replay(smaller))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("transaction 3 holds block " + bed.home(2));
    assertThat(bed.onDevice(0)).as("nothing was replayed").isZero();
  }

  @Test
  void aJournalInodeThatPointsOutsideIsRefused() {
    JournalLocation outside =
        new JournalLocation() {
          @Override
          public long lengthBlocks() {
            return LOG;
          }

          @Override
          public long physicalBlock(long journalBlock) {
            return 1 + journalBlock * 2;
          }
        };
    JournalPlace place =
        new JournalPlace(bed.queue, outside, Bed.BLOCK, bed.place.fileSystemBlocks());
    assertThatThrownBy(() -> Recovery.replay(place))
        .isInstanceOf(JournalException.class)
        .hasMessageContaining("outside the file system");
  }

  @Test
  void aDirtyJournalIsNotOpenedForWriting() {
    assertThatThrownBy(() -> bed.open()).hasMessageContaining("recovered");
  }

  /// Any flipped bits in the log: no exception but [JournalException], and always a prefix.
  @Test
  void flippedBitsNeverBringBackAnythingElse() throws IOException {
    long seed = Seeds.fixed(11);
    Random random = new Random(seed);
    MemorySegment good = new RamDevice("good", ram.sizeBytes()).memory();
    good.copyFrom(ram.memory());
    for (int i = 0; i < 3000; i++) {
      ram.memory().copyFrom(good);
      int flips = 1 + random.nextInt(3);
      for (int flip = 0; flip < flips; flip++) {
        MemorySegment block = logBlock(random.nextInt(14));
        int offset = random.nextInt(random.nextBoolean() ? 64 : Bed.BLOCK);
        Be.put8(block, offset, Be.u8(block, offset) ^ 1 << random.nextInt(8));
      }
      try {
        RecoveryReport report = Recovery.replay(bed.place);
        assertThat(bed.onDevice(0))
            .as("seed %d, try %d", seed, i)
            .isEqualTo(10 * report.transactions());
      } catch (JournalException e) {
        assertThat(e).hasMessageContaining("journal");
      }
    }
  }

  /// The same without checksums, where garbage may look good: nothing worse than a wrong home
  /// block.
  @Test
  void garbageWithoutChecksumsIsBounded() throws IOException {
    long seed = Seeds.fixed(12);
    Random random = new Random(seed);
    JournalSuperblock.incompat(logBlock(0), JournalSuperblock.INCOMPAT_REVOKE);
    MemorySegment good = new RamDevice("good", ram.sizeBytes()).memory();
    good.copyFrom(ram.memory());
    for (int i = 0; i < 3000; i++) {
      ram.memory().copyFrom(good);
      for (int flip = 0; flip < 4; flip++) {
        MemorySegment block = logBlock(random.nextInt(14));
        Be.put8(block, random.nextInt(80), random.nextInt(256));
      }
      try {
        Recovery.replay(bed.place);
      } catch (JournalException e) {
        assertThat(e).hasMessageContaining("journal");
      }
    }
  }
}
