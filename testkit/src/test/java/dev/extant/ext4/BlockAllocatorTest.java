package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.cache.Buffer;
import dev.extant.ext4.BlockSource.Extent;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.OrderedData;
import dev.extant.journal.Sealer;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Where the block allocator looks, and how it keeps blocks whose freeing is not durable (I4), with
/// handles whose transaction the test chooses.
class BlockAllocatorTest {
  @TempDir Path folder;
  private AllocatorImage image;
  private Geometry geometry;
  private BlockAllocator blocks;

  @BeforeEach
  void open() throws IOException {
    Oracles.require("mke2fs");
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "64M", "-t ext4 -b 1024 -G 4 -O ^has_journal");
    image = AllocatorImage.open(path);
    geometry = image.geometry;
    blocks = image.blocks;
  }

  @AfterEach
  void close() throws IOException {
    image.close();
  }

  /// Checks the protocol of [Handle] and counts the blocks that are changed.
  private static final class CheckedHandle implements Handle {
    final Set<Buffer> announced = new HashSet<>();
    final Set<Buffer> changed = new HashSet<>();
    final List<Long> forgotten = new ArrayList<>();
    private final long tid;

    CheckedHandle(long tid) {
      this.tid = tid;
    }

    @Override
    public long tid() {
      return tid;
    }

    @Override
    public void writeAccess(Buffer buffer) {
      announced.add(buffer);
    }

    @Override
    public void createAccess(Buffer buffer) {
      announced.add(buffer);
    }

    @Override
    public void dirty(Buffer buffer, Sealer sealer) {
      assertThat(announced).contains(buffer);
      changed.add(buffer);
    }

    @Override
    public void forget(long blockNr, Buffer buffer) {
      forgotten.add(blockNr);
    }

    @Override
    public void orderedData(OrderedData data) {}

    @Override
    public boolean extend(int credits) {
      return true;
    }

    @Override
    public int creditsLeft() {
      return 100;
    }

    @Override
    public void close() {}
  }

  private Extent allocate(long goal, int wanted) throws IOException {
    return blocks.allocate(new CheckedHandle(1), goal, wanted);
  }

  private void free(long blockNr, int count) throws IOException {
    blocks.free(new CheckedHandle(1), blockNr, count, false);
    blocks.committed(1);
  }

  /// Takes all blocks of a group and returns the first one behind the file system's own.
  private long fill(int group) throws IOException {
    long first = geometry.firstBlockOfGroup(group);
    long start = 0;
    long next = first;
    while (image.table.freeClusters(group) > 0) {
      Extent extent = allocate(Math.min(next, first + geometry.blocksInGroup(group) - 1), 1);
      assertThat(geometry.groupOfBlock(extent.blockNr())).isEqualTo(group);
      start = start == 0 ? extent.blockNr() : start;
      next = extent.blockNr() + 1;
    }
    return start;
  }

  private void fillAll() throws IOException {
    for (int group = 0; group < geometry.groupCount(); group++) {
      fill(group);
    }
  }

  @Test
  void freeGoalIsTakenEvenIfTheRunIsShort() throws IOException {
    long start = fill(5) + 1000;
    free(start, 3);
    free(start + 100, 50);
    assertThat(allocate(start, 20)).isEqualTo(new Extent(start, 3));
    assertThat(allocate(start, 20)).isEqualTo(new Extent(start + 100, 20));
    assertThat(allocate(start + 120, 20)).isEqualTo(new Extent(start + 120, 20));
  }

  @Test
  void fragmentedGroupGivesWayToTheNextThatHasTheLength() throws IOException {
    long start = fill(4) + 1000;
    for (int i = 0; i < 500; i++) {
      free(start + 2 * i, 1);
    }
    Extent extent = allocate(start - 1, 64);
    assertThat(extent.count()).isEqualTo(64);
    assertThat(geometry.groupOfBlock(extent.blockNr())).isEqualTo(5);
    assertThat(allocate(start - 1, 1)).isEqualTo(new Extent(start, 1));
  }

  @Test
  void longestRunIsTakenWhereNoneHasTheLength() throws IOException {
    fillAll();
    long start = geometry.firstBlockOfGroup(6) + 4000;
    for (int i = 0; i < 100; i++) {
      free(start + 2 * i, 1);
    }
    free(start + 1000, 6);
    assertThat(allocate(start - 1, 64)).isEqualTo(new Extent(start + 1000, 6));
    assertThat(allocate(5000, 64).count()).isEqualTo(1);
  }

  @Test
  void fullGroupContinuesInItsFlexGroupFirst() throws IOException {
    fill(7);
    assertThat(geometry.groupOfBlock(allocate(geometry.firstBlockOfGroup(7), 10).blockNr()))
        .isEqualTo(4);
    fill(4);
    fill(5);
    fill(6);
    assertThat(geometry.groupOfBlock(allocate(geometry.firstBlockOfGroup(7), 10).blockNr()))
        .isEqualTo(0);
  }

  @Test
  void freedBlocksComeBackOnlyWhenTheirTransactionIsDurable() throws IOException {
    fillAll();
    assertThat(blocks.freesPending()).isFalse();
    long start = geometry.firstBlockOfGroup(5) + 4000;
    blocks.free(new CheckedHandle(7), start, 10, false);
    blocks.free(new CheckedHandle(8), start + 10, 10, false);
    assertThat(image.table.totalFreeBlocks()).isEqualTo(20);
    assertFull();
    assertThat(blocks.freesPending()).isTrue();
    blocks.committed(6);
    assertFull();
    blocks.committed(7);
    assertThat(blocks.allocate(new CheckedHandle(8), start, 20)).isEqualTo(new Extent(start, 10));
    assertFull();
    assertThat(blocks.freesPending()).isTrue();
    blocks.committed(8);
    assertThat(blocks.freesPending()).isFalse();
    assertThat(blocks.allocate(new CheckedHandle(9), start, 20))
        .isEqualTo(new Extent(start + 10, 10));
    assertFull();
    assertThat(image.damages).isEmpty();
  }

  private void assertFull() {
    assertThatThrownBy(() -> allocate(3000, 1))
        .isInstanceOf(FsException.class)
        .extracting(e -> ((FsException) e).errno())
        .isEqualTo(Errno.ENOSPC);
  }

  @Test
  void filesThatGrowTogetherStayContiguous() throws IOException {
    List<Inode> files = new ArrayList<>();
    for (long ino = 20; ino < 28; ino++) {
      MemorySegment raw = MemorySegment.ofArray(new byte[geometry.inodeSizeBytes()]);
      RawInode.mode(raw, 0x8000);
      files.add(new Inode(image.inodes, ino, raw));
    }
    long[] next = new long[files.size()];
    int fragments = 0;
    for (int step = 0; step < 200; step++) {
      for (int i = 0; i < next.length; i++) {
        Extent extent = allocate(step == 0 ? blocks.goalOf(files.get(i)) : next[i], 1);
        fragments += extent.blockNr() == next[i] ? 0 : 1;
        next[i] = extent.blockNr() + 1;
      }
    }
    assertThat(fragments).isLessThanOrEqualTo(2 * files.size());
  }

  @Test
  void twoBlocksAreChangedPerOperationAndMetadataIsForgotten() throws IOException {
    for (int group = 0; group < geometry.groupCount(); group++) {
      CheckedHandle handle = new CheckedHandle(1);
      Extent extent = blocks.allocate(handle, geometry.firstBlockOfGroup(group) + 700, 5);
      assertThat(handle.announced).hasSizeLessThanOrEqualTo(2);
      assertThat(handle.changed).hasSize(2);
      handle = new CheckedHandle(2);
      blocks.free(handle, extent.blockNr(), 5, group % 2 == 0);
      assertThat(handle.changed).hasSize(2);
      assertThat(handle.forgotten).hasSize(group % 2 == 0 ? 5 : 0);
    }
  }
}
