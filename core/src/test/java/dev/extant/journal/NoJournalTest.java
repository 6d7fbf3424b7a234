package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.util.Le;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NoJournalTest {
  private static final int BLOCK = 1024;

  /// Marks what it seals; a block that is written unsealed, or sealed and then changed, shows.
  private static final Sealer SEALER =
      new Sealer() {
        @Override
        public int rank() {
          return LAST_RANK;
        }

        @Override
        public void seal(Buffer buffer) {
          Le.put32(buffer.data(), 4, Le.u32(buffer.data(), 0));
        }
      };

  private static void change(Journal journal, Buffer buffer, int value) throws IOException {
    try (Handle handle = journal.start(1)) {
      handle.writeAccess(buffer);
      Le.put32(buffer.data(), 0, value);
      handle.dirty(buffer, SEALER);
    }
  }

  /// While the ordered data is written, the next change comes.
  @Test
  void changeDuringACommitIsWrittenSealedAndNotLost() throws IOException {
    try (RamDevice device = new RamDevice("ram", 16 * BLOCK);
        RequestQueue queue = new RequestQueue(device);
        BufferCache buffers = new BufferCache(queue, BLOCK, 1 << 20)) {
      NoJournal journal = new NoJournal(queue, buffers);
      try (Buffer buffer = buffers.read(5)) {
        try (Handle handle = journal.start(1)) {
          handle.orderedData(() -> change(journal, buffer, 2));
        }
        change(journal, buffer, 1);
        journal.commitRunning().join();
        long first = Le.u32(device.memory(), 5 * BLOCK);
        assertThat(first).isPositive();
        assertThat(Le.u32(device.memory(), 5 * BLOCK + 4)).isEqualTo(first);
        journal.commitRunning().join();
        assertThat(Le.u32(device.memory(), 5 * BLOCK)).isEqualTo(2);
        assertThat(Le.u32(device.memory(), 5 * BLOCK + 4)).isEqualTo(2);
      }
      journal.close();
    }
  }

  /// Who asks while somebody else writes waits until that is durable; an abort need not wait.
  @Test
  void nothingIsDurableBeforeItIsWritten() throws Exception {
    try (RamDevice device = new RamDevice("ram", 16 * BLOCK);
        RequestQueue queue = new RequestQueue(device);
        BufferCache buffers = new BufferCache(queue, BLOCK, 1 << 20);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      NoJournal journal = new NoJournal(queue, buffers);
      CountDownLatch writing = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      long tid;
      try (Handle handle = journal.start(1)) {
        tid = handle.tid();
        handle.orderedData(
            () -> {
              writing.countDown();
              awaitUninterruptibly(goOn);
            });
      }
      Future<Void> first = threads.submit(() -> journal.commit(tid).join());
      writing.await();
      assertThat(journal.committed(tid)).isFalse();
      Future<Void> second = threads.submit(() -> journal.commit(tid).join());
      journal.abort(new IOException("planned"));
      assertThat(second.isDone()).isFalse();
      goOn.countDown();
      first.get();
      second.get();
      assertThat(journal.committed(tid)).isTrue();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
