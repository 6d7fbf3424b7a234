package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.NoJournal;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtentTreeTest {
  private static final int BLOCK_SIZE_BYTES = 1024;
  private static final int BLOCKS = 32_768;
  private static final int RESERVED = 50;
  private static final Geometry GEOMETRY =
      new Geometry(BLOCK_SIZE_BYTES, BLOCKS, 1, 8192, 1024, 256, 64, 4, 4096, 11, 4, 0);

  /// Where a block is; the key of the model is the logical block.
  private record Place(long blockNr, boolean unwritten) {}

  private RamDevice device;
  private RequestQueue queue;
  private BufferCache buffers;
  private NoJournal journal;
  private FakeBlocks blocks;
  private FakeInodes inodes;
  private ExtentTree tree;
  private Inode inode;
  private final TreeMap<Long, Place> model = new TreeMap<>();

  @BeforeEach
  void open() {
    device = new RamDevice("ram", (long) BLOCKS * BLOCK_SIZE_BYTES);
    queue = new RequestQueue(device);
    buffers = new BufferCache(queue, BLOCK_SIZE_BYTES, 8 << 20);
    journal = new NoJournal(queue, buffers);
    blocks = new FakeBlocks(GEOMETRY, buffers, RESERVED);
    journal.addCommitListener(blocks);
    inodes = new FakeInodes();
    tree = new ExtentTree(GEOMETRY, buffers, TestChecksums.create(), blocks, inodes);
    inode = inodes.newFile(12);
  }

  @AfterEach
  void close() throws IOException {
    journal.close();
    buffers.close();
    queue.close();
    device.close();
  }

  /// Everything from the device again.
  private void reopen() throws IOException {
    journal.checkpoint();
    buffers.close();
    buffers = new BufferCache(queue, BLOCK_SIZE_BYTES, 8 << 20);
    journal = new NoJournal(queue, buffers);
    FakeBlocks before = blocks;
    blocks = before.over(buffers);
    journal.addCommitListener(blocks);
    tree = new ExtentTree(GEOMETRY, buffers, TestChecksums.create(), blocks, inodes);
    inode = inodes.get(12);
  }

  private BlockMap.Allocation allocate(long logical, int count) throws IOException {
    try (Handle handle = journal.start(tree.allocateCredits(inode, count))) {
      BlockMap.Allocation got = tree.allocate(handle, inode, logical, count);
      BlockMap.Run run = got.run();
      assertThat(run.logical()).isEqualTo(logical);
      assertThat(run.count()).isBetween(1, count);
      assertThat(run.unwritten()).isFalse();
      for (int i = 0; i < run.count(); i++) {
        Place old = model.get(logical + i);
        assertThat(got.fresh()).isEqualTo(old == null || old.unwritten());
        if (old != null) {
          assertThat(run.blockNr() + i).isEqualTo(old.blockNr());
        }
        model.put(logical + i, new Place(run.blockNr() + i, false));
      }
      return got;
    }
  }

  /// Fallocate as another implementation would leave it.
  private void allocateUnwritten(long logical, int count) throws IOException {
    try (Handle handle = journal.start(tree.allocateCredits(inode, count))) {
      BlockSource.Extent got = blocks.allocate(handle, 100, count);
      tree.insert(handle, inode, logical, got.blockNr(), got.count(), true);
      for (int i = 0; i < got.count(); i++) {
        model.put(logical + i, new Place(got.blockNr() + i, true));
      }
    }
  }

  private void truncate(long fromLogical) throws IOException {
    boolean done = false;
    while (!done) {
      try (Handle handle = journal.start(tree.allocateCredits(inode, 1))) {
        done = tree.truncate(handle, inode, fromLogical, false);
      }
    }
    model.tailMap(fromLogical, true).clear();
  }

  private void check(String what) throws IOException {
    long logical = 0;
    long end = model.isEmpty() ? 10 : model.lastKey() + 10;
    while (logical < end) {
      BlockMap.Run run = tree.lookup(inode, logical, 1000);
      assertThat(run.count()).isPositive();
      for (int i = 0; i < run.count() && logical + i < end; i++) {
        Place expected = model.get(logical + i);
        Place actual = run.hole() ? null : new Place(run.blockNr() + i, run.unwritten());
        assertThat(actual).as("%s: logical block %d", what, logical + i).isEqualTo(expected);
      }
      logical += run.count();
    }
    long allocatedBytes = BlockCount.allocatedBytes(inode.raw, BLOCK_SIZE_BYTES);
    assertThat(allocatedBytes / BLOCK_SIZE_BYTES)
        .as("%s: i_blocks", what)
        .isEqualTo(blocks.usedCount() - RESERVED);
  }

  private int depth() {
    return ExtentHeader.depth(ExtentNodes.root(inode.raw));
  }

  @Test
  void aNewFileIsOneHole() throws IOException {
    assertThat(tree.lookup(inode, 5, 7)).isEqualTo(new BlockMap.Run(5, 0, 7, false));
    assertThat(inode.hasFlag(RawInode.EXT4_EXTENTS_FL)).isTrue();
  }

  @Test
  void contiguousWritesAreOneExtent() throws IOException {
    for (int i = 0; i < 1000; i++) {
      allocate(i, 1);
    }
    assertThat(ExtentHeader.entries(ExtentNodes.root(inode.raw))).isEqualTo(1);
    check("contiguous");
  }

  @Test
  void everySecondBlockMakesADeepTreeThatShrinksAgain() throws IOException {
    blocks.fragmented = true;
    int count = 12_000;
    for (int i = 0; i < count; i++) {
      allocate(i, 4);
    }
    assertThat(depth()).isGreaterThanOrEqualTo(2);
    check("deep");
    reopen();
    check("reopened");
    truncate(900);
    check("900 extents");
    truncate(3);
    check("three extents");
    assertThat(depth()).isZero();
    truncate(0);
    journal.checkpoint();
    check("empty");
    assertThat(blocks.usedCount()).isEqualTo(RESERVED);
  }

  @Test
  void aSparseFileWrittenBackwardsGrowsToDepthThree() throws IOException {
    for (int i = 14_000; i > 0; i--) {
      allocate(i * 1000L, 1);
    }
    assertThat(depth()).isGreaterThanOrEqualTo(3);
    reopen();
    for (int i = 14_000; i > 0; i -= 97) {
      assertThat(tree.lookup(inode, i * 1000L, 1).blockNr())
          .isEqualTo(model.get(i * 1000L).blockNr());
      assertThat(tree.lookup(inode, i * 1000L - 10, 100).count()).isEqualTo(10);
    }
    truncate(0);
    assertThat(blocks.usedCount()).isEqualTo(RESERVED);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void randomChangesAgreeWithTheModel(long seed) throws IOException {
    Random random = new Random(seed);
    for (int i = 0; i < 3_000; i++) {
      String what = "seed " + seed + " step " + i;
      int kind = random.nextInt(100);
      long logical = random.nextInt(6_000);
      blocks.longestRun = 1 + random.nextInt(20);
      blocks.fragmented = random.nextInt(3) > 0;
      if (kind < 60) {
        allocate(logical, 1 + random.nextInt(30));
      } else if (kind < 97) {
        Long next = model.ceilingKey(logical);
        int room = next == null ? 40 : (int) Math.min(40, next - logical);
        if (room > 0) {
          allocateUnwritten(logical, 1 + random.nextInt(room));
        }
      } else if (kind < 99) {
        truncate(3_000 + random.nextInt(3_000));
      } else if (random.nextInt(6) == 0) {
        truncate(random.nextInt(6_000));
      }
      if (i % 500 == 499) {
        check(what);
        reopen();
        check(what + " reopened");
      }
    }
    truncate(0);
    check("seed " + seed + " empty");
    assertThat(depth()).isZero();
  }

  @Test
  void aFullDiskLeavesTheTreeAsItWas() throws IOException {
    Random random = new Random(7);
    blocks.fragmented = true;
    for (int i = 0; i < 2_000; i++) {
      blocks.allowance = random.nextInt(4);
      int usedBefore = blocks.usedCount();
      try {
        if (i % 3 == 0) {
          blocks.longestRun = 9;
          blocks.fragmented = false;
          allocateUnwritten(20_000 + i * 10L, 9);
        } else if (i % 3 == 1) {
          allocate(20_000 + (i - 1) * 10L + random.nextInt(9), 1 + random.nextInt(9));
        } else {
          blocks.fragmented = true;
          allocate(random.nextInt(6_000), 3);
        }
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
        if (i % 3 != 0) {
          assertThat(blocks.usedCount()).isEqualTo(usedBefore);
        } else {
          blocks.release(blocks.usedCount() - usedBefore);
        }
      }
      journal.checkpoint();
    }
    check("after all");
  }

  @Test
  void neighboursWithinALeafMerge() throws IOException {
    allocateUnwritten(0, 100);
    allocate(50, 1);
    allocate(10, 1);
    allocate(11, 39);
    allocate(51, 49);
    allocate(0, 10);
    assertThat(ExtentHeader.entries(ExtentNodes.root(inode.raw))).isEqualTo(1);
    check("merged");
  }

  @Test
  void logicalBlocksEndAtTheFormatsLimit() throws IOException {
    allocate((1L << 32) - 3, 8);
    assertThat(tree.lookup(inode, (1L << 32) - 3, 9).count()).isEqualTo(2);
    assertThatThrownBy(() -> allocate((1L << 32) - 1, 1))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFBIG));
  }

  @Test
  void aBadChecksumIsFound() throws IOException {
    blocks.fragmented = true;
    for (int i = 0; i < 100; i++) {
      allocate(i, 1);
    }
    journal.checkpoint();
    long child = ExtentIndex.child(ExtentNodes.root(inode.raw), 0);
    device.memory().set(java.lang.foreign.ValueLayout.JAVA_BYTE, child * 1024 + 9, (byte) 1);
    reopen();
    assertThatThrownBy(() -> tree.lookup(inode, 0, 1))
        .hasMessageContaining("inode 12")
        .hasMessageContaining("block " + child)
        .hasMessageContaining("checksum");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void hostileNodesGiveTypedErrorsOrAnswers(long seed) throws IOException {
    Random random = new Random(seed);
    blocks.fragmented = true;
    for (int i = 0; i < 1_000; i++) {
      allocate(i * 2L, 1);
    }
    journal.checkpoint();
    for (int round = 0; round < 400; round++) {
      String what = "seed " + seed + " round " + round;
      Inode victim = inodes.get(12);
      hurt(random, victim);
      try {
        for (int i = 0; i < 20; i++) {
          long logical = random.nextInt(2_100);
          assertThat(tree.lookup(victim, logical, 50).count()).as(what).isPositive();
        }
        try (Handle handle = journal.start(100)) {
          tree.allocate(handle, victim, random.nextInt(2_100), 3);
          tree.truncate(handle, victim, random.nextInt(2_100), false);
        }
      } catch (FsException e) {
        assertThat(e.errno()).as(what).isIn(Errno.EUCLEAN, Errno.ENOSPC);
      }
    }
    journal.abort(new IOException("the nodes in memory are damaged"));
  }

  /// Changes one field of the root or of a node, as if it had passed its checksum.
  private void hurt(Random random, Inode victim) throws IOException {
    MemorySegment node = ExtentNodes.root(victim.raw);
    Buffer buffer = null;
    int levels = random.nextInt(3);
    for (int i = 0; i < levels && ExtentHeader.depth(node) > 0; i++) {
      int entries = Math.max(1, Math.min(ExtentHeader.entries(node), 4));
      long child = ExtentIndex.child(node, random.nextInt(entries));
      if (!GEOMETRY.validDataBlock(child)) {
        break;
      }
      if (buffer != null) {
        buffer.close();
      }
      buffer = buffers.read(child);
      node = buffer.data();
    }
    int at = 2 * random.nextInt(12);
    int value = random.nextBoolean() ? random.nextInt(8) : random.nextInt(65_536);
    Le.put16(node, at, value);
    if (buffer != null) {
      buffer.verified(random.nextInt(4) > 0);
      buffer.close();
    }
  }
}
