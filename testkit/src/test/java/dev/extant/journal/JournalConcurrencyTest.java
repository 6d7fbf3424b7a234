package dev.extant.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.cache.Buffer;
import dev.extant.journal.batching.BatchingRule;
import dev.extant.journal.batching.Group;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Seeds;
import dev.extant.util.DurabilityFuture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class JournalConcurrencyTest {
  private static final int THREADS = 300;
  private static final int ROUNDS = 15;

  /// Each thread counts up its own word of a block that it shares with others, and asks for
  /// durability; some are interrupted all the time.
  @Test
  void manyVirtualThreadsShareCommitsAndBlocksInASmallLog() throws Exception {
    long seed = Seeds.fixed(5);
    int homes = 40;
    RamDevice ram = new RamDevice("ram", Bed.sizeBytes(160, homes));
    Bed.format(ram, 160);
    Bed bed = Bed.on(ram, 160).open();
    ReentrantLock[] locks = new ReentrantLock[homes];
    for (int i = 0; i < homes; i++) {
      locks[i] = new ReentrantLock();
    }
    AtomicBoolean running = new AtomicBoolean(true);
    List<Thread> threads = new ArrayList<>();
    List<CompletableFuture<Integer>> results = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int mine = i;
      CompletableFuture<Integer> result = new CompletableFuture<>();
      results.add(result);
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      result.complete(work(bed, locks, mine, new Random(seed + mine)));
                    } catch (IOException | RuntimeException | AssertionError e) {
                      result.completeExceptionally(e);
                    }
                  }));
    }
    Thread interrupter =
        Thread.ofPlatform()
            .start(
                () -> {
                  Random random = new Random(seed);
                  while (running.get()) {
                    threads.get(random.nextInt(THREADS / 3)).interrupt();
                    Thread.onSpinWait();
                  }
                });
    for (CompletableFuture<Integer> result : results) {
      assertThat(result.get(100, TimeUnit.SECONDS)).isEqualTo(ROUNDS);
    }
    running.set(false);
    interrupter.join();
    JournalStatistics statistics = bed.journal.statistics();
    assertThat(statistics.handles()).isEqualTo((long) THREADS * ROUNDS);
    assertThat(statistics.joiners()).isGreaterThan(statistics.commits());
    assertThat(statistics.blocksLogged()).isGreaterThan(2 * 160);
    bed.journal.close();
    for (int i = 0; i < THREADS; i++) {
      MemorySegment bytes = bed.bytesOnDevice(i % homes);
      assertThat(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 8L * (i / homes)))
          .as("thread %d, seed %d", i, seed)
          .isEqualTo(ROUNDS);
    }
    assertThat(Recovery.inspect(bed.place).needed()).isFalse();
    bed.close();
  }

  private static int work(Bed bed, ReentrantLock[] locks, int mine, Random random)
      throws IOException {
    int home = mine % locks.length;
    long offset = 8L * (mine / locks.length);
    int done = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long tid;
      try (Handle handle = bed.journal.start(1 + random.nextInt(3));
          Buffer buffer = bed.cache.read(bed.home(home))) {
        locks[home].lock();
        try {
          handle.writeAccess(buffer);
          long value = buffer.data().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
          buffer.data().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value + 1);
          handle.dirty(buffer);
        } finally {
          locks[home].unlock();
        }
        tid = handle.tid();
      }
      CompletableFuture<Void> durable = bed.journal.commit(tid);
      if (random.nextInt(3) > 0) {
        durable.join();
        assertThat(bed.journal.committed(tid)).isTrue();
      }
      done++;
    }
    return done;
  }

  /// I4: when the freeing is said to be durable, nothing is on its way to the block's home.
  @Test
  void aFreeingWaitsForTheHomeWriteUnderWay() throws Exception {
    RamDevice ram = new RamDevice("ram", Bed.sizeBytes(128, 8));
    Bed.format(ram, 128);
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    long homeOffset = 129L * Bed.BLOCK;
    DelegatingDevice slow =
        new DelegatingDevice(ram) {
          @Override
          public void write(long offset, List<MemorySegment> sources, boolean fua)
              throws dev.extant.block.DeviceException {
            if (offset >= homeOffset) {
              arrived.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            }
            super.write(offset, sources, fua);
          }
        };
    Bed bed = Bed.on(slow, 128).open();
    bed.journal.commit(bed.put(0, 1)).join();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Void> checkpoint =
          threads.submit(
              () -> {
                bed.journal.checkpoint();
                return null;
              });
      arrived.await();
      long tid;
      try (Handle handle = bed.journal.start(1)) {
        handle.forget(bed.home(0), null);
        tid = handle.tid();
      }
      CompletableFuture<Void> durable = bed.journal.commit(tid);
      Thread.sleep(200);
      assertThat(durable).isNotDone();
      assertThat(bed.journal.committed(tid)).isFalse();
      go.countDown();
      durable.get(10, TimeUnit.SECONDS);
      checkpoint.get(10, TimeUnit.SECONDS);
    }
    bed.close();
  }

  /// While a commit is under way the next transaction gathers, and handles change blocks of the one
  /// under way.
  @Test
  void theNextTransactionGathersWhileACommitIsUnderWay() throws Exception {
    try (Bed bed = Bed.inMemory(256, 8).open()) {
      CountDownLatch writing = new CountDownLatch(1);
      CountDownLatch go = new CountDownLatch(1);
      long first;
      try (Handle handle = bed.journal.start(1)) {
        bed.put(handle, 0, 1);
        handle.orderedData(
            () -> {
              writing.countDown();
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
        first = handle.tid();
      }
      CompletableFuture<Void> firstDurable = bed.journal.commit(first);
      writing.await();
      List<CompletableFuture<Void>> others = new ArrayList<>();
      long second = 0;
      for (int i = 0; i < 20; i++) {
        second = bed.put(0, 100 + i);
        others.add(bed.journal.commit(second));
      }
      assertThat(second).isEqualTo(first + 1);
      assertThat(firstDurable).isNotDone();
      long commitsBefore = bed.journal.statistics().commits();
      go.countDown();
      for (CompletableFuture<Void> other : others) {
        other.get(10, TimeUnit.SECONDS);
      }
      assertThat(bed.journal.statistics().commits()).isEqualTo(commitsBefore + 2);
      assertThat(bed.onDevice(0)).isZero();
      bed.journal.checkpoint();
      assertThat(bed.onDevice(0)).isEqualTo(119);
    }
  }

  @Test
  void aBatchingRuleHoldsACommitBackAndUrgencyDoesNot() throws Exception {
    AtomicBoolean hold = new AtomicBoolean(true);
    try (Bed bed = Bed.inMemory(128, 8).open(Bed.options().withBatching(new HoldingRule(hold)))) {
      CompletableFuture<Void> durable = bed.journal.commit(bed.put(0, 1));
      Thread.sleep(100);
      assertThat(durable).isNotDone();
      hold.set(false);
      durable.get(10, TimeUnit.SECONDS);
      hold.set(true);
      bed.put(1, 1);
      bed.journal.checkpoint();
      assertThat(bed.onDevice(1)).isEqualTo(1);
      BatchingStatistics batching = bed.journal.statistics().batching();
      assertThat(batching.waits()).isEqualTo(1);
      assertThat(batching.waitNanosMax()).isGreaterThan(50_000_000);
      assertThat(batching.loneCommits()).isEqualTo(1);
      assertThat(batching.joinersPerCommit().get(1)).isEqualTo(1);
    }
  }

  @Test
  void whoGivesUpOrIsInterruptedIsNotHeldBackButStillServed() throws Exception {
    AtomicBoolean hold = new AtomicBoolean(true);
    try (Bed bed = Bed.inMemory(128, 8).open(Bed.options().withBatching(new HoldingRule(hold)))) {
      long tid = bed.put(0, 1);
      CompletableFuture<Void> patient = bed.journal.commit(tid);
      assertThat(bed.journal.commit(tid).cancel(false)).isTrue();
      patient.get(10, TimeUnit.SECONDS);
      assertThat(bed.journal.committed(tid)).isTrue();

      CompletableFuture<Void> second = bed.journal.commit(bed.put(0, 2));
      AtomicBoolean stillInterrupted = new AtomicBoolean();
      Thread waiter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      DurabilityFuture.await(second);
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                    stillInterrupted.set(Thread.currentThread().isInterrupted());
                  });
      Thread.sleep(50);
      assertThat(second).isNotDone();
      waiter.interrupt();
      waiter.join(10_000);
      assertThat(second).isCompleted();
      assertThat(stillInterrupted).isTrue();
      assertThat(bed.journal.abortCause()).isNull();

      CompletableFuture<Void> last = bed.journal.commit(bed.put(0, 3));
      bed.journal.close();
      last.get(10, TimeUnit.SECONDS);
      assertThat(bed.onDevice(0)).isEqualTo(3);
    }
  }

  /// Holds everything back for as long as it is told to.
  private record HoldingRule(AtomicBoolean hold) implements BatchingRule {
    @Override
    public boolean joined(Group group, long syncer, long nowNanos) {
      return true;
    }

    @Override
    public long waitNanos(Group group, long nowNanos) {
      return hold.get() ? 1_000_000 : 0;
    }
  }
}
