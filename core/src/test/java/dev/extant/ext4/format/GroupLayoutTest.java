package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.util.Bits;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class GroupLayoutTest {
  private final MemorySegment sb = Golden.superblock();

  private GroupLayout layout(int groups, Feature... more) throws FsException {
    Superblock.blocksCount(sb, 1 + 8192L * groups);
    Superblock.inodesCount(sb, 2048L * groups);
    Features features = Superblock.features(sb);
    for (Feature feature : more) {
      features = features.with(feature);
    }
    Superblock.features(sb, features);
    return new GroupLayout(sb, Superblock.geometry(sb, 1L << 40));
  }

  @Test
  void backupsLieInPowersOfThreeFiveAndSeven() throws FsException {
    GroupLayout layout = layout(400);
    assertThat(IntStream.range(0, 400).filter(layout::hasSuperblock))
        .containsExactly(0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343);
    assertThat(layout.frontBlocks(343)).isEqualTo(1 + 25 + 256);
    assertThat(layout.frontBlocks(342)).isZero();
    assertThat(layout.descriptorBlockNr(399)).isEqualTo(2 + 24);
    assertThat(layout.descriptorOffset(399)).isEqualTo(15 * 64);
  }

  @Test
  void sparseSuper2NamesItsBackups() throws FsException {
    Superblock.backupGroup(sb, 0, 1);
    Superblock.backupGroup(sb, 1, 99);
    GroupLayout layout = layout(100, Feature.SPARSE_SUPER2);
    assertThat(IntStream.range(0, 100).filter(layout::hasSuperblock)).containsExactly(0, 1, 99);
  }

  @Test
  void metaGroupsHoldTheirOwnDescriptors() throws FsException {
    Superblock.features(sb, Superblock.features(sb).without(Feature.RESIZE_INODE));
    Superblock.reservedGdtBlocks(sb, 0);
    GroupLayout layout = layout(40, Feature.META_BG);
    assertThat(layout.descriptorBlockNr(0)).isEqualTo(2);
    assertThat(layout.descriptorBlockNr(16)).isEqualTo(1 + 16 * 8192);
    assertThat(layout.frontBlocks(1)).isEqualTo(2);
    assertThat(layout.frontBlocks(2)).isZero();
    assertThat(layout.frontBlocks(15)).isEqualTo(1);
    assertThat(layout.frontBlocks(17)).isEqualTo(1);
  }

  @Test
  void theBitmapOfAnUnusedGroupHoldsItsFrontAndItsEnd() throws FsException {
    GroupLayout layout = new GroupLayout(sb, Superblock.geometry(sb, 64 << 20));
    MemorySegment bitmap = MemorySegment.ofArray(new byte[1024]);
    layout.initBlockBitmap(Golden.bytes(Golden.DESCRIPTOR_1, 64), 1, bitmap);
    assertThat(Bits.countSet(bitmap, 0, 8192)).isEqualTo(258);
    assertThat(Bits.nextClear(bitmap, 0, 8192)).isEqualTo(258);
    layout.initBlockBitmap(Golden.bytes(Golden.DESCRIPTOR_0, 64), 0, bitmap);
    assertThat(Bits.nextClear(bitmap, 0, 8192)).isEqualTo(258 + 1);
    layout.initBlockBitmap(Golden.bytes(Golden.DESCRIPTOR_1, 64), 7, bitmap);
    assertThat(Bits.countSet(bitmap, 8191, 8192)).isEqualTo(1);
    layout.initInodeBitmap(bitmap);
    assertThat(Bits.nextSet(bitmap, 0, 8192)).isEqualTo(2048);
    assertThat(Bits.nextClear(bitmap, 2048, 8192)).isEqualTo(8192);
  }
}
