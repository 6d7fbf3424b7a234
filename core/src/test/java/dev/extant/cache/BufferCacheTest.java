package dev.extant.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException;
import dev.extant.block.RequestQueue;
import dev.extant.util.Le;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BufferCacheTest {
  private static final int BLOCK = 1024;
  private static final int BLOCKS = 4096;
  private static final int CAPACITY = 256;

  private final CountingDevice device = new CountingDevice((long) BLOCK * BLOCKS);
  private final RequestQueue queue = new RequestQueue(device);
  private final BufferCache cache = new BufferCache(queue, BLOCK, (long) CAPACITY * BLOCK);

  @BeforeEach
  void numberTheBlocks() {
    for (long i = 0; i < BLOCKS; i++) {
      Le.put64(device.ram.memory(), i * BLOCK, i);
    }
  }

  @AfterEach
  void close() {
    cache.close();
    queue.close();
    device.close();
  }

  private void touch(long blockNr) throws IOException {
    try (Buffer buffer = cache.read(blockNr)) {
      assertThat(Le.u64(buffer.data(), 0)).isEqualTo(blockNr);
    }
  }

  @Test
  void aBlockIsReadOnceHoweverManyWantIt() throws Exception {
    device.readGate = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        done.add(threads.submit(() -> touchChecked(7)));
      }
      device.readGate.countDown();
      for (Future<?> future : done) {
        future.get();
      }
    }
    assertThat(device.reads.get()).isEqualTo(1);
  }

  private Void touchChecked(long blockNr) throws IOException {
    touch(blockNr);
    return null;
  }

  @Test
  void aFailedReadReachesAllWaitersAndLeavesNothingBehind() throws Exception {
    device.failReads = true;
    device.readGate = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        done.add(threads.submit(() -> touchChecked(7)));
      }
      device.readGate.countDown();
      for (Future<?> future : done) {
        assertThatThrownBy(future::get).hasCauseInstanceOf(DeviceException.class);
      }
    }
    assertThat(cache.residentCount()).isZero();
    assertThat(cache.peek(7)).isNull();
    device.failReads = false;
    touch(7);
  }

  @Test
  void theCapacityHoldsAndWhatIsUsedStays() throws IOException {
    try (Buffer pinned = cache.read(0)) {
      Le.put64(pinned.data(), 8, 42);
      for (int i = 1; i < BLOCKS; i++) {
        touch(i);
      }
      assertThat(cache.residentCount()).isLessThanOrEqualTo(CAPACITY);
      try (Buffer again = cache.read(0)) {
        assertThat(again).isSameAs(pinned);
        assertThat(Le.u64(again.data(), 8)).isEqualTo(42);
      }
    }
    assertThat(cache.evictionCount()).isGreaterThan(BLOCKS - 2 * CAPACITY);
  }

  @Test
  void neitherDirtyNorAttachedBuffersAreEvicted() throws IOException {
    for (int i = 0; i < 2 * CAPACITY; i++) {
      try (Buffer buffer = cache.read(i)) {
        Le.put64(buffer.data(), 8, 1000 + i);
        if (i % 2 == 0) {
          buffer.dirty(true);
        } else {
          buffer.attachment(this);
        }
      }
    }
    for (int i = 2 * CAPACITY; i < BLOCKS; i++) {
      touch(i);
    }
    for (int i = 0; i < 2 * CAPACITY; i++) {
      try (Buffer buffer = cache.read(i)) {
        assertThat(Le.u64(buffer.data(), 8)).isEqualTo(1000 + i);
        buffer.dirty(false);
        buffer.attachment(null);
      }
    }
    for (int i = 2 * CAPACITY; i < BLOCKS; i++) {
      touch(i);
    }
    assertThat(cache.residentCount()).isLessThanOrEqualTo(CAPACITY);
  }

  @Test
  void writeBackGathersNeighbours() throws IOException {
    List<Buffer> batch = new ArrayList<>();
    for (int i : new int[] {12, 10, 11, 40, 13, 41}) {
      Buffer buffer = cache.fresh(i);
      Le.put64(buffer.data(), 0, 500 + i);
      buffer.dirty(true);
      batch.add(buffer);
    }
    cache.writeBack(batch);
    assertThat(device.writes.get()).isLessThanOrEqualTo(2);
    for (Buffer buffer : batch) {
      assertThat(buffer.dirty()).isFalse();
      long offset = buffer.blockNr() * BLOCK;
      assertThat(Le.u64(device.ram.memory(), offset)).isEqualTo(500 + buffer.blockNr());
      buffer.close();
    }
  }

  @Test
  void aFailedWriteBackLeavesTheBuffersDirty() throws IOException {
    try (Buffer buffer = cache.read(3)) {
      buffer.dirty(true);
      device.failWrites = true;
      assertThatThrownBy(() -> cache.writeBackAll()).isInstanceOf(DeviceException.class);
      assertThat(buffer.dirty()).isTrue();
      device.failWrites = false;
      cache.writeBackAll();
      assertThat(buffer.dirty()).isFalse();
    }
  }

  @Test
  void aFreshBlockIsZeroAndNotRead() throws IOException {
    try (Buffer buffer = cache.fresh(9)) {
      assertThat(Le.u64(buffer.data(), 0)).isZero();
      assertThat(buffer.verified()).isTrue();
    }
    try (Buffer buffer = cache.read(9)) {
      assertThat(Le.u64(buffer.data(), 0)).isZero();
    }
    assertThat(device.reads.get()).isZero();
  }

  @Test
  void aForgottenBlockComesFromTheDeviceAgain() throws IOException {
    try (Buffer buffer = cache.read(5)) {
      Le.put64(buffer.data(), 0, 1);
      buffer.dirty(true);
    }
    cache.forget(5);
    assertThat(cache.peek(5)).isNull();
    touch(5);
  }

  @Test
  void whatIsInUseIsNotForgottenAsUnused() throws IOException {
    Buffer buffer = cache.fresh(5);
    cache.forgetIfUnused(buffer);
    assertThat(cache.peek(5)).isSameAs(buffer);
    buffer.close();
    buffer.attachment(this);
    buffer.close();
    cache.forgetIfUnused(buffer);
    assertThat(cache.peek(5)).isSameAs(buffer);
    buffer.close();
    buffer.attachment(null);
    cache.forgetIfUnused(buffer);
    assertThat(cache.peek(5)).isNull();
  }

  @Test
  void readAheadReadsTheRunInOneTransfer() throws Exception {
    touch(22);
    device.reads.set(0);
    cache.readAhead(20, 8);
    for (int i = 0; i < 1000 && cache.residentCount() < 8; i++) {
      Thread.sleep(5);
    }
    for (int i = 20; i < 28; i++) {
      touch(i);
    }
    assertThat(device.reads.get()).isEqualTo(2);
  }

  @Test
  void aFailedReadAheadIsNoError() throws Exception {
    device.failReads = true;
    cache.readAhead(BLOCKS - 8, 8);
    for (int i = 0; i < 1000 && device.reads.get() == 0; i++) {
      Thread.sleep(5);
    }
    device.failReads = false;
    CompletableFuture.runAsync(
            () -> {
              while (cache.residentCount() > 0) {
                Thread.onSpinWait();
              }
            })
        .join();
    touch(BLOCKS - 1);
  }

  @Test
  void closingABufferTooOftenIsRefused() throws IOException {
    Buffer buffer = cache.read(1);
    buffer.close();
    assertThatThrownBy(buffer::close).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void manyThreadsSeeTheirOwnChanges() throws Exception {
    // Each thread owns the blocks with its number modulo 8; what it wrote must be there, though
    // buffers come and go.
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> done = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        int mine = thread;
        done.add(threads.submit(() -> changeOwnBlocks(mine)));
      }
      for (Future<?> future : done) {
        future.get();
      }
    }
    cache.writeBackAll();
  }

  private Void changeOwnBlocks(int mine) throws IOException {
    Random random = new Random(mine);
    long[] values = new long[BLOCKS];
    for (int step = 1; step < 3000; step++) {
      int blockNr = random.nextInt(BLOCKS / 8) * 8 + mine;
      try (Buffer buffer = cache.read(blockNr)) {
        assertThat(Le.u64(buffer.data(), 8)).isEqualTo(values[blockNr]);
        values[blockNr] = step;
        Le.put64(buffer.data(), 8, step);
        buffer.dirty(true);
        if (random.nextInt(4) > 0) {
          cache.writeBack(List.of(buffer));
        }
      }
    }
    return null;
  }
}
