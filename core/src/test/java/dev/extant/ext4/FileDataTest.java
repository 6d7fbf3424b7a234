package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileDataTest {
  private static final int BLOCK = FileFixture.BLOCK_SIZE_BYTES;

  private FileFixture fs;

  @BeforeEach
  void make() throws IOException {
    fs = new FileFixture(16_384, 4 << 20);
  }

  @AfterEach
  void close() throws IOException {
    fs.close();
  }

  private void use(int blockCount, long cacheBytes) throws IOException {
    use(blockCount, cacheBytes, DataMode.ORDERED, 0);
  }

  private void use(int blockCount, long cacheBytes, DataMode mode, int journalBlocks)
      throws IOException {
    fs.close();
    fs = new FileFixture(blockCount, cacheBytes, mode, journalBlocks);
  }

  private static MemorySegment bytes(int count, int seed) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return MemorySegment.ofArray(bytes);
  }

  /// Random calls compared with an array. A tiny cache makes pages come and go.
  @ParameterizedTest
  @CsvSource({
    "1, ORDERED, 0",
    "2, ORDERED, 0",
    "3, ORDERED, 0",
    "4, ORDERED, 0",
    "5, ORDERED, 0",
    "6, ORDERED, 512",
    "7, JOURNAL, 512",
    "8, JOURNAL, 256",
    "9, JOURNAL, 4096",
    "10, JOURNAL, 0",
    "11, WRITEBACK, 512"
  })
  void agreesWithAnArray(long seed, DataMode mode, int journalBlocks) throws IOException {
    use(16_384, seed % 2 == 0 ? 16 * BLOCK : 4 << 20, mode, journalBlocks);
    fs.device.stable = seed % 3 == 0;
    Random random = new Random(seed);
    Inode inode = fs.newFile(12);
    byte[] model = new byte[0];
    for (int step = 0; step < 1_500; step++) {
      String what = "seed " + seed + " step " + step;
      fs.blocks.longestRun = 1 + random.nextInt(40);
      fs.blocks.fragmented = random.nextInt(4) == 0;
      if (random.nextInt(50) == 0) {
        fs.now = fs.now.plusMillis(random.nextInt(10));
      }
      int kind = random.nextInt(100);
      int length = random.nextBoolean() ? random.nextInt(3_000) : random.nextInt(60_000);
      int offset = random.nextInt(random.nextBoolean() ? 10_000 : 400_000);
      if (kind < 40) {
        MemorySegment source = bytes(length, step);
        assertThat(fs.files.write(inode, offset, source)).as(what).isEqualTo(length);
        if (length > 0) {
          model = Arrays.copyOf(model, Math.max(model.length, offset + length));
          MemorySegment.copy(source, 0, MemorySegment.ofArray(model), offset, length);
        }
      } else if (kind < 50) {
        MemorySegment source = bytes(length, step);
        assertThat(fs.files.append(inode, source)).as(what).isEqualTo(model.length);
        int end = model.length;
        model = Arrays.copyOf(model, end + length);
        MemorySegment.copy(source, 0, MemorySegment.ofArray(model), end, length);
      } else if (kind < 60) {
        fs.files.truncate(inode, offset);
        model = Arrays.copyOf(model, offset);
      } else if (kind < 63) {
        fs.files.writeback(inode);
        if (mode == DataMode.JOURNAL && journalBlocks > 0) {
          fs.journal.checkpoint();
        }
        assertThat(fs.onDevice(inode)).as(what).isEqualTo(model);
      } else if (kind < 64) {
        fs.remount();
        inode = fs.inodes.get(12);
      } else if (kind < 66) {
        fs.journal.checkpoint();
      } else if (kind < 70) {
        checkSeeks(inode, model, offset, what);
      } else {
        byte[] target = new byte[length];
        int read = fs.files.read(inode, offset, MemorySegment.ofArray(target));
        int expected = Math.max(0, Math.min(length, model.length - offset));
        assertThat(read).as(what).isEqualTo(expected);
        assertThat(
                Arrays.equals(
                    target,
                    0,
                    read,
                    model,
                    Math.min(offset, model.length),
                    Math.min(offset, model.length) + read))
            .as(what)
            .isTrue();
      }
      assertThat(RawInode.size(inode.raw)).as(what).isEqualTo(model.length);
      assertThat(fs.orphans).as(what).isEmpty();
    }
    assertThat(fs.content(inode)).isEqualTo(model);
    fs.remount();
    inode = fs.inodes.get(12);
    assertThat(fs.content(inode)).isEqualTo(model);
    assertThat(fs.onDevice(inode)).isEqualTo(model);
    fs.files.freeAll(inode);
    fs.journal.checkpoint();
    assertThat(fs.blocks.usedCount()).isEqualTo(FileFixture.RESERVED);
  }

  private void checkSeeks(Inode inode, byte[] model, int offset, String what) throws IOException {
    long data = fs.files.seekData(inode, offset);
    long hole = fs.files.seekHole(inode, offset);
    if (offset >= model.length) {
      assertThat(data).as(what).isEqualTo(-1);
      assertThat(hole).as(what).isEqualTo(-1);
      return;
    }
    long zeroesEnd = data < 0 ? model.length : data;
    for (int i = offset; i < zeroesEnd; i++) {
      assertThat(model[i]).as("%s: offset %d", what, i).isZero();
    }
    assertThat(hole).as(what).isBetween((long) offset, (long) model.length);
    assertThat(data == offset || hole == offset).as(what).isTrue();
  }

  /// A commit that nobody asked for because of the file writes its data first, or not.
  @ParameterizedTest
  @CsvSource({"ORDERED, true", "WRITEBACK, false", "JOURNAL, false"})
  void aCommitWritesWhatItOrders(DataMode mode, boolean atHome) throws IOException {
    use(16_384, 4 << 20, mode, 512);
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(20 * BLOCK, 1));
    fs.journal.commitRunning().join();
    byte[] content = fs.content(inode);
    assertThat(Arrays.equals(fs.onDevice(inode), content)).isEqualTo(atHome);
    fs.files.writeback(inode);
    fs.journal.checkpoint();
    assertThat(fs.onDevice(inode)).isEqualTo(content);
  }

  @Test
  void seeksFindTheEdgesOfHoles() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 10 * BLOCK + 5, bytes(100, 1));
    fs.files.truncate(inode, 30 * BLOCK);
    assertThat(fs.files.seekData(inode, 0)).isEqualTo(10 * BLOCK);
    assertThat(fs.files.seekData(inode, 10 * BLOCK + 7)).isEqualTo(10 * BLOCK + 7);
    assertThat(fs.files.seekData(inode, 11 * BLOCK)).isEqualTo(-1);
    assertThat(fs.files.seekHole(inode, 3)).isEqualTo(3);
    assertThat(fs.files.seekHole(inode, 10 * BLOCK)).isEqualTo(11 * BLOCK);
    assertThat(fs.files.seekHole(inode, 30 * BLOCK)).isEqualTo(-1);
  }

  @Test
  void unwrittenBlocksReadAsZeroesAndAreConverted() throws IOException {
    Inode inode = fs.newFile(12);
    try (Handle handle = fs.journal.start(20)) {
      fs.tree.insert(handle, inode, 0, 1_000, 20, true);
      for (int i = 0; i < 20; i++) {
        fs.blocks.take(1_000 + i);
      }
    }
    fs.files.truncate(inode, 20 * BLOCK);
    assertThat(fs.content(inode)).containsOnly(0);
    fs.files.write(inode, 5 * BLOCK + 100, bytes(200, 3));
    byte[] expected = new byte[20 * BLOCK];
    MemorySegment.copy(bytes(200, 3), 0, MemorySegment.ofArray(expected), 5 * BLOCK + 100, 200);
    fs.remount();
    assertThat(fs.content(fs.inodes.get(12))).isEqualTo(expected);
  }

  @Test
  void aSmallOverwriteChangesTheInodeOnceATick() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(BLOCK, 1));
    fs.journal.checkpoint();
    long tid = inode.syncTid;
    fs.files.write(inode, 10, bytes(20, 2));
    assertThat(inode.syncTid).isEqualTo(tid);
    fs.now = fs.now.plusMillis(4);
    fs.files.write(inode, 10, bytes(20, 3));
    assertThat(inode.syncTid).isGreaterThan(tid);
    assertThat(RawInode.modified(inode.raw)).isEqualTo(fs.now);
    long datasync = inode.datasyncTid;
    fs.now = fs.now.plusMillis(4);
    fs.files.write(inode, 10, bytes(20, 4));
    assertThat(inode.datasyncTid).isEqualTo(datasync);
  }

  @Test
  void writingClearsSetuidAndSetgid() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(10, 1));
    RawInode.mode(inode.raw, 0x8000 | 06755);
    fs.files.write(inode, 0, bytes(10, 1));
    assertThat(RawInode.mode(inode.raw)).isEqualTo(0x8000 | 0755);
    RawInode.mode(inode.raw, 0x8000 | 02644);
    fs.now = fs.now.plusSeconds(1);
    fs.files.write(inode, 0, bytes(10, 1));
    assertThat(RawInode.mode(inode.raw)).isEqualTo(0x8000 | 02644);
  }

  @Test
  void aFullDiskGivesAPrefixThenENOSPC() throws IOException {
    use(300, 4 << 20);
    Inode inode = fs.newFile(12);
    MemorySegment source = bytes(1000 * BLOCK, 1);
    int written = fs.files.write(inode, 0, source);
    assertThat(written).isEqualTo((300 - FileFixture.RESERVED) * BLOCK);
    assertThat(RawInode.size(inode.raw)).isEqualTo(written);
    assertThatThrownBy(() -> fs.files.write(inode, written, bytes(1, 1)))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
    assertThat(MemorySegment.ofArray(fs.content(inode)).mismatch(source)).isEqualTo(written);
    fs.files.truncate(inode, 10 * BLOCK);
    // The freed blocks wait for a commit, which the write brings about.
    assertThat(fs.files.write(inode, 10 * BLOCK, bytes(50 * BLOCK, 2))).isEqualTo(50 * BLOCK);
  }

  @Test
  void anAppendIsWholeOrNothing() throws IOException {
    use(100, 4 << 20);
    Inode inode = fs.newFile(12);
    fs.files.append(inode, bytes(1_500, 1));
    byte[] before = fs.content(inode);
    assertThatThrownBy(() -> fs.files.append(inode, bytes(200 * BLOCK, 2)))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
    assertThat(fs.content(inode)).isEqualTo(before);
    assertThat(fs.files.append(inode, bytes(10 * BLOCK, 3))).isEqualTo(1_500);
  }

  @Test
  void theFormatsLimitIsEFBIG() throws IOException {
    Inode inode = fs.newFile(12);
    long limit = ((1L << 32) - 1) * BLOCK;
    assertThat(fs.files.write(inode, limit - 10, bytes(20, 1))).isEqualTo(10);
    assertThat(RawInode.size(inode.raw)).isEqualTo(limit);
    assertThatThrownBy(() -> fs.files.write(inode, limit, bytes(1, 1)))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFBIG));
    assertThatThrownBy(() -> fs.files.truncate(inode, limit + 1))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFBIG));
    fs.files.truncate(inode, 0);
    assertThat(BlockCount.allocatedBytes(inode.raw, BLOCK)).isZero();
  }

  @Test
  void whatLiesBehindTheEndOnTheDeviceIsNeverSeen() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(BLOCK, 1));
    fs.remount();
    Inode again = fs.inodes.get(12);
    RawInode.size(again.raw, 100);
    assertThat(fs.content(again)).hasSize(100);
    fs.files.truncate(again, BLOCK);
    byte[] content = fs.content(again);
    assertThat(Arrays.copyOfRange(content, 100, BLOCK)).containsOnly(0);
    fs.files.writeback(again);
    assertThat(fs.onDevice(again)).isEqualTo(content);
  }

  @Test
  void aFailedWritebackKeepsThePagesAndIsReported() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(10 * BLOCK, 1));
    byte[] content = fs.content(inode);
    fs.device.failWrites = true;
    assertThatThrownBy(() -> fs.files.writeback(inode)).isInstanceOf(DeviceException.class);
    assertThat(fs.files.dropIfClean(inode)).isFalse();
    assertThat(fs.content(inode)).isEqualTo(content);
    assertThatThrownBy(() -> fs.files.writeback(inode)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> fs.files.writebackAll()).isInstanceOf(IOException.class);
    fs.journal.abort(new IOException("the device failed"));
  }

  @Test
  void aFailureInTheBackgroundIsReportedByOneFsync() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(10 * BLOCK, 1));
    fs.device.failWrites = true;
    assertThatThrownBy(() -> ((FileState) inode.dataState).writeOrdered())
        .isInstanceOf(DeviceException.class);
    fs.device.failWrites = false;
    assertThatThrownBy(() -> fs.files.writeback(inode)).hasMessageContaining("told to fail");
    fs.files.writeback(inode);
    assertThat(fs.onDevice(inode)).isEqualTo(fs.content(inode));
  }

  @Test
  void blocksOfTheFileSystemItselfAreNotOverwritten() throws IOException {
    Inode inode = fs.newFile(12);
    try (Handle handle = fs.journal.start(20)) {
      fs.tree.insert(handle, inode, 0, FileFixture.RESERVED - 3, 2, false);
    }
    fs.files.truncate(inode, 2 * BLOCK);
    assertThatThrownBy(() -> fs.files.write(inode, 10, bytes(10, 1)))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
  }

  @Test
  void aFailedReadIsReportedToEachReader() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(10 * BLOCK, 1));
    byte[] content = fs.content(inode);
    fs.remount();
    Inode again = fs.inodes.get(12);
    fs.device.failReads = true;
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> fs.content(again)).isInstanceOf(DeviceException.class);
    }
    fs.device.failReads = false;
    assertThat(fs.content(again)).isEqualTo(content);
  }

  @Test
  void sequentialReadersNeedFewTransfers() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.write(inode, 0, bytes(2_000 * BLOCK, 1));
    fs.remount();
    Inode again = fs.inodes.get(12);
    int before = fs.device.reads;
    byte[] part = new byte[500];
    for (int offset = 0; offset < 2_000 * BLOCK; offset += part.length) {
      fs.files.read(again, offset, MemorySegment.ofArray(part));
    }
    assertThat(fs.device.reads - before).isLessThan(40);
  }

  @Test
  void neighboursAreWrittenTogether() throws IOException {
    Inode inode = fs.newFile(12);
    for (int i = 199; i >= 0; i--) {
      fs.files.write(inode, (long) i * BLOCK, bytes(BLOCK, i));
    }
    fs.files.truncate(inode, 0);
    fs.files.write(inode, 0, bytes(200 * BLOCK, 1));
    int before = fs.device.writes;
    fs.files.writeback(inode);
    assertThat(fs.device.writes - before).isEqualTo(1);
  }

  @Test
  void readingAHoleTakesNoPages() throws IOException {
    Inode inode = fs.newFile(12);
    fs.files.truncate(inode, 1L << 40);
    byte[] target = new byte[1 << 20];
    Arrays.fill(target, (byte) 1);
    int before = fs.device.reads;
    assertThat(fs.files.read(inode, 1L << 39, MemorySegment.ofArray(target)))
        .isEqualTo(target.length);
    assertThat(target).containsOnly(0);
    assertThat(fs.device.reads).isEqualTo(before);
  }

  @Test
  void anInterruptedCallerStillReadsAndWrites() throws IOException {
    use(16_384, 16 * BLOCK);
    Inode inode = fs.newFile(12);
    Thread.currentThread().interrupt();
    try {
      fs.files.write(inode, 0, bytes(300 * BLOCK, 1));
      fs.files.writeback(inode);
      assertThat(MemorySegment.ofArray(fs.content(inode)).mismatch(bytes(300 * BLOCK, 1)))
          .isEqualTo(-1);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }
}
