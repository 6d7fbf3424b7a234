package dev.extant.cache;

import dev.extant.block.RequestQueue;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/// All metadata blocks in memory, by block number.
///
/// Definitions. *Resident*: in the table. *Evictable*: resident, not pinned, not dirty, without an
/// attachment, not being read. *Capacity*: the number of resident buffers above which a newcomer
/// first tries to evict one; a soft bound, exceeded while nothing is evictable.
///
/// Invariants:
///
/// 1. A block has at most one resident buffer, and it is read from the device by one thread at a
///    time.
/// 2. A dirty buffer is never evicted (I8).
/// 3. A buffer whose read failed is not resident; everyone who waited for that read gets the error.
/// 4. Memory is given back when a buffer is neither resident nor pinned.
///
/// The table is cut into stripes by block number, each with its own lock and its own second-chance
/// hand. No I/O is done under a stripe's lock.
public final class BufferCache implements AutoCloseable {
  private static final int STRIPES = 64;
  private static final int WRITE_BATCH = 1024;
  private static final int MAX_READ_AHEADS = 8;
  private static final int EVICTIONS_PER_MISS = 4;
  private static final int RETRY_AFTER = 64;

  private final RequestQueue queue;
  private final int blockSizeBytes;
  private final int capacity;
  private final BlockSlabs slabs;
  private final BufferStripe[] stripes = new BufferStripe[STRIPES];
  private final AtomicInteger resident = new AtomicInteger();
  private final AtomicInteger nextVictim = new AtomicInteger();

  /// The resident count from which a miss looks for a victim: the capacity, or more after nothing
  /// was evictable.
  private volatile int evictAbove;

  private final AtomicLong evictions = new AtomicLong();
  private final AtomicInteger readAheads = new AtomicInteger();

  /// Held by who uses `home`, the only staging area of this cache.
  private final ReentrantLock homeLock = new ReentrantLock();

  private final StagedBlocks home;

  public BufferCache(RequestQueue queue, int blockSizeBytes, long capacityBytes) {
    this.queue = queue;
    this.blockSizeBytes = blockSizeBytes;
    this.capacity = Math.clamp(capacityBytes / blockSizeBytes, 16, Integer.MAX_VALUE / 2);
    this.evictAbove = capacity;
    this.slabs = new BlockSlabs(blockSizeBytes);
    this.home = new StagedBlocks(queue, blockSizeBytes);
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new BufferStripe();
    }
  }

  /// The number of whole blocks that the device has.
  public long deviceBlocks() {
    return queue.device().sizeBytes() / blockSizeBytes;
  }

  public int blockSizeBytes() {
    return blockSizeBytes;
  }

  /// How many blocks are in memory now.
  public int residentCount() {
    return resident.get();
  }

  /// How many buffers were evicted so far.
  public long evictionCount() {
    return evictions.get();
  }

  /// The block as it is on the device or newer, pinned.
  public Buffer read(long blockNr) throws IOException {
    Buffer buffer = slot(blockNr);
    while (!buffer.upToDate) {
      CompletableFuture<Void> mine = new CompletableFuture<>();
      if (claimRead(buffer, mine)) {
        load(buffer, mine);
      } else {
        try {
          buffer.awaitLoaded();
        } catch (IOException e) {
          buffer.close();
          throw e;
        }
      }
    }
    return buffer;
  }

  /// A block whose old content does not matter: not read, filled with zeroes, pinned.
  public Buffer fresh(long blockNr) {
    while (true) {
      Buffer buffer = slot(blockNr);
      CompletableFuture<Void> mine = new CompletableFuture<>();
      if (!buffer.upToDate && !claimRead(buffer, mine)) {
        buffer.close();
        awaitQuietly(buffer);
        continue;
      }
      buffer.data().fill((byte) 0);
      buffer.verified(true);
      loaded(buffer);
      mine.complete(null);
      return buffer;
    }
  }

  /// The block, pinned, if it is in memory; else null.
  public Buffer peek(long blockNr) {
    BufferStripe stripe = stripe(blockNr);
    stripe.lock.lock();
    try {
      Buffer buffer = stripe.find(blockNr);
      if (buffer == null || !buffer.upToDate) {
        return null;
      }
      buffer.referenced = true;
      return buffer.pin();
    } finally {
      stripe.lock.unlock();
    }
  }

  /// Reads those of the blocks that are not in memory, neighbours in one transfer, and waits. A
  /// hint: errors show up at the later read.
  public void load(long blockNr, int count) {
    readMissing(blockNr, count);
  }

  /// Starts reading blocks that will soon be asked for. A hint: errors show up at the later read,
  /// and nothing is done while many such reads are under way.
  public void readAhead(long blockNr, int count) {
    if (count <= 0) {
      return;
    }
    if (readAheads.incrementAndGet() > MAX_READ_AHEADS) {
      readAheads.decrementAndGet();
      return;
    }
    Thread.ofVirtual()
        .name("extant-readahead-", blockNr)
        .start(
            () -> {
              try {
                readMissing(blockNr, Math.min(count, capacity / 4));
              } finally {
                readAheads.decrementAndGet();
              }
            });
  }

  /// Writes the given buffers home (sorted, neighbours gathered) and waits; marks them clean. Does
  /// not flush. Each must be pinned, or dirty and written by nobody else. What is written is a copy
  /// taken at once, so the caller must keep the blocks from changing only until their copy is
  /// taken; a change after that marks the buffer dirty again.
  public void writeBack(Collection<Buffer> batch) throws IOException {
    List<Buffer> taken = new ArrayList<>(Math.min(batch.size(), WRITE_BATCH));
    homeLock.lock();
    try {
      for (Buffer buffer : batch) {
        if (pinIfResident(buffer)) {
          taken.add(buffer);
          buffer.dirty(false);
          home.add(buffer.blockNr(), buffer.data());
        }
        if (taken.size() == WRITE_BATCH) {
          writeTaken(taken);
        }
      }
      writeTaken(taken);
    } finally {
      homeLock.unlock();
    }
  }

  private void writeTaken(List<Buffer> taken) throws IOException {
    try {
      home.write();
    } catch (IOException e) {
      taken.forEach(buffer -> buffer.dirty(true));
      throw e;
    } finally {
      taken.forEach(Buffer::close);
      taken.clear();
    }
  }

  /// Writes every dirty buffer without a journal attachment home and waits. Does not flush.
  public void writeBackAll() throws IOException {
    List<Buffer> dirty = new ArrayList<>();
    for (BufferStripe stripe : stripes) {
      stripe.lock.lock();
      try {
        stripe.forEach(
            buffer -> {
              if (buffer.dirty() && buffer.attachment() == null) {
                dirty.add(buffer.pin());
              }
            });
      } finally {
        stripe.lock.unlock();
      }
    }
    try {
      writeBack(dirty);
    } finally {
      dirty.forEach(Buffer::close);
    }
  }

  /// Drops the block's pending home write: the block was freed. Its next [#read] comes from the
  /// device.
  public void forget(long blockNr) {
    BufferStripe stripe = stripe(blockNr);
    stripe.lock.lock();
    try {
      Buffer buffer = stripe.find(blockNr);
      if (buffer != null && buffer.loading == null) {
        buffer.dirty(false);
        buffer.verified(false);
        buffer.upToDate = false;
      }
    } finally {
      stripe.lock.unlock();
    }
  }

  /// As [#forget], but only if nobody has to do with the buffer any more: by now it may be a new
  /// block that somebody has in hand, or a transaction.
  public void forgetIfUnused(Buffer buffer) {
    BufferStripe stripe = stripe(buffer.blockNr());
    stripe.lock.lock();
    try {
      if (buffer.evictable()) {
        buffer.verified(false);
        buffer.upToDate = false;
      }
    } finally {
      stripe.lock.unlock();
    }
  }

  private BufferStripe stripe(long blockNr) {
    return stripes[(int) (blockNr * 0x9E3779B97F4A7C15L >>> 58)];
  }

  /// The resident buffer of the block, pinned; a new one without content if there was none.
  private Buffer slot(long blockNr) {
    BufferStripe stripe = stripe(blockNr);
    stripe.lock.lock();
    try {
      Buffer buffer = stripe.find(blockNr);
      if (buffer != null) {
        buffer.referenced = true;
        return buffer.pin();
      }
    } finally {
      stripe.lock.unlock();
    }
    makeRoom();
    Buffer candidate = new Buffer(this, blockNr, slabs.take());
    stripe.lock.lock();
    try {
      Buffer buffer = stripe.find(blockNr);
      if (buffer == null) {
        stripe.add(candidate);
        resident.incrementAndGet();
        return candidate.pin();
      }
      slabs.give(candidate.data());
      return buffer.pin();
    } finally {
      stripe.lock.unlock();
    }
  }

  /// True if the caller shall now give the buffer its content and complete `mine`.
  private boolean claimRead(Buffer buffer, CompletableFuture<Void> mine) {
    BufferStripe stripe = stripe(buffer.blockNr());
    stripe.lock.lock();
    try {
      if (buffer.upToDate || buffer.loading != null || !buffer.mapped) {
        return false;
      }
      buffer.loading = mine;
      return true;
    } finally {
      stripe.lock.unlock();
    }
  }

  private void load(Buffer buffer, CompletableFuture<Void> mine) throws IOException {
    try {
      queue.read(buffer.blockNr() * blockSizeBytes, buffer.data());
    } catch (IOException | RuntimeException e) {
      unmap(buffer);
      mine.completeExceptionally(e);
      buffer.close();
      throw e;
    }
    buffer.verified(false);
    loaded(buffer);
    mine.complete(null);
  }

  private void loaded(Buffer buffer) {
    BufferStripe stripe = stripe(buffer.blockNr());
    stripe.lock.lock();
    try {
      buffer.upToDate = true;
      buffer.loading = null;
    } finally {
      stripe.lock.unlock();
    }
  }

  private void unmap(Buffer buffer) {
    BufferStripe stripe = stripe(buffer.blockNr());
    stripe.lock.lock();
    try {
      stripe.remove(buffer);
      buffer.abandoned = true;
      resident.decrementAndGet();
    } finally {
      stripe.lock.unlock();
    }
  }

  private static void awaitQuietly(Buffer buffer) {
    try {
      buffer.awaitLoaded();
    } catch (IOException e) {
      // The reader got the error; the caller here needs no content and takes a new buffer.
    }
  }

  private boolean pinIfResident(Buffer buffer) {
    BufferStripe stripe = stripe(buffer.blockNr());
    stripe.lock.lock();
    try {
      if (!buffer.mapped) {
        return false;
      }
      buffer.pin();
      return true;
    } finally {
      stripe.lock.unlock();
    }
  }

  private void makeRoom() {
    for (int i = 0; i < EVICTIONS_PER_MISS && resident.get() >= evictAbove; i++) {
      if (!evictOne()) {
        // Nothing is evictable: do not look again for each of the next misses.
        evictAbove = resident.get() + RETRY_AFTER;
        return;
      }
      evictAbove = capacity;
    }
  }

  private boolean evictOne() {
    int from = nextVictim.getAndIncrement();
    for (int i = 0; i < STRIPES; i++) {
      BufferStripe stripe = stripes[from + i & STRIPES - 1];
      stripe.lock.lock();
      try {
        Buffer victim = stripe.evictOne();
        if (victim != null) {
          resident.decrementAndGet();
          evictions.incrementAndGet();
          slabs.give(victim.data());
          return true;
        }
      } finally {
        stripe.lock.unlock();
      }
    }
    return false;
  }

  /// The last pin of a buffer that is no longer resident has gone.
  void recycle(Buffer buffer) {
    slabs.give(buffer.data());
  }

  /// Reads the blocks of the range that are not resident, neighbours in one transfer.
  private void readMissing(long blockNr, int count) {
    List<Buffer> run = new ArrayList<>();
    List<CompletableFuture<Void>> reads = new ArrayList<>();
    for (int i = 0; i <= count; i++) {
      Buffer buffer = i < count ? slot(blockNr + i) : null;
      CompletableFuture<Void> mine = new CompletableFuture<>();
      if (buffer != null && claimRead(buffer, mine)) {
        run.add(buffer);
        reads.add(mine);
        continue;
      }
      if (buffer != null) {
        buffer.close();
      }
      if (!run.isEmpty()) {
        readRun(run, reads);
        run.clear();
        reads.clear();
      }
    }
  }

  private void readRun(List<Buffer> run, List<CompletableFuture<Void>> reads) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment bytes = arena.allocate((long) run.size() * blockSizeBytes, 4096);
      queue.read(run.getFirst().blockNr() * blockSizeBytes, bytes);
      for (int i = 0; i < run.size(); i++) {
        Buffer buffer = run.get(i);
        buffer.data().copyFrom(bytes.asSlice((long) i * blockSizeBytes, blockSizeBytes));
        buffer.verified(false);
        loaded(buffer);
        reads.get(i).complete(null);
        buffer.close();
      }
    } catch (IOException | RuntimeException e) {
      for (int i = 0; i < run.size(); i++) {
        if (!reads.get(i).isDone()) {
          unmap(run.get(i));
          reads.get(i).completeExceptionally(e);
          run.get(i).close();
        }
      }
    }
  }

  /// Waits for the future; its failure is thrown as the [IOException] it is.
  static void join(CompletableFuture<Void> future) throws IOException {
    try {
      future.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /// Frees the memory. Nothing is written: the owner has done that before.
  @Override
  public void close() {
    while (readAheads.get() > 0) {
      Thread.yield();
    }
    home.close();
    slabs.close();
  }
}
