package dev.extant.cache;

import dev.extant.block.RequestQueue;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The memory for file data of one mount: a bounded number of pages, off the heap, handed out to
/// [AddressSpace]s and taken back by second chance.
///
/// Invariants:
/// 1. A page that is pinned, dirty, in flight or being read is never taken back (I8).
/// 2. At most [#dirtyLimit] pages are dirty or in flight, but for what each writer adds in one
///    batch before it comes to [#throttle].
/// 3. Nobody waits for memory while holding a pin, a handle or a space's lock. Who holds pins and
///    gets no more memory goes on with what it has.
///
/// Lock order: a space's lock, then `lock`. The other way round only `tryLock`.
public final class PageCache implements AutoCloseable {
  private static final int SLAB_BYTES = 1 << 20;
  static final int SCRATCH_BYTES = 512 << 10;
  private static final int FEWEST_PAGES = 16;
  private static final int EVICT_BATCH = 32;
  private static final int DIRTY_PERCENT = 40;
  private static final int LARGEST_BATCH = 1024;

  private final RequestQueue queue;
  private final int blockSizeBytes;
  private final int capacity;
  private final Arena arena = Arena.ofShared();
  private final ConcurrentLinkedQueue<MemorySegment> scratches = new ConcurrentLinkedQueue<>();
  private final AtomicInteger dirtyCount = new AtomicInteger();

  private final ReentrantLock lock = new ReentrantLock();

  /// Some page may have become free or evictable.
  private final Condition released = lock.newCondition();

  /// All pages there are, in the order of the clock; guarded by `lock`.
  private final List<Page> pages = new ArrayList<>();

  /// Guarded by `lock`.
  private final ArrayList<Page> free = new ArrayList<>();

  /// Guarded by `lock`.
  private int hand;

  /// Spaces with pages that are dirty or in flight, the one that became dirty first at the front;
  /// guarded by `lock`.
  private final Set<AddressSpace> dirtySpaces = new LinkedHashSet<>();

  public PageCache(RequestQueue queue, int blockSizeBytes, long cacheBytes) {
    this.queue = queue;
    this.blockSizeBytes = blockSizeBytes;
    this.capacity = Math.clamp(cacheBytes / blockSizeBytes, FEWEST_PAGES, Integer.MAX_VALUE / 2);
  }

  RequestQueue queue() {
    return queue;
  }

  public int blockSizeBytes() {
    return blockSizeBytes;
  }

  /// How many pages there may be.
  public int capacity() {
    return capacity;
  }

  /// How many pages one operation may pin at a time.
  public int batchLimit() {
    return Math.clamp(capacity / 16, 1, LARGEST_BATCH);
  }

  int dirtyLimit() {
    return Math.max(1, (int) ((long) capacity * DIRTY_PERCENT / 100));
  }

  /// Pages that are dirty or in flight.
  public int dirtyCount() {
    return dirtyCount.get();
  }

  void addDirty(int pagesDirtied) {
    dirtyCount.addAndGet(pagesDirtied);
  }

  void becameDirty(AddressSpace space) {
    lock.lock();
    try {
      dirtySpaces.add(space);
    } finally {
      lock.unlock();
    }
  }

  void becameClean(AddressSpace space) {
    lock.lock();
    try {
      dirtySpaces.remove(space);
    } finally {
      lock.unlock();
    }
  }

  /// A writer calls this before it dirties pages of `own`, holding no pin and no handle: while too
  /// much is dirty it writes back the oldest of its own dirty pages, or else somebody's.
  public void throttle(AddressSpace own) throws IOException {
    while (dirtyCount.get() > dirtyLimit()) {
      AddressSpace victim = own.dirty() ? own : oldestDirty();
      if (victim == null) {
        return;
      }
      victim.writeSome();
    }
  }

  private AddressSpace oldestDirty() {
    lock.lock();
    try {
      return dirtySpaces.isEmpty() ? null : dirtySpaces.iterator().next();
    } finally {
      lock.unlock();
    }
  }

  /// Writes back everything that was dirty when the call began. Goes through all files and then
  /// throws the first error.
  public void writebackAll() throws IOException {
    List<AddressSpace> spaces;
    lock.lock();
    try {
      spaces = new ArrayList<>(dirtySpaces);
    } finally {
      lock.unlock();
    }
    IOException failure = null;
    for (AddressSpace space : spaces) {
      try {
        space.writeback();
      } catch (IOException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /// A free page, or null if none can be had without waiting. The caller holds no space's lock.
  Page tryAllocate() {
    lock.lock();
    try {
      if (free.isEmpty() && pages.size() < capacity) {
        addSlab();
      }
      if (free.isEmpty()) {
        evict();
      }
      return free.isEmpty() ? null : free.removeLast();
    } finally {
      lock.unlock();
    }
  }

  /// A free page. Writes dirty ones back where nothing else helps, and waits where all are pinned.
  Page allocate() throws IOException {
    while (true) {
      Page page = tryAllocate();
      if (page != null) {
        return page;
      }
      AddressSpace victim = oldestDirty();
      if (victim != null) {
        victim.writeSome();
      } else {
        awaitRelease();
      }
    }
  }

  /// All pages are pinned by operations under way. They end by themselves, so looking again soon is
  /// simpler than a signal from each unpin.
  private void awaitRelease() {
    boolean interrupted = false;
    lock.lock();
    try {
      long nanos = TimeUnit.MILLISECONDS.toNanos(1);
      while (nanos > 0 && free.isEmpty()) {
        try {
          nanos = released.awaitNanos(nanos);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void addSlab() {
    int count = Math.min(Math.max(1, SLAB_BYTES / blockSizeBytes), capacity - pages.size());
    MemorySegment slab = arena.allocate((long) count * blockSizeBytes, 4096);
    for (int i = 0; i < count; i++) {
      Page page = new Page(slab.asSlice((long) i * blockSizeBytes, blockSizeBytes));
      pages.add(page);
      free.add(page);
    }
  }

  /// Moves the clock's hand until a batch of pages is free or it went round twice.
  private void evict() {
    long steps = 2L * pages.size();
    int wanted = Math.min(EVICT_BATCH, Math.max(1, capacity / 8));
    while (steps-- > 0 && free.size() < wanted) {
      hand = hand + 1 < pages.size() ? hand + 1 : 0;
      Page page = pages.get(hand);
      AddressSpace space = page.space;
      if (space == null) {
        continue;
      }
      if (page.referenced) {
        page.referenced = false;
      } else if (space.tryEvict(page)) {
        page.reset();
        free.add(page);
      }
    }
  }

  /// Takes back a page that is in no space and that nobody has pinned.
  void release(Page page) {
    lock.lock();
    try {
      page.reset();
      free.add(page);
      released.signal();
    } finally {
      lock.unlock();
    }
  }

  /// Memory of [#SCRATCH_BYTES] (a multiple of the block size) for one transfer.
  MemorySegment takeScratch() {
    MemorySegment scratch = scratches.poll();
    return scratch != null ? scratch : arena.allocate(SCRATCH_BYTES, 4096);
  }

  void giveScratch(MemorySegment scratch) {
    scratches.add(scratch);
  }

  /// Frees the memory. Nothing is written; nobody uses the cache any more.
  @Override
  public void close() {
    arena.close();
  }
}
