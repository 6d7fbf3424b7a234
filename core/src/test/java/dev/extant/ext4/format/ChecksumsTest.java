package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.util.Crc16;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

final class ChecksumsTest {
  private final MemorySegment sb = Golden.superblock();
  private final Checksums checksums = new Checksums(sb);

  @Test
  void theSeedIsThatOfTheUuidUnlessTheSuperblockHasOne() {
    assertThat(checksums.seed()).isEqualTo(0xb720167d);
    Superblock.features(sb, Superblock.features(sb).without(Feature.METADATA_CSUM_SEED));
    assertThat(new Checksums(sb).seed()).isEqualTo(0xb720167d);
    Le.put8(sb, 0x68, 1);
    assertThat(new Checksums(sb).seed()).isNotEqualTo(0xb720167d);
    Superblock.features(sb, Superblock.features(sb).with(Feature.METADATA_CSUM_SEED));
    assertThat(new Checksums(sb).seed()).isEqualTo(0xb720167d);
  }

  @Test
  void sealsInodesAsMke2fsDid() {
    MemorySegment inode = Golden.bytes(Golden.ROOT_INODE, 256);
    assertThat(checksums.inodeValid(inode, 2)).isTrue();
    assertThat(checksums.inodeValid(inode, 3)).isFalse();
    Le.put16(inode, RawInode.I_CHECKSUM_LO, 0);
    Le.put16(inode, RawInode.I_CHECKSUM_HI, 0);
    checksums.sealInode(inode, 2);
    assertThat(inode.mismatch(Golden.bytes(Golden.ROOT_INODE, 256))).isEqualTo(-1);
    everyChangeShows(inode, () -> checksums.inodeValid(inode, 2));
  }

  @Test
  void aShortInodeHasHalfAChecksum() {
    MemorySegment inode = Golden.bytes(Golden.ROOT_INODE, 256).asSlice(0, 128);
    checksums.sealInode(inode, 2);
    assertThat(checksums.inodeValid(inode, 2)).isTrue();
    RawInode.linksCount(inode, 9);
    assertThat(checksums.inodeValid(inode, 2)).isFalse();
  }

  @Test
  void sealsDescriptorsAsMke2fsDid() {
    String[] dumps = {Golden.DESCRIPTOR_0, Golden.DESCRIPTOR_1, Golden.DESCRIPTOR_2};
    for (int group = 0; group < dumps.length; group++) {
      MemorySegment descriptor = Golden.bytes(dumps[group], 64);
      int number = group;
      assertThat(checksums.descriptorValid(descriptor, group)).isTrue();
      everyChangeShows(descriptor, () -> checksums.descriptorValid(descriptor, number));
      Le.put16(descriptor, GroupDescriptor.CHECKSUM, 0);
      checksums.sealDescriptor(descriptor, group);
      assertThat(descriptor.mismatch(Golden.bytes(dumps[group], 64))).isEqualTo(-1);
    }
  }

  @Test
  void uninitBgSealsDescriptorsWithCrc16() {
    Superblock.features(
        sb,
        Superblock.features(sb)
            .without(Feature.METADATA_CSUM)
            .without(Feature.METADATA_CSUM_SEED)
            .with(Feature.UNINIT_BG));
    Checksums crc16 = new Checksums(sb);
    MemorySegment descriptor = Golden.bytes(Golden.DESCRIPTOR_1, 64).asSlice(0, 32);
    crc16.sealDescriptor(descriptor, 1);
    int expected = Crc16.update(~0, sb, 0x68, 16);
    expected = Crc16.updateLe32(expected, 1);
    expected = Crc16.update(expected, descriptor, 0, 30);
    assertThat(Le.u16(descriptor, 30)).isEqualTo(expected);
    assertThat(crc16.descriptorValid(descriptor, 1)).isTrue();
    assertThat(crc16.enabled()).isFalse();
    assertThat(crc16.descriptorsEnabled()).isTrue();
  }

  @Test
  void sealsDirectoryLeavesAsMke2fsDid() {
    MemorySegment block = Golden.bytes(Golden.ROOT_DIRECTORY, 1024);
    int seed = checksums.inodeSeed(2, 0);
    assertThat(checksums.directoryLeaf(block, seed, 1012)).isEqualTo(Le.i32(block, 1020));
  }

  @Test
  void sealsOrphanBlocksAsMke2fsDid() {
    MemorySegment block = Golden.bytes(Golden.ORPHAN_BLOCK, 1024);
    int seed = checksums.inodeSeed(12, 0);
    assertThat(checksums.orphanBlockValid(block, 4385, seed)).isTrue();
    assertThat(checksums.orphanBlockValid(block, 4386, seed)).isFalse();
    OrphanBlock.inode(block, 3, 99);
    assertThat(checksums.orphanBlockValid(block, 4385, seed)).isFalse();
    checksums.sealOrphanBlock(block, 4385, seed);
    assertThat(checksums.orphanBlockValid(block, 4385, seed)).isTrue();
  }

  @Test
  void anExtentBlockWithoutRoomForItsTailIsInvalid() {
    MemorySegment block = MemorySegment.ofArray(new byte[1024]);
    ExtentHeader.initialise(block, 0);
    checksums.sealExtentBlock(block, 5);
    assertThat(checksums.extentBlockValid(block, 5)).isTrue();
    assertThat(checksums.extentBlockValid(block, 6)).isFalse();
    Le.put16(block, 4, 0xffff);
    assertThat(checksums.extentBlockValid(block, 5)).isFalse();
  }

  @Test
  void xattrBlocksAreBoundToTheirPlace() {
    MemorySegment block = MemorySegment.ofArray(new byte[1024]);
    Le.put32(block, 0, 0xEA020000L);
    checksums.sealXattrBlock(block, 500);
    assertThat(checksums.xattrBlockValid(block, 500)).isTrue();
    assertThat(checksums.xattrBlockValid(block, 501)).isFalse();
  }

  private static void everyChangeShows(MemorySegment structure, BooleanSupplier valid) {
    for (int at = 0; at < structure.byteSize(); at++) {
      Le.put8(structure, at, Le.u8(structure, at) ^ 0x10);
      assertThat(valid.getAsBoolean()).as("byte %d changed", at).isFalse();
      Le.put8(structure, at, Le.u8(structure, at) ^ 0x10);
    }
  }
}
