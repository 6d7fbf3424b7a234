package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.PointerShape;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.NoJournal;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BlockPointersTest {
  private static final int BLOCK_SIZE_BYTES = 1024;
  private static final int PER_BLOCK = BLOCK_SIZE_BYTES / 4;
  private static final int BLOCKS = 32_768;
  private static final int RESERVED = 50;
  private static final Geometry GEOMETRY =
      new Geometry(BLOCK_SIZE_BYTES, BLOCKS, 1, 8192, 1024, 256, 32, 4, 4096, 11, 0, 0);

  /// The first logical blocks behind single, double and triple indirect blocks, and the first that
  /// no file has.
  private static final long SINGLE = 12;

  private static final long DOUBLE = SINGLE + PER_BLOCK;
  private static final long TRIPLE = DOUBLE + PER_BLOCK * PER_BLOCK;
  private static final long LIMIT = TRIPLE + (long) PER_BLOCK * PER_BLOCK * PER_BLOCK;

  private RamDevice device;
  private RequestQueue queue;
  private BufferCache buffers;
  private NoJournal journal;
  private FakeBlocks blocks;
  private FakeInodes inodes;
  private BlockPointers map;
  private Inode inode;

  /// Logical blocks and where they are.
  private final TreeMap<Long, Long> model = new TreeMap<>();

  @BeforeEach
  void open() {
    device = new RamDevice("ram", (long) BLOCKS * BLOCK_SIZE_BYTES);
    queue = new RequestQueue(device);
    buffers = new BufferCache(queue, BLOCK_SIZE_BYTES, 8 << 20);
    journal = new NoJournal(queue, buffers);
    blocks = new FakeBlocks(GEOMETRY, buffers, RESERVED);
    journal.addCommitListener(blocks);
    inodes = new FakeInodes();
    map = new BlockPointers(GEOMETRY, true, buffers, blocks, inodes);
    inode = inodes.newFileWithPointers(12);
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
    blocks = blocks.over(buffers);
    journal.addCommitListener(blocks);
    map = new BlockPointers(GEOMETRY, true, buffers, blocks, inodes);
    inode = inodes.get(12);
  }

  private BlockMap.Run allocate(long logical, int count) throws IOException {
    try (Handle handle = journal.start(map.allocateCredits(inode, count))) {
      BlockMap.Allocation got = map.allocate(handle, inode, logical, count);
      BlockMap.Run run = got.run();
      assertThat(run.logical()).isEqualTo(logical);
      assertThat(run.count()).isBetween(1, count);
      assertThat(run.unwritten()).isFalse();
      for (int i = 0; i < run.count(); i++) {
        Long old = model.put(logical + i, run.blockNr() + i);
        assertThat(got.fresh()).isEqualTo(old == null);
        if (old != null) {
          assertThat(run.blockNr() + i).isEqualTo(old);
        }
      }
      return run;
    }
  }

  private void fill(long from, long to) throws IOException {
    for (long at = from; at < to; ) {
      at += allocate(at, (int) (to - at)).count();
    }
  }

  private void truncate(long fromLogical, boolean metadata) throws IOException {
    boolean done = false;
    while (!done) {
      try (Handle handle = journal.start(12)) {
        done = map.truncate(handle, inode, fromLogical, metadata);
      }
    }
    model.tailMap(fromLogical, true).clear();
  }

  private void check(String what) throws IOException {
    long logical = 0;
    long end = model.isEmpty() ? 10 : model.lastKey() + 10;
    int runs = 0;
    while (logical < end) {
      BlockMap.Run run = map.lookup(inode, logical, 1 << 30);
      assertThat(run.count()).isPositive();
      runs++;
      if (run.hole()) {
        assertThat(model.subMap(logical, logical + run.count())).as("%s: hole", what).isEmpty();
      } else {
        for (int i = 0; i < run.count(); i++) {
          assertThat(model.get(logical + i))
              .as("%s: logical block %d", what, logical + i)
              .isEqualTo(run.blockNr() + i);
        }
      }
      logical += run.count();
    }
    assertThat(runs).as("%s: lookups", what).isLessThan(2 * model.size() + 1_000);
    long allocatedBytes = BlockCount.allocatedBytes(inode.raw, BLOCK_SIZE_BYTES);
    assertThat(allocatedBytes / BLOCK_SIZE_BYTES)
        .as("%s: i_blocks", what)
        .isEqualTo(blocks.usedCount() - RESERVED)
        .isEqualTo(model.size() + indirectBlocks());
  }

  /// How many indirect blocks what is mapped needs.
  private long indirectBlocks() {
    return model.keySet().stream().flatMap(logical -> way(logical).stream()).distinct().count();
  }

  /// The indirect blocks on the way to a logical block, by name.
  private static List<String> way(long logical) {
    List<String> way = new ArrayList<>();
    if (logical >= TRIPLE) {
      long at = logical - TRIPLE;
      way.add("t");
      way.add("t" + at / (PER_BLOCK * PER_BLOCK));
      way.add("t" + at / (PER_BLOCK * PER_BLOCK) + "," + at / PER_BLOCK);
    } else if (logical >= DOUBLE) {
      way.add("d");
      way.add("d" + (logical - DOUBLE) / PER_BLOCK);
    } else if (logical >= SINGLE) {
      way.add("s");
    }
    return way;
  }

  private long slot(int index) {
    return Le.u32(inode.raw, RawInode.I_BLOCK + 4L * index);
  }

  @Test
  void aNewFileIsOneHole() throws IOException {
    assertThat(map.lookup(inode, 5, 7)).isEqualTo(new BlockMap.Run(5, 0, 7, false));
    assertThat(map.lookup(inode, LIMIT + 5, 7)).isEqualTo(new BlockMap.Run(LIMIT + 5, 0, 7, false));
  }

  @Test
  void aFileWrittenInOneGoLiesInOnePieceWithItsIndirectBlocks() throws IOException {
    fill(0, DOUBLE + 3 * PER_BLOCK);
    check("written");
    assertThat(slot(12)).isEqualTo(slot(11) + 1);
    assertThat(model.lastEntry().getValue() - model.get(0L))
        .isEqualTo(model.size() - 1 + indirectBlocks());
    assertThat(indirectBlocks()).isEqualTo(5);
  }

  @Test
  void appendingBlockByBlockGivesTheSameLayout() throws IOException {
    for (long i = 0; i < 1_000; i++) {
      allocate(i, 1);
    }
    check("appended");
    assertThat(model.get(999L) - model.get(0L)).isEqualTo(999 + indirectBlocks());
  }

  @Test
  void allLevelsGrowAndShrink() throws IOException {
    for (long border : new long[] {SINGLE, DOUBLE, TRIPLE, TRIPLE + PER_BLOCK * PER_BLOCK}) {
      fill(border - 5, border + 5);
      check("border " + border);
    }
    fill(LIMIT - 3, LIMIT);
    check("end");
    reopen();
    check("reopened");
    truncate(LIMIT - 2, false);
    check("one at the end");
    for (long border : new long[] {TRIPLE + PER_BLOCK * PER_BLOCK, TRIPLE, DOUBLE, SINGLE}) {
      truncate(border + 1, true);
      check("behind " + border);
      truncate(border, true);
      check("at " + border);
    }
    truncate(0, false);
    journal.checkpoint();
    assertThat(blocks.usedCount()).isEqualTo(RESERVED);
    assertThat(RawInode.blocks(inode.raw)).isZero();
    for (int i = 0; i < 15; i++) {
      assertThat(slot(i)).isZero();
    }
  }

  @Test
  void aLongSparseFileIsCutInFewSteps() throws IOException {
    for (long at = TRIPLE; at < LIMIT; at += 100_003) {
      allocate(at, 1);
    }
    check("sparse");
    reopen();
    truncate(TRIPLE + 1, false);
    check("cut");
    assertThat(model).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void randomChangesAgreeWithTheModel(long seed) throws IOException {
    Random random = new Random(seed);
    long[] areas = {0, SINGLE, DOUBLE - 100, TRIPLE - 300, TRIPLE + 70_000, LIMIT - 400};
    for (int i = 0; i < 4_000; i++) {
      String what = "seed " + seed + " step " + i;
      int kind = random.nextInt(100);
      long logical = areas[random.nextInt(areas.length)] + random.nextInt(400);
      blocks.longestRun = 1 + random.nextInt(20);
      blocks.fragmented = random.nextInt(3) > 0;
      if (kind < 97) {
        allocate(logical, (int) Math.min(1 + random.nextInt(30), LIMIT - logical));
      } else if (kind < 99) {
        truncate(logical, random.nextBoolean());
      }
      if (i % 500 == 499) {
        check(what);
        reopen();
        check(what + " reopened");
      }
    }
    truncate(0, true);
    check("seed " + seed + " empty");
  }

  @Test
  void aFullDiskLeavesTheFileAsItWas() throws IOException {
    Random random = new Random(7);
    blocks.fragmented = true;
    for (int i = 0; i < 2_000; i++) {
      blocks.allowance = random.nextInt(5);
      int usedBefore = blocks.usedCount();
      try {
        allocate(TRIPLE - 2_000 + random.nextInt(200_000), 3);
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
        assertThat(blocks.usedCount()).isEqualTo(usedBefore);
      }
      journal.checkpoint();
    }
    assertThat(model).isNotEmpty();
    check("after all");
  }

  @Test
  void logicalBlocksEndAtTheFormatsLimit() throws IOException {
    allocate(LIMIT - 2, 2);
    assertThat(map.lookup(inode, LIMIT - 2, 9).count()).isEqualTo(2);
    assertThatThrownBy(() -> allocate(LIMIT, 1))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFBIG));
  }

  /// What Linux 6 refuses to exceed (found by `truncate -s` and `dd seek=` on a mounted image).
  @ParameterizedTest
  @CsvSource({
    "1024, true, 17247252480",
    "2048, true, 275415851008",
    "4096, true, 4402345721856",
  })
  void theLargestFileIsAsLargeAsItsPointersReach(int blockSize, boolean hugeFile, long expected) {
    assertThat(new PointerShape(blockSize).maxSizeBytes(hugeFile)).isEqualTo(expected);
  }

  @Test
  void withoutHugeFileAllBlocksFitIntoTwoTebibytes() {
    long limit = 0xffff_ffffL * 512;
    assertThat(new PointerShape(1024).maxSizeBytes(false)).isEqualTo(17247252480L);
    assertThat(new PointerShape(4096).maxSizeBytes(false))
        .isBetween(limit - (3L << 30), limit - (2L << 30));
    assertThat(new PointerShape(65_536).maxSizeBytes(true)).isEqualTo(0xffff_ffffL << 16);
  }

  @Test
  void pointersOutOfTheFileSystemOrIntoItsStructuresAreFound() throws IOException {
    fill(0, SINGLE + 4);
    long indirect = slot(12);
    for (long bad : new long[] {BLOCKS, 0xffff_ffffL, 1, RESERVED - 1}) {
      Le.put32(inode.raw, RawInode.I_BLOCK + 4L * 3, bad);
      assertBad(3, bad);
      Le.put32(inode.raw, RawInode.I_BLOCK + 4L * 12, bad);
      assertBad(SINGLE + 1, bad);
      Le.put32(inode.raw, RawInode.I_BLOCK + 4L * 12, indirect);
    }
    assertThat(map.lookup(inode, SINGLE, 9).count()).isEqualTo(4);
  }

  private void assertBad(long logical, long blockNr) {
    assertThatThrownBy(() -> map.lookup(inode, logical, 1))
        .hasMessageContaining("inode 12")
        .hasMessageContaining("block " + blockNr)
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void hostilePointersGiveTypedErrorsOrAnswers(long seed) throws IOException {
    Random random = new Random(seed);
    blocks.fragmented = true;
    for (int i = 0; i < 1_000; i++) {
      allocate(i * 2L, 1);
    }
    allocate(TRIPLE + 5, 1);
    journal.checkpoint();
    List<Long> indirect = List.of(slot(12), slot(13), slot(14));
    for (int round = 0; round < 300; round++) {
      String what = "seed " + seed + " round " + round;
      Inode victim = inodes.get(12);
      hurt(random, victim, indirect);
      try {
        for (int i = 0; i < 20; i++) {
          long logical = random.nextInt(2) * TRIPLE + random.nextInt(2_100);
          assertThat(map.lookup(victim, logical, 50).count()).as(what).isPositive();
        }
        try (Handle handle = journal.start(100)) {
          map.allocate(handle, victim, random.nextInt(2_100), 3);
          map.truncate(handle, victim, random.nextInt(2_100), false);
        }
      } catch (FsException e) {
        assertThat(e.errno()).as(what).isIn(Errno.EUCLEAN, Errno.ENOSPC);
      }
    }
    journal.abort(new IOException("the blocks in memory are damaged"));
  }

  /// Lets a pointer of the inode or of an indirect block lead to an indirect block, maybe the same,
  /// or anywhere.
  private void hurt(Random random, Inode victim, List<Long> indirect) throws IOException {
    long value =
        random.nextBoolean()
            ? indirect.get(random.nextInt(3))
            : random.nextInt(2) == 0 ? random.nextInt(BLOCKS) : random.nextLong() & 0xffff_ffffL;
    if (random.nextInt(3) == 0) {
      Le.put32(victim.raw, RawInode.I_BLOCK + 4L * random.nextInt(15), value);
      return;
    }
    try (var buffer = buffers.read(indirect.get(random.nextInt(3)))) {
      MemorySegment data = buffer.data();
      Le.put32(data, 4L * random.nextInt(PER_BLOCK), value);
    }
  }

  /// Every pointer leads back into the same block, so that the tree seems to be full of data.
  @Test
  void aFileThatContainsItselfIsReadAndCutInBoundedTime() throws IOException {
    allocate(TRIPLE, 1);
    long top = slot(14);
    try (var buffer = buffers.read(top)) {
      for (int i = 0; i < PER_BLOCK; i++) {
        Le.put32(buffer.data(), 4L * i, top);
      }
    }
    assertThat(map.lookup(inode, LIMIT - 1, 1).blockNr()).isEqualTo(top);
    assertThatThrownBy(() -> truncate(0, false))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
    journal.abort(new IOException("the blocks in memory are damaged"));
  }
}
