package dev.extant.mkfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

final class MkfsTest {
  private static final int SIZE = 8 << 20;

  private static MkfsOptions.Builder fixed() {
    return MkfsOptions.builder()
        .uuid(UUID.fromString("12345678-9abc-def0-1234-56789abcdef0"))
        .hashSeed(UUID.fromString("00000000-0000-0000-0000-000000000001"))
        .time(Instant.ofEpochSecond(1_700_000_000));
  }

  private static MemorySegment superblock(RamDevice device) {
    return device.memory().asSlice(Superblock.OFFSET, Superblock.SIZE);
  }

  @Test
  void theSameOptionsGiveTheSameBytes() throws IOException {
    try (RamDevice one = new RamDevice("one", SIZE);
        RamDevice two = new RamDevice("two", SIZE)) {
      Mkfs.make(one, fixed().label("twin").build());
      Mkfs.make(two, fixed().label("twin").zeroed(true).build());
      assertThat(one.memory().mismatch(two.memory())).isEqualTo(-1);
    }
  }

  @Test
  void withoutThemEveryFileSystemIsItsOwn() throws IOException {
    try (RamDevice one = new RamDevice("one", SIZE);
        RamDevice two = new RamDevice("two", SIZE)) {
      Mkfs.make(one, MkfsOptions.builder().build());
      Mkfs.make(two, MkfsOptions.builder().build());
      assertThat(Superblock.uuid(superblock(one))).isNotEqualTo(Superblock.uuid(superblock(two)));
    }
  }

  @Test
  void theSuperblockSaysWhatWasAsked() throws IOException {
    try (RamDevice device = new RamDevice("ram", SIZE)) {
      MkfsOptions options =
          fixed().sizeBytes(SIZE / 2).label("name").blockSizeBytes(2048).inodesCount(500).build();
      Mkfs.make(device, options);
      MemorySegment sb = superblock(device);
      Geometry geometry = Superblock.geometry(sb, SIZE);
      assertThat(Superblock.checksumValid(sb)).isTrue();
      assertThat(geometry.blocksCount()).isEqualTo(2048);
      assertThat(geometry.blockSizeBytes()).isEqualTo(2048);
      assertThat(geometry.inodesCount()).isBetween(500L, 512L);
      assertThat(Superblock.label(sb)).isEqualTo("name");
      assertThat(Superblock.uuid(sb)).isEqualTo(options.uuid());
      assertThat(Superblock.mkfsTime(sb)).isEqualTo(options.time());
      assertThat(new Checksums(sb).enabled()).isTrue();
    }
  }

  @Test
  void nothingIsWrittenWhenTheOptionsAreImpossible() throws IOException {
    refused(Errno.EINVAL, "unknown feature bogus", o -> o.features("bogus"));
    refused(Errno.EOPNOTSUPP, "feature casefold cannot be made", o -> o.features("casefold"));
    refused(Errno.EINVAL, "64bit needs extent", o -> o.type(FsType.EXT2).features("64bit"));
    refused(
        Errno.EINVAL, "orphan_file needs has_journal", o -> o.features("^has_journal,orphan_file"));
    refused(Errno.EINVAL, "exclude each other", o -> o.features("metadata_csum,uninit_bg"));
    refused(Errno.EINVAL, "has only 8388608 bytes", o -> o.sizeBytes(SIZE + 1L));
    refused(Errno.ENOSPC, "10000 bytes are too small", o -> o.sizeBytes(10_000));
    refused(Errno.ENOSPC, "19 blocks are too few", o -> o.sizeBytes(20_000));
    refused(Errno.EINVAL, "inodes of 256 bytes are too many", o -> o.inodesCount(50_000));
    refused(Errno.EINVAL, "inodes of 256 bytes are too many", o -> o.bytesPerInode(1));
    refused(Errno.EINVAL, "block size 3000", o -> o.blockSizeBytes(3000));
    refused(Errno.EINVAL, "block size 131072", o -> o.blockSizeBytes(131_072));
    refused(Errno.EINVAL, "need the feature bigalloc", o -> o.clusterSizeBytes(16_384));
    refused(Errno.EINVAL, "size 3000", o -> o.features("bigalloc").clusterSizeBytes(3000));
    refused(Errno.EINVAL, "size 1024", o -> o.features("bigalloc").clusterSizeBytes(1024));
    refused(Errno.EINVAL, "bigalloc needs extent", o -> o.features("bigalloc,^extent"));
    refused(Errno.EINVAL, "inline_data needs", o -> o.features("inline_data").inodeSizeBytes(128));
    refused(Errno.EINVAL, "resize_inode needs", o -> o.features("meta_bg,resize_inode"));
    refused(Errno.EINVAL, "large_dir needs", o -> o.features("large_dir,^dir_index"));
    refused(Errno.EINVAL, "multiple of 8 from 256 to 8192", o -> o.blocksPerGroup(8200));
    refused(Errno.EINVAL, "not 1001", o -> o.blocksPerGroup(1001));
    refused(Errno.EINVAL, "3 groups", o -> o.groupsPerFlex(3));
    refused(Errno.EINVAL, "need the feature flex_bg", o -> o.type(FsType.EXT2).groupsPerFlex(4));
    refused(Errno.EINVAL, "RAID", o -> o.strideBlocks(70_000));
    refused(Errno.EINVAL, "needs the feature resize_inode", MkfsTest::noRoomToGrow);
    refused(Errno.EINVAL, "not to 5", o -> o.resizeBlocks(5));
    refused(Errno.EOPNOTSUPP, "feature quota cannot be made", o -> o.features("quota"));
    refused(Errno.EOPNOTSUPP, "feature project cannot be made", o -> o.features("project"));
    refused(Errno.EOPNOTSUPP, "feature encrypt cannot be made", o -> o.features("encrypt"));
    refused(Errno.EINVAL, "inode size 2048", o -> o.inodeSizeBytes(2048));
    refused(Errno.EINVAL, "inode size 200", o -> o.inodeSizeBytes(200));
    refused(Errno.EINVAL, "longer than 16 bytes", o -> o.label("a label of 17 chr"));
    refused(Errno.EINVAL, "journal of 5 MiB is too large", o -> o.journalMebibytes(5));
    refused(Errno.EINVAL, "at least 1024 blocks", o -> o.blockSizeBytes(2048).journalMebibytes(1));
    refused(Errno.EINVAL, "there is none", o -> o.features("^has_journal").journalMebibytes(1));
    refused(Errno.EINVAL, "are not 0 to 50 %", o -> o.reservedPercent(Double.NaN));
  }

  private static MkfsOptions.Builder noRoomToGrow(MkfsOptions.Builder options) {
    return options.features("^resize_inode").resizeBlocks(100_000);
  }

  private static void refused(
      Errno errno, String message, UnaryOperator<MkfsOptions.Builder> change) throws IOException {
    try (RamDevice device = new RamDevice("ram", SIZE)) {
      device.memory().fill((byte) 0x55);
      MkfsOptions options = change.apply(fixed()).build();
      assertThatThrownBy(() -> Mkfs.make(device, options))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).as(message).isEqualTo(errno))
          .hasMessageStartingWith("ram: cannot make a file system: ")
          .hasMessageContaining(message);
      assertThat(device.memory().mismatch(MemorySegment.ofArray(filled()))).isEqualTo(-1);
    }
  }

  private static byte[] filled() {
    byte[] bytes = new byte[SIZE];
    Arrays.fill(bytes, (byte) 0x55);
    return bytes;
  }
}
