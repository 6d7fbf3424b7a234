package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Many threads on a few files, with commits all the time and, mostly, far too little memory.
class FileDataConcurrencyTest {
  private static final int BLOCK = FileFixture.BLOCK_SIZE_BYTES;
  private static final int FILES = 3;
  private static final int SLOTS = 100;
  private static final int SLOT_BYTES = 1_500;

  /// Each slot of a file holds one number again and again, so that a mix of two is seen.
  private static MemorySegment slot(int value) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[SLOT_BYTES]);
    for (int at = 0; at < SLOT_BYTES; at += 4) {
      bytes.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
    }
    return bytes;
  }

  private static int valueOf(MemorySegment slot) {
    int first = slot.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    assertThat(slot.mismatch(slot(first))).as("bytes of one write only").isEqualTo(-1);
    return first;
  }

  @ParameterizedTest
  @CsvSource({
    "16, false, ORDERED, 0",
    "16, true, ORDERED, 0",
    "64, false, ORDERED, 0",
    "2000, true, ORDERED, 0",
    "64, false, JOURNAL, 512",
    "64, true, WRITEBACK, 512"
  })
  void writersReadersAndCommitsTogether(
      int cachePages, boolean stable, DataMode mode, int journalBlocks) throws Exception {
    try (FileFixture fs = new FileFixture(16_384, (long) cachePages * BLOCK, mode, journalBlocks);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      fs.device.stable = stable;
      List<Inode> inodes = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        inodes.add(fs.newFile(12 + i));
      }
      int[][] newest = new int[FILES][SLOTS];
      AtomicBoolean stop = new AtomicBoolean();
      List<Future<?>> tasks = new ArrayList<>();
      for (int t = 0; t < 6; t++) {
        int thread = t;
        tasks.add(executor.submit(() -> write(fs, inodes, newest, thread)));
        tasks.add(
            executor.submit(looping(stop, new Random(t), random -> read(fs, inodes, random))));
      }
      Future<?> committer =
          executor.submit(looping(stop, new Random(9), random -> fs.journal.checkpoint()));
      Future<?> flusher =
          executor.submit(looping(stop, new Random(9), random -> fs.files.writebackAll()));
      try {
        for (int i = 0; i < tasks.size(); i += 2) {
          await(tasks.get(i));
        }
      } finally {
        stop.set(true);
      }
      for (Future<?> task : tasks) {
        await(task);
      }
      await(committer);
      await(flusher);
      fs.remount();
      for (int file = 0; file < FILES; file++) {
        byte[] content = fs.content(fs.inodes.get(12 + file));
        for (int slot = 0; slot < SLOTS; slot++) {
          MemorySegment bytes =
              MemorySegment.ofArray(content).asSlice((long) slot * SLOT_BYTES, SLOT_BYTES);
          assertThat(valueOf(bytes)).isEqualTo(newest[file][slot]);
        }
      }
    }
  }

  /// Slots are divided among the threads, files are not.
  private static Void write(FileFixture fs, List<Inode> inodes, int[][] newest, int thread)
      throws IOException {
    Random random = new Random(thread);
    for (int i = 1; i <= 600; i++) {
      int file = random.nextInt(FILES);
      int slot = i <= SLOTS * FILES ? i % SLOTS : random.nextInt(SLOTS);
      if (slot % 6 != thread) {
        continue;
      }
      file = i <= SLOTS * FILES ? (i - 1) / SLOTS : file;
      fs.files.write(inodes.get(file), (long) slot * SLOT_BYTES, slot(i));
      newest[file][slot] = i;
    }
    return null;
  }

  private static void read(FileFixture fs, List<Inode> inodes, Random random) throws IOException {
    byte[] target = new byte[SLOT_BYTES];
    long offset = (long) random.nextInt(SLOTS) * SLOT_BYTES;
    int read =
        fs.files.read(inodes.get(random.nextInt(FILES)), offset, MemorySegment.ofArray(target));
    if (read == SLOT_BYTES) {
      valueOf(MemorySegment.ofArray(target));
    }
  }

  private interface Step {
    void run(Random random) throws IOException;
  }

  private static Callable<Void> looping(AtomicBoolean stop, Random random, Step step) {
    return () -> {
      while (!stop.get()) {
        step.run(random);
        // A virtual thread that never waits would keep its carrier from the others.
        Thread.yield();
      }
      return null;
    };
  }

  private static void await(Future<?> task)
      throws InterruptedException, ExecutionException, TimeoutException {
    task.get(30, TimeUnit.SECONDS);
  }

  @Test
  void moreIsNeverDirtyThanTheLimitAllows() throws IOException {
    try (FileFixture fs = new FileFixture(16_384, 500 * BLOCK)) {
      for (int i = 0; i < 200; i++) {
        Inode inode = fs.newFile(12 + i);
        fs.files.write(inode, 0, slot(i));
        assertThat(fs.pages.dirtyCount()).isLessThanOrEqualTo(200 + fs.pages.batchLimit());
      }
      fs.files.writebackAll();
      assertThat(fs.pages.dirtyCount()).isZero();
    }
  }
}
