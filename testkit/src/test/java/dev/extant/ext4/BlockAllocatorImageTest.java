package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.BlockSource.Extent;
import dev.extant.journal.Handle;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The block allocator on images made by mke2fs, judged by e2fsck.
class BlockAllocatorImageTest {
  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck");
  }

  @ParameterizedTest
  @CsvSource({
    "20M, -t ext4 -b 1024 -O ^has_journal",
    "20M, -t ext4 -b 1024 -g 2048 -O ^has_journal",
    "64M, -t ext4 -b 2048 -O ^has_journal",
    "131076k, -t ext4 -b 4096 -O ^has_journal",
    "131076k, -t ext4 -b 4096 -g 4096 -O ^has_journal",
    "32M, -t ext4 -b 1024 -O ^has_journal;^64bit",
    "32M, -t ext4 -b 1024 -O ^has_journal;^metadata_csum;uninit_bg",
    "32M, -t ext4 -b 1024 -O ^has_journal;^metadata_csum",
    "32M, -t ext4 -b 1024 -O ^has_journal;^flex_bg",
    "32M, -t ext4 -b 1024 -O ^has_journal;^resize_inode;meta_bg",
    "32M, -t ext4 -b 1024 -O ^has_journal;sparse_super2",
    "32M, -t ext4 -b 1024 -G 64 -O ^has_journal",
    "20M, -t ext2 -b 1024"
  })
  void stormOfThreadsTakesEveryBlockOnceAndGivesAllBack(String size, String options)
      throws Exception {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, size, options.replace(';', ','));
    long freeBefore;
    boolean[] usedBefore;
    try (AllocatorImage image = AllocatorImage.open(path)) {
      usedBefore = image.usedBlocks();
      freeBefore = image.table.totalFreeBlocks();
      int free = 0;
      for (int i = (int) image.geometry.firstDataBlock(); i < usedBefore.length; i++) {
        free += usedBefore[i] ? 0 : 1;
      }
      assertThat(freeBefore).isEqualTo(free);
      List<Extent> all = storm(image, usedBefore);
      assertThat(all.stream().mapToLong(Extent::count).sum()).isEqualTo(freeBefore);
      assertThat(image.table.totalFreeBlocks()).isZero();
      assertThat(image.damages).isEmpty();
    }
    // All is in use, but by no file: the only thing e2fsck may complain about.
    Oracles.Result full = AllocatorImage.fsck(path).expect(4);
    assertThat(full.output())
        .contains("Block bitmap differences:  -")
        .doesNotContain("ount wrong for");
    try (AllocatorImage image = AllocatorImage.open(path)) {
      boolean[] used = image.usedBlocks();
      for (int i = (int) image.geometry.firstDataBlock(); i < used.length; i++) {
        assertThat(used[i]).as("block %d", i).isTrue();
      }
      giveBack(image, usedBefore);
      assertThat(image.table.totalFreeBlocks()).isEqualTo(freeBefore);
      assertThat(image.usedBlocks()).isEqualTo(usedBefore);
      assertThat(image.damages).isEmpty();
    }
    AllocatorImage.fsck(path).expect(0);
  }

  /// Four threads take blocks until there are none, each giving some back in between.
  private List<Extent> storm(AllocatorImage image, boolean[] usedBefore) throws Exception {
    List<Future<List<Extent>>> workers = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(4)) {
      for (int i = 0; i < 4; i++) {
        Random random = new Random(4711 + i);
        workers.add(executor.submit(() -> takeUntilFull(image, random)));
      }
    }
    List<Extent> all = new ArrayList<>();
    for (Future<List<Extent>> worker : workers) {
      all.addAll(worker.get());
    }
    boolean[] seen = usedBefore.clone();
    for (Extent extent : all) {
      for (long nr = extent.blockNr(); nr < extent.blockNr() + extent.count(); nr++) {
        assertThat(seen[(int) nr]).as("block %d handed out twice", nr).isFalse();
        seen[(int) nr] = true;
      }
    }
    return all;
  }

  private static List<Extent> takeUntilFull(AllocatorImage image, Random random)
      throws IOException {
    List<Extent> mine = new ArrayList<>();
    while (true) {
      boolean full = false;
      try (Handle handle = image.journal.start(8)) {
        if (!mine.isEmpty() && random.nextInt(4) == 0) {
          Extent back = mine.remove(random.nextInt(mine.size()));
          image.blocks.free(handle, back.blockNr(), back.count(), false);
        } else {
          long goal = random.nextLong(image.geometry.blocksCount());
          mine.add(image.blocks.allocate(handle, goal, 1 + random.nextInt(300)));
        }
      } catch (FsException e) {
        if (e.errno() != Errno.ENOSPC) {
          throw e;
        }
        full = true;
      }
      if (full) {
        if (!image.blocks.freesPending()) {
          return mine;
        }
        image.journal.commitRunning().join();
      }
    }
  }

  private static void giveBack(AllocatorImage image, boolean[] usedBefore) throws IOException {
    int first = (int) image.geometry.firstDataBlock();
    int at = first;
    while (at < usedBefore.length) {
      int end = at;
      while (end < usedBefore.length && !usedBefore[end]) {
        end++;
      }
      if (end > at) {
        try (Handle handle = image.journal.start(64)) {
          image.blocks.free(handle, at, end - at, false);
        }
      }
      at = end + 1;
    }
  }

  @Test
  void refusesToFreeWhatIsNotAFilesBlock() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    try (AllocatorImage image = AllocatorImage.open(path)) {
      long lastGroup = image.geometry.firstBlockOfGroup(image.geometry.groupCount() - 1);
      List<long[]> wrong = new ArrayList<>();
      wrong.add(new long[] {1, 1});
      wrong.add(new long[] {0, 1});
      wrong.add(new long[] {-5, 1});
      wrong.add(new long[] {image.geometry.blocksCount(), 1});
      wrong.add(new long[] {image.geometry.blocksCount() - 1, 2});
      wrong.add(new long[] {Long.MAX_VALUE, 1});
      wrong.add(new long[] {lastGroup + 100, 1});
      wrong.add(new long[] {image.table.blockBitmap(1), 1});
      wrong.add(new long[] {image.table.inodeBitmap(2), 1});
      wrong.add(new long[] {image.table.inodeTable(3) + 5, 1});
      wrong.add(new long[] {image.table.inodeTable(0) - 1, 3});
      for (long[] range : wrong) {
        try (Handle handle = image.journal.start(8)) {
          assertThatThrownBy(() -> image.blocks.free(handle, range[0], (int) range[1], false))
              .as("%d+%d", range[0], range[1])
              .isInstanceOf(FsException.class)
              .extracting(e -> ((FsException) e).errno())
              .isEqualTo(Errno.EUCLEAN);
        }
      }
      try (Handle handle = image.journal.start(8)) {
        Extent extent = image.blocks.allocate(handle, lastGroup + 1000, 10);
        image.blocks.free(handle, extent.blockNr(), 10, false);
        assertThatThrownBy(() -> image.blocks.free(handle, extent.blockNr() + 9, 1, false))
            .hasMessageContaining("free already");
      }
    }
    AllocatorImage.fsck(path).expect(0);
  }

  @Test
  void corruptBitmapIsReportedOnceAndItsGroupSkipped() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    long bitmap;
    try (AllocatorImage image = AllocatorImage.open(path)) {
      bitmap = image.table.blockBitmap(0);
    }
    Oracles.run("debugfs", "-w", "-R", "freeb 2000 3", path).expect(0);
    try (var file =
        java.nio.channels.FileChannel.open(path, java.nio.file.StandardOpenOption.WRITE)) {
      file.write(java.nio.ByteBuffer.wrap(new byte[] {0x55}), bitmap * 1024 + 900);
    }
    try (AllocatorImage image = AllocatorImage.open(path)) {
      for (int i = 0; i < 3; i++) {
        try (Handle handle = image.journal.start(8)) {
          Extent extent = image.blocks.allocate(handle, 5000, 4);
          assertThat(image.geometry.groupOfBlock(extent.blockNr())).isEqualTo(1);
        }
      }
      assertThat(image.damages).hasSize(1);
      assertThat(image.damages.getFirst()).hasMessageContaining("block bitmap of group 0");
    }
  }

  @Test
  void corruptDescriptorIsReportedAndItsGroupSkipped() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    try (var file =
        java.nio.channels.FileChannel.open(path, java.nio.file.StandardOpenOption.WRITE)) {
      file.write(java.nio.ByteBuffer.wrap(new byte[] {0x55}), 2 * 1024 + 64 + 0x0C);
    }
    try (AllocatorImage image = AllocatorImage.open(path)) {
      long goal = image.geometry.firstBlockOfGroup(1) + 1000;
      try (Handle handle = image.journal.start(8)) {
        Extent extent = image.blocks.allocate(handle, goal, 4);
        assertThat(image.geometry.groupOfBlock(extent.blockNr())).isNotEqualTo(1);
        assertThatThrownBy(() -> image.blocks.free(handle, goal, 1, false))
            .hasMessageContaining("group descriptor 1 is corrupt");
      }
      assertThat(image.damages).hasSize(1);
      assertThat(image.damages.getFirst()).hasMessageContaining("group descriptor 1 is corrupt");
      assertThat(image.table.totalFreeBlocks()).isPositive();
    }
    // The wrong checksum of the neighbour in the same block was not made right by sealing ours.
    assertThat(AllocatorImage.fsck(path).output())
        .containsIgnoringCase("group descriptor 1 checksum");
  }

  @Test
  void hugeImageOpensQuicklyAndLittleIsRead() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "10T", "-t ext4 -O ^has_journal ");
    long start = System.nanoTime();
    try (AllocatorImage image = AllocatorImage.open(path)) {
      try (Handle handle = image.journal.start(8)) {
        image.blocks.allocate(handle, image.geometry.blocksCount() / 2, 100);
      }
      long millis = (System.nanoTime() - start) / 1_000_000;
      assertThat(millis).isLessThan(3_000);
    }
  }
}
