package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class RequestQueueTest {
  private static final int BLOCK = 4096;

  private final GatedDevice device = new GatedDevice(16 << 20);
  private RequestQueue queue = new RequestQueue(device, 4, 1);

  @AfterEach
  void close() {
    device.open();
    queue.close();
    device.close();
  }

  @Test
  void dispatchesInAscendingOrderFromWhereItIs() {
    CompletableFuture<Void> first = queue.submitWrite(40 * BLOCK, block(1));
    waitFor(() -> device.inside.get() == 1);
    List<CompletableFuture<Void>> rest = new ArrayList<>();
    for (long blockNr : new long[] {80, 10, 60}) {
      rest.add(queue.submitWrite(blockNr * BLOCK, block(1)));
    }
    device.open();
    first.join();
    rest.forEach(CompletableFuture::join);
    assertThat(device.log).containsExactly(write(40, 1), write(60, 1), write(80, 1), write(10, 1));
  }

  @Test
  void mergesNeighboursIntoOneWriteOnBothSides() throws Exception {
    CompletableFuture<Void> first = queue.submitWrite(0, block(9));
    waitFor(() -> device.inside.get() == 1);
    List<CompletableFuture<Void>> rest = new ArrayList<>();
    for (int blockNr : new int[] {12, 13, 11, 14, 10}) {
      rest.add(queue.submitWrite((long) blockNr * BLOCK, block(blockNr)));
    }
    device.open();
    first.join();
    rest.forEach(CompletableFuture::join);
    assertThat(device.log).containsExactly(write(0, 1), write(10, 5));
    for (int blockNr = 10; blockNr < 15; blockNr++) {
      assertThat(readByte(blockNr)).isEqualTo((byte) blockNr);
    }
  }

  @Test
  void aPlugLetsGoOfSortedMergedWrites() {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    device.open();
    // Under the plug nothing is queued, so the I/O thread cannot take one before its neighbours
    // come.
    try (Plug plug = queue.plug()) {
      for (int blockNr : new int[] {3, 9, 1, 2, 0, 8}) {
        all.add(plug.submitWrite((long) blockNr * BLOCK, block(blockNr)));
      }
      assertThat(device.log).isEmpty();
    }
    all.forEach(CompletableFuture::join);
    assertThat(device.log).containsExactly(write(0, 4), write(8, 2));
  }

  @Test
  void aMergedRequestHasABoundedSize() {
    device.open();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    try (Plug plug = queue.plug()) {
      for (int blockNr = 0; blockNr < 600; blockNr++) {
        all.add(plug.submitWrite((long) blockNr * BLOCK, block(blockNr)));
      }
    }
    all.forEach(CompletableFuture::join);
    assertThat(device.log).containsExactly(write(0, 256), write(256, 256), write(512, 88));
  }

  @Test
  void fuaIsNotMerged() throws Exception {
    CompletableFuture<Void> first = queue.submitWrite(0, block(1));
    waitFor(() -> device.inside.get() == 1);
    CompletableFuture<Void> second = queue.submitWrite(BLOCK, block(1));
    Future<?> third = inThread(() -> queue.write(2 * BLOCK, block(1), true));
    waitFor(() -> queue.nrQueuedWrites() == 2);
    device.open();
    CompletableFuture.allOf(first, second).join();
    third.get();
    assertThat(device.log).containsExactly(write(0, 1), write(1, 1), write(2, 1) + " fua");
  }

  @Test
  void nobodyOvertakesOnceItIsFull() throws Exception {
    // 1 runs, 3 are queued: full. Far apart, so that nothing merges.
    List<CompletableFuture<Void>> all = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(queue.submitWrite(i * 100L * BLOCK, block(1)));
    }
    waitFor(() -> device.inside.get() == 1);
    List<Integer> admitted = new CopyOnWriteArrayList<>();
    List<Future<?>> waiters = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int number = i;
      int waitingBefore = queue.nrWaiting();
      waiters.add(
          inThread(
              () -> {
                all.add(queue.submitWrite((401L + 100 * number) * BLOCK, block(1)));
                admitted.add(number);
              }));
      waitFor(() -> queue.nrWaiting() == waitingBefore + 1);
    }
    for (int i = 0; i < 20; i++) {
      int expected = i + 1;
      device.gate.release();
      waitFor(() -> admitted.size() >= expected);
      assertThat(admitted).hasSize(expected);
    }
    for (Future<?> waiter : waiters) {
      waiter.get();
    }
    assertThat(admitted).isSorted();
    device.open();
    all.forEach(CompletableFuture::join);
  }

  @Test
  void aDirectCallDoesNotOvertakeWaiters() throws Exception {
    device.interruptSafe = true;
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(queue.submitWrite(i * 100L * BLOCK, block(1)));
    }
    waitFor(() -> device.inside.get() == 1);
    Future<?> late = inThread(() -> queue.write(1000L * BLOCK, block(1), false));
    waitFor(() -> queue.nrWaiting() == 1);
    device.open();
    late.get();
    all.forEach(CompletableFuture::join);
    assertThat(device.log).noneMatch(call -> call.endsWith("direct"));
  }

  @Test
  void runsOnTheCallerWhenItMay() throws Exception {
    device.open();
    queue.write(0, block(1), false);
    Future<Void> ours = onIoThread(() -> queue.write(BLOCK, block(1), false));
    ours.get();
    device.interruptSafe = true;
    queue.read(0, block(0).getFirst());
    queue.flush();
    assertThat(device.log)
        .containsExactly(
            write(0, 1), write(1, 1) + " direct", "read 0+4096 direct", "flush direct");
  }

  @Test
  void aFailureReachesEveryWaiterOfAMergedRequest() throws Exception {
    CompletableFuture<Void> first = queue.submitWrite(0, block(1));
    waitFor(() -> device.inside.get() == 1);
    device.failFrom = 12 * BLOCK;
    List<CompletableFuture<Void>> rest = new ArrayList<>();
    for (int blockNr = 10; blockNr < 13; blockNr++) {
      rest.add(queue.submitWrite((long) blockNr * BLOCK, block(1)));
    }
    device.open();
    first.join();
    for (CompletableFuture<Void> waiter : rest) {
      assertThatThrownBy(waiter::get)
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(DeviceException.class)
          .hasMessageContaining("12288 bytes at offset 40960");
    }
    assertThatThrownBy(() -> queue.write(0, block(1), false)).hasMessageContaining("planned");
    assertThatThrownBy(() -> queue.flush()).hasMessageContaining("planned");
    assertThatThrownBy(() -> queue.flush()).hasMessageContaining("planned");
  }

  @Test
  void aFailureOfAnyOtherKindReachesTheWaiterToo() {
    device.open();
    MemorySegment gone;
    try (Arena arena = Arena.ofShared()) {
      gone = arena.allocate(BLOCK);
    }
    assertThatThrownBy(() -> queue.write(0, List.of(gone), false))
        .isInstanceOf(DeviceException.class)
        .hasRootCauseInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusesOneBadWriteAndNotItsNeighbours() throws Exception {
    device.open();
    CompletableFuture<Void> bad = queue.submitWrite(device.sizeBytes(), block(1));
    CompletableFuture<Void> good = queue.submitWrite(device.sizeBytes() - BLOCK, block(1));
    good.join();
    assertThatThrownBy(bad::get)
        .cause()
        .isInstanceOfSatisfying(
            DeviceException.class, e -> assertThat(e.kind()).isEqualTo(Kind.REFUSED));
  }

  @Test
  void anInterruptNeitherEndsAWaitNorIsLost() throws Exception {
    AtomicBoolean pending = new AtomicBoolean();
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    queue.write(0, block(7), false);
                  } catch (DeviceException e) {
                    throw new AssertionError(e);
                  }
                  pending.set(Thread.currentThread().isInterrupted());
                });
    waitFor(() -> device.inside.get() == 1);
    caller.interrupt();
    caller.join(50);
    assertThat(caller.isAlive()).isTrue();
    device.open();
    caller.join();
    assertThat(pending).isTrue();
    assertThat(readByte(0)).isEqualTo((byte) 7);
  }

  @Test
  void flushersShareTheNextFlush() throws Exception {
    List<Future<?>> flushers = new ArrayList<>();
    flushers.add(inThread(queue::flush));
    waitFor(() -> device.inside.get() == 1);
    for (int i = 0; i < 50; i++) {
      flushers.add(inThread(queue::flush));
    }
    waitFor(() -> queue.nrFlushWaiters() == 50);
    assertThat(device.log).containsExactly("flush");
    device.open();
    for (Future<?> flusher : flushers) {
      flusher.get();
    }
    assertThat(device.log).containsExactly("flush", "flush");
    queue.flush();
    assertThat(device.log).hasSize(3);
  }

  @Test
  void aFlushDoesNotWaitBehindQueuedWrites() throws Exception {
    queue.close();
    queue = new RequestQueue(device, 4, 2);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(queue.submitWrite(i * 100L * BLOCK, block(1)));
    }
    waitFor(() -> device.inside.get() == 2);
    Future<?> flusher = inThread(queue::flush);
    waitFor(() -> queue.nrCommands() == 1);
    device.gate.release();
    waitFor(() -> device.log.size() == 3);
    assertThat(device.log.get(2)).isEqualTo("flush");
    device.open();
    flusher.get();
    all.forEach(CompletableFuture::join);
  }

  @Test
  void closeWaitsForWhatIsQueuedAndRefusesTheRest() throws Exception {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(queue.submitWrite(i * 100L * BLOCK, block(1)));
    }
    Future<?> closing = inThread(queue::close);
    assertThatThrownBy(() -> closing.get(50, TimeUnit.MILLISECONDS))
        .isInstanceOf(java.util.concurrent.TimeoutException.class);
    device.open();
    closing.get();
    assertThat(all).allMatch(CompletableFuture::isDone);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("extant-io-0 gated"));
    assertThatThrownBy(() -> queue.write(0, block(1), false)).hasMessageContaining("closed");
    assertThatThrownBy(() -> queue.read(0, block(1).getFirst())).hasMessageContaining("closed");
    assertThatThrownBy(queue::flush).hasMessageContaining("closed");
    assertThat(queue.submitWrite(0, block(1))).isCompletedExceptionally();
    queue.close();
  }

  @Test
  void survivesAStormOfVirtualThreads() throws Exception {
    queue.close();
    device.open();
    queue = new RequestQueue(device, 8, 2);
    int nrCallers = 2_000;
    int nrBlocks = (int) (device.sizeBytes() / BLOCK);
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < nrCallers; i++) {
        int caller = i;
        callers.submit(
            () -> {
              try {
                storm(caller, nrBlocks, nrCallers);
              } catch (DeviceException | AssertionError e) {
                failures.add(e);
              }
            });
      }
    }
    assertThat(failures).isEmpty();
    assertThat(device.mostInside.get()).isLessThanOrEqualTo(3);
  }

  /// Each caller owns 512-byte cells that no other caller writes.
  private void storm(int caller, int nrBlocks, int nrCallers) throws DeviceException {
    for (int round = 0; round < 4; round++) {
      long cell = (long) round * nrCallers + caller;
      byte[] data = new byte[512];
      java.util.Arrays.fill(data, (byte) (caller + round));
      MemorySegment segment = Arena.ofAuto().allocate(512).copyFrom(MemorySegment.ofArray(data));
      if (caller % 2 == 0) {
        queue.write(cell * 512, List.of(segment), round == 3);
      } else {
        queue.submitWrite(cell * 512, List.of(segment)).join();
      }
      if (caller % 7 == 0) {
        queue.flush();
      }
      MemorySegment back = Arena.ofAuto().allocate(512);
      queue.read(cell * 512, back);
      assertThat(back.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
    }
  }

  private static String write(long blockNr, int count) {
    return "write " + blockNr * BLOCK + "+" + count * BLOCK;
  }

  private static List<MemorySegment> block(int fill) {
    return List.of(Arena.ofAuto().allocate(BLOCK).fill((byte) fill));
  }

  private byte readByte(int blockNr) {
    return device.ram.memory().get(ValueLayout.JAVA_BYTE, (long) blockNr * BLOCK);
  }

  private interface Call {
    void run() throws DeviceException;
  }

  private static Future<?> inThread(Call call) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    Thread.ofPlatform().daemon().start(() -> run(call, result));
    return result;
  }

  private static Future<Void> onIoThread(Call call) {
    CompletableFuture<Void> result = new CompletableFuture<>();
    new IoThread("extant-test", () -> run(call, result)).start();
    return result;
  }

  private static void run(Call call, CompletableFuture<Void> result) {
    try {
      call.run();
      result.complete(null);
    } catch (DeviceException | RuntimeException e) {
      result.completeExceptionally(e);
    }
  }

  private static void waitFor(BooleanSupplier condition) {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited too long").isLessThan(deadlineNanos);
      Thread.onSpinWait();
    }
  }
}
