package dev.extant.journal.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.journal.format.LogFormat.Checksums;
import dev.extant.util.Be;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JournalFormatTest {
  private static final int BLOCK = 1024;

  private final MemorySegment block = Arena.ofAuto().allocate(BLOCK, 8);

  private static byte[] uuid() {
    byte[] uuid = new byte[16];
    for (int i = 0; i < 16; i++) {
      uuid[i] = (byte) (0xA0 + i);
    }
    return uuid;
  }

  private static LogFormat format(boolean wide, Checksums checksums) {
    return new LogFormat(BLOCK, wide, checksums, uuid());
  }

  @ParameterizedTest
  @CsvSource({
    "false, NONE, 8", "true, NONE, 12", "false, V1, 8", "true, V1, 12",
    "false, V2, 10", "true, V2, 14", "false, V3, 16", "true, V3, 16"
  })
  void tagsOfEachFormatComeBack(boolean wide, Checksums checksums, int tagSize) {
    LogFormat format = format(wide, checksums);
    int tail = format.blockChecksums() ? 4 : 0;
    int capacity = DescriptorBlock.capacity(format);
    assertThat(capacity).isEqualTo((BLOCK - 12 - 16 - tail) / tagSize);
    List<BlockTag> tags = new ArrayList<>();
    for (int i = 0; i < capacity; i++) {
      long blockNr = i + 1 + (wide ? (long) i << 32 : 0);
      int checksum =
          switch (checksums) {
            case NONE, V1 -> 0;
            case V2 -> 0xff00 + i;
            case V3 -> 0xfff00000 + i;
          };
      tags.add(new BlockTag(blockNr, i % 3 == 0, i % 7 == 0, checksum));
    }
    for (int count : new int[] {1, 2, capacity}) {
      DescriptorBlock.write(format, block, 77, tags.subList(0, count));
      assertThat(DescriptorBlock.valid(format, block)).isTrue();
      assertThat(DescriptorBlock.tags(format, block)).isEqualTo(tags.subList(0, count));
    }
    byte[] firstUuid =
        block.asSlice(12 + tagSize, 16).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
    assertThat(firstUuid).isEqualTo(uuid());
    if (format.blockChecksums()) {
      Be.put8(block, 500, Be.u8(block, 500) ^ 1);
      assertThat(DescriptorBlock.valid(format, block)).isFalse();
    }
  }

  @Test
  void aDescriptorOfGarbageIsBounded() {
    block.fill((byte) 0);
    for (Checksums checksums : Checksums.values()) {
      for (boolean wide : new boolean[] {false, true}) {
        assertThat(DescriptorBlock.tags(format(wide, checksums), block)).hasSizeLessThan(BLOCK / 8);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"false, NONE", "true, NONE", "false, V2", "true, V3"})
  void revokeRecordsComeBack(boolean wide, Checksums checksums) {
    LogFormat format = format(wide, checksums);
    int capacity = RevokeBlock.capacity(format);
    long[] records = new long[capacity];
    for (int i = 0; i < capacity; i++) {
      records[i] = wide ? (long) i << 33 : i * 5L;
    }
    RevokeBlock.write(format, block, 5, records, 1, capacity);
    assertThat(RevokeBlock.valid(format, block)).isTrue();
    assertThat(RevokeBlock.count(format, block)).isEqualTo(capacity - 1);
    for (int i = 1; i < capacity; i++) {
      assertThat(RevokeBlock.blockNr(format, block, i - 1)).isEqualTo(records[i]);
    }
    for (long impossible : new long[] {0, 15, BLOCK + 1, 0xffff_ffffL}) {
      Be.put32(block, 0xC, impossible);
      assertThat(RevokeBlock.valid(format, block)).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({"NONE", "V1", "V2", "V3"})
  void theCommitBlockKeepsItsTimeAndKnowsWhenItIsBroken(Checksums checksums) {
    LogFormat format = format(true, checksums);
    Instant time = Instant.ofEpochSecond(1_700_000_000, 987_654_321);
    CommitBlock.write(format, block, 9, time, 0x1234);
    assertThat(BlockHeader.type(block)).isEqualTo(BlockHeader.COMMIT);
    assertThat(BlockHeader.sequence(block)).isEqualTo(9);
    assertThat(CommitBlock.time(block)).isEqualTo(time);
    assertThat(CommitBlock.valid(format, block, 0x1234)).isTrue();
    if (format.blockChecksums()) {
      Be.put8(block, 0x38, 1);
      assertThat(CommitBlock.valid(format, block, 0x1234)).isFalse();
    }
    if (checksums == Checksums.V1) {
      assertThat(CommitBlock.valid(format, block, 0x1235)).isFalse();
    }
  }

  @Test
  void anImpossibleCommitTimeIsNoException() {
    Be.put64(block, 0x30, Long.MAX_VALUE);
    Be.put32(block, 0x38, 0xffff_ffffL);
    assertThat(CommitBlock.time(block)).isNotNull();
    Be.put64(block, 0x30, Long.MIN_VALUE);
    assertThat(CommitBlock.time(block)).isNotNull();
  }

  @Test
  void aBlockThatBeginsLikeALogBlockIsEscaped() {
    block.fill((byte) 7);
    assertThat(BlockTag.escape(block)).isFalse();
    BlockHeader.write(block, BlockHeader.DESCRIPTOR, 3);
    assertThat(BlockTag.escape(block)).isTrue();
    assertThat(BlockHeader.hasMagic(block)).isFalse();
    BlockTag.unescape(block);
    assertThat(BlockHeader.hasMagic(block)).isTrue();
  }

  @Test
  void theOldChecksumIsCrc32WithTheHighestBitFirst() {
    MemorySegment digits = MemorySegment.ofArray("123456789".getBytes(StandardCharsets.US_ASCII));
    // The check value of CRC-32/MPEG-2 in the usual catalogues.
    assertThat(Crc32Be.update(~0, digits)).isEqualTo(0x0376E6E7);
  }

  @Test
  void theSuperblockIsSealedWhereItsFeaturesSaySo() {
    JournalSuperblock.initialise(block, BLOCK, 1024, uuid(), 0);
    assertThat(JournalSuperblock.valid(block)).isTrue();
    assertThat(JournalSuperblock.version(block)).isEqualTo(2);
    assertThat(JournalSuperblock.first(block)).isEqualTo(1);
    assertThat(JournalSuperblock.sequence(block)).isEqualTo(1);
    assertThat(JournalSuperblock.uuid(block)).isEqualTo(uuid());
    JournalSuperblock.errno(block, -5);
    assertThat(JournalSuperblock.errno(block)).isEqualTo(-5);
    assertThat(JournalSuperblock.valid(block)).isTrue();
    JournalSuperblock.incompat(block, JournalSuperblock.INCOMPAT_CSUM_V3);
    assertThat(JournalSuperblock.valid(block)).isFalse();
    JournalSuperblock.seal(block);
    assertThat(JournalSuperblock.valid(block)).isTrue();
    JournalSuperblock.start(block, 1);
    assertThat(JournalSuperblock.valid(block)).isFalse();
  }

  @Test
  void fastCommitBlocksAreCountedOnlyWithTheirFeature() {
    JournalSuperblock.initialise(block, BLOCK, 1024, uuid(), 0);
    assertThat(JournalSuperblock.fastCommitBlocks(block)).isZero();
    JournalSuperblock.incompat(block, JournalSuperblock.INCOMPAT_FAST_COMMIT);
    assertThat(JournalSuperblock.fastCommitBlocks(block)).isEqualTo(256);
  }
}
