package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Whatever the bytes are: a typed error, or numbers that can be worked with.
final class HostileFormatTest {
  private static final int ROUNDS = 20_000;
  private static final long SEED = Long.getLong("extant.seed", 20261201);

  @Test
  void superblocksWithFlippedBits() {
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      MemorySegment sb = Golden.superblock();
      int flips = 1 + random.nextInt(round % 2 == 0 ? 3 : 60);
      for (int i = 0; i < flips; i++) {
        int bit = random.nextInt(8 * Superblock.SIZE);
        Le.put8(sb, bit / 8, Le.u8(sb, bit / 8) ^ 1 << bit % 8);
      }
      long deviceSize = random.nextBoolean() ? 64 << 20 : Long.MAX_VALUE;
      accepted += survives(sb, deviceSize, random, round) ? 1 : 0;
    }
    assertThat(accepted).as("superblocks that were fine").isBetween(ROUNDS / 50, ROUNDS - 1);
  }

  @Test
  void superblocksOfRandomBytesWithTheMagic() {
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      byte[] bytes = new byte[Superblock.SIZE];
      random.nextBytes(bytes);
      MemorySegment sb = MemorySegment.ofArray(bytes);
      Superblock.putMagic(sb);
      survives(sb, Long.MAX_VALUE, random, round);
    }
  }

  private static boolean survives(MemorySegment sb, long deviceSize, Random random, int round) {
    try {
      Superblock.checksumValid(sb);
      Superblock.label(sb);
      Superblock.mountTime(sb);
      SuperblockErrors.last(sb);
      assertThat(Superblock.features(sb).names()).hasSizeBetween(0, 96);
      Geometry geometry = Superblock.geometry(sb, deviceSize);
      assertThat(geometry.blocksCount()).isPositive().isLessThanOrEqualTo(1L << 48);
      assertThat(Superblock.newExtraIsize(sb))
          .isBetween(0, geometry.inodeSizeBytes() - RawInode.GOOD_OLD_INODE_SIZE);
      use(sb, geometry, random);
      return true;
    } catch (FsException e) {
      assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.EUCLEAN);
      return false;
    } catch (RuntimeException | Error e) {
      return fail("seed " + SEED + ", round " + round, e);
    }
  }

  private static void use(MemorySegment sb, Geometry geometry, Random random) throws FsException {
    GroupLayout layout = new GroupLayout(sb, geometry);
    Checksums checksums = new Checksums(sb);
    MemorySegment bitmap = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    int last = geometry.groupCount() - 1;
    for (int group : new int[] {0, last, random.nextInt(geometry.groupCount())}) {
      assertThat(geometry.blocksInGroup(group)).isPositive();
      assertThat(layout.descriptorBlockNr(group))
          .isBetween(geometry.firstDataBlock() + 1, geometry.blocksCount());
      assertThat(layout.descriptorOffset(group))
          .isBetween(0, geometry.blockSizeBytes() - geometry.descriptorSizeBytes());
      byte[] bytes = new byte[geometry.descriptorSizeBytes()];
      random.nextBytes(bytes);
      MemorySegment descriptor = MemorySegment.ofArray(bytes);
      checksums.descriptorValid(descriptor, group);
      checksums.blockBitmapValid(descriptor, bitmap, geometry);
      checksums.inodeBitmapValid(descriptor, bitmap, geometry);
      layout.initBlockBitmap(descriptor, group, bitmap);
      layout.initInodeBitmap(bitmap);
    }
  }

  @Test
  void descriptorsWithFlippedBits() throws FsException {
    MemorySegment sb = Golden.superblock();
    Geometry geometry = Superblock.geometry(sb, 64 << 20);
    GroupLayout layout = new GroupLayout(sb, geometry);
    MemorySegment bitmap = MemorySegment.ofArray(new byte[1024]);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      MemorySegment descriptor = Golden.bytes(Golden.DESCRIPTOR_1, 64);
      for (int flips = 1 + random.nextInt(2); flips > 0; flips--) {
        int bit = random.nextInt(8 * 64);
        Le.put8(descriptor, bit / 8, Le.u8(descriptor, bit / 8) ^ 1 << bit % 8);
      }
      try {
        GroupDescriptor.requireValid(descriptor, 1, geometry);
        layout.initBlockBitmap(descriptor, 1, bitmap);
        assertThat(GroupDescriptor.inodeTable(descriptor))
            .isBetween(2L, geometry.blocksCount() - geometry.inodeTableBlocksPerGroup());
        accepted++;
      } catch (FsException e) {
        assertThat(e.errno()).as(e.getMessage()).isEqualTo(Errno.EUCLEAN);
        assertThat(e).hasMessageContaining("group descriptor 1");
      } catch (RuntimeException | Error e) {
        fail("seed " + SEED + ", round " + round, e);
      }
    }
    assertThat(accepted).as("descriptors that were fine").isBetween(ROUNDS / 50, ROUNDS - 1);
  }
}
