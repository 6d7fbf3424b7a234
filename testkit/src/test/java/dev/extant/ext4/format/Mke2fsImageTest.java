package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import dev.extant.util.Bits;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Reads every superblock, descriptor, bitmap and inode of images that mke2fs makes, and finds each
/// checksum right and each uninitialised bitmap as mke2fs counted it.
final class Mke2fsImageTest {
  @TempDir Path folder;
  private MemorySegment image;
  private MemorySegment superblock;
  private Geometry geometry;
  private GroupLayout layout;
  private Checksums checksums;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-b 4096",
        "-b 2048 -I 512",
        "-b 1024 -I 128",
        "-b 1024 -O ^64bit",
        "-b 1024 -O ^flex_bg",
        "-b 1024 -O ^sparse_super,^resize_inode",
        "-b 1024 -O sparse_super2",
        "-b 1024 -O meta_bg,^resize_inode",
        "-b 2048 -O ^metadata_csum,uninit_bg",
        "-b 1024 -O ^metadata_csum,uninit_bg,^64bit,^flex_bg",
        "-b 1024 -O ^metadata_csum"
      })
  void everyChecksumIsRight(String options) throws IOException {
    Path file = folder.resolve("image");
    Object[] arguments = ("-q -F -t ext4 " + options + " " + file + " 100M").split(" ");
    Oracles.run("mke2fs", arguments).expect(0);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file)) {
      image = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      superblock = image.asSlice(Superblock.OFFSET, Superblock.SIZE);
      geometry = Superblock.geometry(superblock, image.byteSize());
      layout = new GroupLayout(superblock, geometry);
      checksums = new Checksums(superblock);
      assertThat(Superblock.checksumValid(superblock)).isTrue();
      assertThat(Superblock.features(superblock).readOnlyReason()).isNull();
      long free = 0;
      for (int group = 0; group < geometry.groupCount(); group++) {
        free += checkGroup(group);
      }
      assertThat(free).isEqualTo(Superblock.freeBlocks(superblock));
    }
  }

  private MemorySegment block(long blockNr) {
    int size = geometry.blockSizeBytes();
    return image.asSlice(blockNr * size, size);
  }

  private int checkGroup(int group) throws IOException {
    if (group > 0 && layout.hasSuperblock(group)) {
      MemorySegment backup = block(geometry.firstBlockOfGroup(group)).asSlice(0, Superblock.SIZE);
      assertThat(Superblock.checksumValid(backup)).isTrue();
      assertThat(Superblock.groupNr(backup)).isEqualTo(group);
    }
    MemorySegment descriptor =
        block(layout.descriptorBlockNr(group))
            .asSlice(layout.descriptorOffset(group), geometry.descriptorSizeBytes());
    GroupDescriptor.requireValid(descriptor, group, geometry);
    assertThat(checksums.descriptorValid(descriptor, group)).as("group %d", group).isTrue();
    checkInodes(descriptor, group);
    MemorySegment bitmap = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    if (GroupDescriptor.hasFlag(descriptor, GroupDescriptor.BLOCK_UNINIT)) {
      layout.initBlockBitmap(descriptor, group, bitmap);
    } else {
      bitmap.copyFrom(block(GroupDescriptor.blockBitmap(descriptor)));
      assertThat(checksums.blockBitmapValid(descriptor, bitmap, geometry)).isTrue();
    }
    int blocks = geometry.blocksInGroup(group);
    int free = blocks - Bits.countSet(bitmap, 0, blocks);
    assertThat(GroupDescriptor.freeClusters(descriptor)).as("group %d", group).isEqualTo(free);
    return free;
  }

  private void checkInodes(MemorySegment descriptor, int group) {
    if (GroupDescriptor.hasFlag(descriptor, GroupDescriptor.INODE_UNINIT)) {
      assertThat(GroupDescriptor.freeInodes(descriptor)).isEqualTo(geometry.inodesPerGroup());
      return;
    }
    MemorySegment bitmap = block(GroupDescriptor.inodeBitmap(descriptor));
    assertThat(checksums.inodeBitmapValid(descriptor, bitmap, geometry)).isTrue();
    int limit = geometry.inodesPerGroup();
    int size = geometry.inodeSizeBytes();
    long table = GroupDescriptor.inodeTable(descriptor) * geometry.blockSizeBytes();
    for (int i = Bits.nextSet(bitmap, 0, limit);
        i < limit;
        i = Bits.nextSet(bitmap, i + 1, limit)) {
      long ino = (long) group * limit + i + 1;
      MemorySegment inode = image.asSlice(table + (long) i * size, size);
      assertThat(checksums.inodeValid(inode, ino)).as("inode %d", ino).isTrue();
    }
  }
}
