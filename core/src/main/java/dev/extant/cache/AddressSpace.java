package dev.extant.cache;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The data of one file in memory: its pages, each one block, by index.
///
/// The file's own lock (`Inode.lock`) is held by callers: shared for [#read], exclusively for
/// everything that adds, changes or drops bytes. Writeback needs no lock of the file, since each
/// dirty page knows its block.
///
/// Invariants:
/// 1. A dirty page is up to date and has a block, which is allocated to the file.
/// 2. Pages are in flight only while `writebackLock` is held; so there is never more than one write
///    of a page under way.
/// 3. `lock` and the cache's lock are leaves: nobody waits for I/O, a handle or memory while
///    holding them.
/// 4. A page that is dirtied while it is in flight stays dirty and is written again.
/// 5. A page whose write failed is dirty again; nothing is dropped because of an error.
/// 6. The bytes of a page behind the end of the file are zero.
public final class AddressSpace {
  /// Finds the blocks of the file.
  public interface Mapper {
    Mapping map(long index, int maxCount) throws IOException;
  }

  /// A run of blocks from the asked index on; `blockNr` 0: they read as zeroes.
  public record Mapping(long blockNr, int count) {}

  private final PageCache cache;
  private final PageReader reader;

  /// Held over each batch of writes until it is complete. Fair, so that the commit thread gets its
  /// turn between the batches of others. Taken before `lock`, never while holding a handle.
  private final ReentrantLock writebackLock = new ReentrantLock(true);

  /// Guards what follows and the fields of the pages.
  private final ReentrantLock lock = new ReentrantLock();

  /// A page is no longer being read.
  private final Condition filled = lock.newCondition();

  private final PageMap map = new PageMap();
  private final DirtyList dirtyPages = new DirtyList();
  private int flyingPages;
  private long dirtySeq;

  /// How many batches failed, how many of these failures an fsync has reported, and the last one.
  private long failures;

  private long failuresReported;
  private IOException lastFailure;

  public AddressSpace(PageCache cache) {
    this.cache = cache;
    this.reader = new PageReader(this, cache);
  }

  /// Reads from a file of `sizeBytes`, which `target` does not reach beyond.
  public void read(long offset, MemorySegment target, long sizeBytes, Mapper mapper)
      throws IOException {
    reader.read(offset, target, sizeBytes, mapper);
  }

  /// Pins pages from `index` on for changing them, adding those that are not there, and returns how
  /// many: at least one, up to `count` as far as memory goes.
  public int pinForWrite(long index, int count, Page[] pages) throws IOException {
    int pinned = 0;
    while (pinned < count) {
      Page spare = null;
      if (!present(index + pinned)) {
        spare = pinned == 0 ? cache.allocate() : cache.tryAllocate();
        if (spare == null) {
          break;
        }
      }
      Page page = pinOrAdd(index + pinned, spare);
      if (page == null) {
        continue;
      }
      pages[pinned++] = page;
    }
    return pinned;
  }

  private boolean present(long index) {
    lock.lock();
    try {
      return map.get(index) != null;
    } finally {
      lock.unlock();
    }
  }

  /// Null if the page was evicted meanwhile and there is no spare one.
  private Page pinOrAdd(long index, Page spare) {
    lock.lock();
    try {
      Page page = map.get(index);
      if (page == null) {
        if (spare == null) {
          return null;
        }
        page = spare;
        page.index = index;
        page.space = this;
        map.add(page);
      }
      page.pins++;
      page.referenced = true;
      return page;
    } finally {
      lock.unlock();
    }
  }

  /// Gives pins of [#pinForWrite] back; pages that were not filled leave the cache.
  public void unpin(Page[] pages, int count) {
    lock.lock();
    try {
      for (int i = 0; i < count; i++) {
        Page page = pages[i];
        page.pins--;
        if (page.pins == 0 && !page.upToDate) {
          map.remove(page);
          cache.release(page);
        }
        pages[i] = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /// Makes the old content of a pinned page present: `validBytes` of it from its block, zeroes
  /// behind them.
  public void fill(Page page, long blockNr, int validBytes) throws IOException {
    if (page.upToDate) {
      return;
    }
    if (validBytes > 0) {
      cache.queue().read(blockNr * cache.blockSizeBytes(), page.data());
    }
    page.data().asSlice(validBytes).fill((byte) 0);
    lock.lock();
    try {
      page.blockNr = blockNr;
      page.upToDate = true;
    } finally {
      lock.unlock();
    }
  }

  /// The bytes of these pinned pages were changed and are whole. They lie in neighbouring blocks.
  public void dirtied(Page[] pages, int count, long firstBlockNr) {
    int added = 0;
    lock.lock();
    try {
      boolean wasClean = dirtyPages.isEmpty();
      for (int i = 0; i < count; i++) {
        Page page = pages[i];
        page.blockNr = firstBlockNr + i;
        page.upToDate = true;
        if (!page.dirty) {
          added += page.inFlight ? 0 : 1;
          page.dirtySeq = ++dirtySeq;
          dirtyPages.append(page);
        }
      }
      if (wasClean && !dirtyPages.isEmpty()) {
        cache.becameDirty(this);
      }
    } finally {
      lock.unlock();
    }
    cache.addDirty(added);
  }

  /// Every byte is on the device: no page is dirty or in flight.
  public boolean clean() {
    lock.lock();
    try {
      return dirtyPages.isEmpty() && flyingPages == 0;
    } finally {
      lock.unlock();
    }
  }

  /// Some page is dirty.
  public boolean dirty() {
    lock.lock();
    try {
      return !dirtyPages.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /// Writes all pages that were dirty when the call began and waits for them. A failed write since
  /// the last report is reported, once to each caller who was waiting, even if a later try went
  /// well.
  public void writeback() throws IOException {
    long reportedBefore;
    lock.lock();
    try {
      reportedBefore = failuresReported;
    } finally {
      lock.unlock();
    }
    IOException failure = null;
    try {
      writeDirty();
    } catch (IOException e) {
      failure = e;
    }
    lock.lock();
    try {
      if (failure == null && failures > reportedBefore) {
        failure = new IOException(lastFailure.getMessage(), lastFailure);
      }
      failuresReported = failures;
    } finally {
      lock.unlock();
    }
    if (failure != null) {
      throw failure;
    }
  }

  /// The same without the report of earlier failures. May be called while others write to the file;
  /// what they dirty meanwhile is left to later calls. Needs no lock of the file.
  public void writeDirty() throws IOException {
    long upTo;
    lock.lock();
    try {
      upTo = dirtySeq;
    } finally {
      lock.unlock();
    }
    while (writeBatch(upTo) > 0) {}
  }

  /// Writes the oldest dirty pages and waits.
  void writeSome() throws IOException {
    writeBatch(Long.MAX_VALUE);
  }

  /// Writes a batch of the pages that became dirty up to `upTo`; returns how many. When it returns
  /// 0 none of them is in flight either.
  private int writeBatch(long upTo) throws IOException {
    writebackLock.lock();
    try {
      List<Page> batch = gather(upTo);
      if (batch.isEmpty()) {
        return 0;
      }
      PageWriter writer = new PageWriter(cache);
      try {
        writer.write(batch);
      } finally {
        finish(batch, writer);
      }
      if (writer.failure() != null) {
        throw writer.failure();
      }
      return batch.size();
    } finally {
      writebackLock.unlock();
    }
  }

  private List<Page> gather(long upTo) {
    int limit = cache.batchLimit();
    lock.lock();
    try {
      List<Page> batch = new ArrayList<>(Math.min(dirtyPages.size(), limit));
      while (batch.size() < limit) {
        Page page = dirtyPages.oldest();
        if (page == null || page.dirtySeq > upTo) {
          break;
        }
        dirtyPages.remove(page);
        page.inFlight = true;
        batch.add(page);
      }
      flyingPages = batch.size();
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void finish(List<Page> batch, PageWriter writer) {
    int cleaned = 0;
    lock.lock();
    try {
      for (int i = 0; i < batch.size(); i++) {
        Page page = batch.get(i);
        page.inFlight = false;
        if (!writer.written(i) && !page.dirty) {
          dirtyPages.prepend(page);
        }
        cleaned += page.dirty ? 0 : 1;
      }
      flyingPages = 0;
      if (writer.failure() != null) {
        failures++;
        lastFailure = writer.failure();
      }
      if (dirtyPages.isEmpty()) {
        cache.becameClean(this);
      }
    } finally {
      lock.unlock();
    }
    cache.addDirty(-cleaned);
  }

  /// Forgets all pages at and behind `fromIndex`, dirty or not; see the next.
  public void drop(long fromIndex) {
    drop(fromIndex, Long.MAX_VALUE);
  }

  /// Forgets the pages in `[fromIndex, toIndex)`, dirty or not. Writes in flight are waited for, so
  /// that afterwards their blocks may be freed. Needs the file's lock; no handle may be held.
  public void drop(long fromIndex, long toIndex) {
    List<Page> dropped = new ArrayList<>();
    int cleaned = 0;
    writebackLock.lock();
    lock.lock();
    try {
      map.forEach(
          page -> {
            if (page.index >= fromIndex && page.index < toIndex) {
              dropped.add(page);
            }
          });
      for (Page page : dropped) {
        map.remove(page);
        if (page.dirty) {
          dirtyPages.remove(page);
          cleaned++;
        }
        cache.release(page);
      }
      if (cleaned > 0 && dirtyPages.isEmpty()) {
        cache.becameClean(this);
      }
    } finally {
      lock.unlock();
      writebackLock.unlock();
    }
    cache.addDirty(-cleaned);
  }

  /// Takes a page out for the cache, which holds its own lock, if nobody needs it.
  boolean tryEvict(Page page) {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      if (page.space != this || !page.evictable()) {
        return false;
      }
      map.remove(page);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /// Pins pages that are present from `index` on, up to `count`; returns how many.
  int pinPresent(long index, int count, Page[] pages) {
    lock.lock();
    try {
      int pinned = 0;
      while (pinned < count) {
        Page page = map.get(index + pinned);
        if (page == null) {
          break;
        }
        page.pins++;
        page.referenced = true;
        pages[pinned++] = page;
      }
      return pinned;
    } finally {
      lock.unlock();
    }
  }

  /// Waits until a pinned page is not being read; false if the read failed.
  boolean awaitFilled(Page page) {
    lock.lock();
    try {
      while (page.reading) {
        filled.awaitUninterruptibly();
      }
      return page.upToDate;
    } finally {
      lock.unlock();
    }
  }

  /// Gives pins of [#pinPresent] back.
  void unpinRead(Page[] pages, int count) {
    lock.lock();
    try {
      for (int i = 0; i < count; i++) {
        Page page = pages[i];
        page.pins--;
        if (page.pins == 0 && page.space == null) {
          cache.release(page);
        }
        pages[i] = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /// Adds free pages as being read for the run from `index` on, up to the first that is there
  /// already. Returns how many; the rest is left to the caller.
  int addReading(long index, long blockNr, int count, Page[] pages) {
    lock.lock();
    try {
      int added = 0;
      while (added < count && map.get(index + added) == null) {
        Page page = pages[added];
        page.index = index + added;
        page.blockNr = blockNr + added;
        page.space = this;
        page.reading = true;
        page.referenced = true;
        page.pins++;
        map.add(page);
        added++;
      }
      return added;
    } finally {
      lock.unlock();
    }
  }

  /// The read of these pages ended. After a failure they leave the file; whoever waited for them
  /// tries again.
  void finishReading(Page[] pages, int count, boolean success) {
    lock.lock();
    try {
      for (int i = 0; i < count; i++) {
        Page page = pages[i];
        page.reading = false;
        page.upToDate = success;
        page.pins--;
        if (!success) {
          map.remove(page);
          page.space = null;
          if (page.pins == 0) {
            cache.release(page);
          }
        }
      }
      filled.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
