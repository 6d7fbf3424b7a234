package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SuperblockTest {
  private static final long DEVICE_SIZE = 64 << 20;
  private final MemorySegment sb = Golden.superblock();

  @Test
  void readsWhatMke2fsWrote() throws FsException {
    assertThat(Superblock.geometry(sb, DEVICE_SIZE))
        .isEqualTo(new Geometry(1024, 65536, 1, 8192, 2048, 256, 64, 8, 16384, 11, 4, 0));
    assertThat(Superblock.features(sb).names())
        .containsExactly(
            "has_journal",
            "ext_attr",
            "resize_inode",
            "dir_index",
            "orphan_file",
            "filetype",
            "extent",
            "64bit",
            "flex_bg",
            "metadata_csum_seed",
            "sparse_super",
            "large_file",
            "huge_file",
            "dir_nlink",
            "extra_isize",
            "metadata_csum");
    assertThat(Superblock.uuid(sb))
        .isEqualTo(UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
    assertThat(Superblock.state(sb)).isEqualTo(Superblock.STATE_CLEAN);
    assertThat(Superblock.mkfsTime(sb)).isEqualTo("2026-12-01T03:18:59Z");
    assertThat(Superblock.mountTime(sb)).isEqualTo(Instant.EPOCH);
    assertThat(Superblock.journalInode(sb)).isEqualTo(8);
    assertThat(Superblock.orphanFileInode(sb)).isEqualTo(12);
    assertThat(Superblock.maxMountCount(sb)).isEqualTo(-1);
    assertThat(Superblock.reservedGdtBlocks(sb)).isEqualTo(256);
    assertThat(Superblock.reservedBlocks(sb)).isEqualTo(3276);
    assertThat(Superblock.freeBlocks(sb)).isEqualTo(55991);
    assertThat(Superblock.freeInodes(sb)).isEqualTo(16372);
    assertThat(Superblock.newExtraIsize(sb)).isEqualTo(32);
    assertThat(Superblock.defaultHashVersion(sb)).isEqualTo(1);
    assertThat(Superblock.unsignedHash(sb)).isFalse();
    assertThat(Superblock.checksumSeed(sb)).isEqualTo(0xb720167d);
    assertThat(Superblock.hashSeed(sb)[0]).isEqualTo(0x6825e052);
  }

  @Test
  void sealsAsMke2fsDid() {
    assertThat(Superblock.checksumValid(sb)).isTrue();
    Superblock.mountCount(sb, 7);
    assertThat(Superblock.checksumValid(sb)).isFalse();
    Superblock.seal(sb);
    assertThat(Superblock.checksumValid(sb)).isTrue();
    Superblock.mountCount(sb, 0);
    Superblock.seal(sb);
    assertThat(sb.mismatch(Golden.superblock())).isEqualTo(-1);
  }

  @Test
  void aChangeInTheFirstSectorIsSealedThere() {
    MemorySegment before = Golden.superblock();
    Superblock.mountCount(sb, 7);
    Superblock.lastOrphan(sb, 4711);
    Superblock.sealInFirstSector(sb);
    assertThat(Superblock.checksumValid(sb)).isTrue();
    assertThat(sb.asSlice(512).mismatch(before.asSlice(512))).isEqualTo(-1);
    Superblock.mountCount(sb, Superblock.mountCount(before));
    Superblock.lastOrphan(sb, 0);
    Superblock.sealInFirstSector(sb);
    assertThat(sb.mismatch(before)).as("as before: nothing piles up").isEqualTo(-1);
  }

  @Test
  void aLongTextWhereItWasMountedIsKept() {
    sb.asSlice(0x88, 64).fill((byte) 'a');
    Superblock.sealInFirstSector(sb);
    assertThat(Superblock.checksumValid(sb)).isTrue();
    assertThat(sb.asSlice(0x88, 64).toArray(ValueLayout.JAVA_BYTE)).containsOnly('a');
  }

  @Test
  void keepsWhatIsStored() {
    Instant late = Instant.ofEpochSecond(0x12_3456_789aL);
    Superblock.writeTime(sb, late);
    Superblock.label(sb, "größer");
    Superblock.freeBlocks(sb, 0x1_0000_0001L);
    Superblock.lastOrphan(sb, 0xffff_ffffL);
    assertThat(Superblock.writeTime(sb)).isEqualTo(late);
    assertThat(Superblock.label(sb)).isEqualTo("größer");
    assertThat(Superblock.freeBlocks(sb)).isEqualTo(0x1_0000_0001L);
    assertThat(Superblock.lastOrphan(sb)).isEqualTo(0xffff_ffffL);
  }

  @Test
  void recordsTheFirstAndTheLastError() {
    var first = new SuperblockErrors.Entry(Instant.ofEpochSecond(5), 11, 77, "first check", 3);
    var last =
        new SuperblockErrors.Entry(
            Instant.ofEpochSecond(9), 0, 1L << 40, "a check with a name of over 31 bytes", 4);
    SuperblockErrors.add(sb, first);
    SuperblockErrors.add(sb, last);
    assertThat(SuperblockErrors.count(sb)).isEqualTo(2);
    assertThat(SuperblockErrors.first(sb)).isEqualTo(first);
    assertThat(SuperblockErrors.last(sb).where()).isEqualTo("a check with a name of over 31 ");
    assertThat(SuperblockErrors.last(sb).blockNr()).isEqualTo(1L << 40);
  }

  @ParameterizedTest
  @CsvSource({
    "0x38, 2, 0xEF54, no magic",
    "0x4C, 4, 2, s_rev_level",
    "0x18, 4, 7, s_log_block_size",
    "0x18, 4, 0xffffffff, s_log_block_size",
    "0x1C, 4, 4, s_log_cluster_size",
    "0x14, 4, 0, s_first_data_block",
    "0x20, 4, 0, s_blocks_per_group",
    "0x20, 4, 8196, s_blocks_per_group",
    "0x20, 4, 16384, s_blocks_per_group",
    "0x24, 4, 4096, s_clusters_per_group",
    "0x28, 4, 0, s_inodes_per_group",
    "0x28, 4, 8193, s_inodes_per_group",
    "0x28, 4, 2047, s_inodes_count",
    "0x00, 4, 16385, s_inodes_count",
    "0x04, 4, 0, s_blocks_count",
    "0x04, 4, 65537, s_blocks_count",
    "0x150, 4, 0xffffffff, s_blocks_count",
    "0x58, 2, 0, s_inode_size",
    "0x58, 2, 384, s_inode_size",
    "0x58, 2, 2048, s_inode_size",
    "0xFE, 2, 0, s_desc_size",
    "0xFE, 2, 96, s_desc_size",
    "0xFE, 2, 2048, s_desc_size",
    "0x54, 4, 10, s_first_ino",
    "0x54, 4, 16385, s_first_ino",
    "0xCE, 2, 257, s_reserved_gdt_blocks",
    "0x174, 1, 32, s_log_groups_per_flex",
    "0x175, 1, 2, s_checksum_type"
  })
  void namesTheFieldThatIsImpossible(String offset, int size, String value, String message) {
    int at = Integer.decode(offset);
    long number = Long.decode(value);
    switch (size) {
      case 1 -> Le.put8(sb, at, (int) number);
      case 2 -> Le.put16(sb, at, (int) number);
      default -> Le.put32(sb, at, number);
    }
    assertThatThrownBy(() -> Superblock.geometry(sb, DEVICE_SIZE))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
        .hasMessageContaining(message);
  }

  @Test
  void aDeviceThatIsTooSmallIsSaid() {
    assertThatThrownBy(() -> Superblock.geometry(sb, DEVICE_SIZE - 1))
        .hasMessageContaining("s_blocks_count is 65536")
        .hasMessageContaining("the device has only 65535 blocks");
  }
}
