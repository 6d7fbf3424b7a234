package dev.extant.cache;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The way of one file's bytes to readers: from pages, filling missing ones with one large read per
/// run of blocks, and reading ahead of whoever goes on where the last reader stopped.
final class PageReader {
  /// Pages that are pinned at a time while they are copied.
  private static final int COPY_BATCH = 64;

  private static final int FIRST_WINDOW_BYTES = 16 << 10;
  private static final int LARGEST_WINDOW_BYTES = PageCache.SCRATCH_BYTES;

  private final AddressSpace space;
  private final PageCache cache;
  private final int blockSizeBytes;

  /// Where the last read ended, and how far ahead to read. Racy hints: several readers may share
  /// them.
  private volatile long nextOffset;

  private volatile int windowBytes;

  PageReader(AddressSpace space, PageCache cache) {
    this.space = space;
    this.cache = cache;
    this.blockSizeBytes = cache.blockSizeBytes();
  }

  /// One call of [#read]: what is left of it, and arrays it uses again and again.
  private static final class Progress {
    final long sizeBytes;
    final AddressSpace.Mapper mapper;
    final MemorySegment target;
    final Page[] pages;
    long offset;
    long done;

    Progress(
        long offset,
        MemorySegment target,
        long sizeBytes,
        AddressSpace.Mapper mapper,
        int pagesAtOnce) {
      this.offset = offset;
      this.target = target;
      this.sizeBytes = sizeBytes;
      this.mapper = mapper;
      this.pages = new Page[pagesAtOnce];
    }

    long left() {
      return target.byteSize() - done;
    }

    void advance(long bytes) {
      offset += bytes;
      done += bytes;
    }
  }

  void read(long offset, MemorySegment target, long sizeBytes, AddressSpace.Mapper mapper)
      throws IOException {
    long blocks = (target.byteSize() + 2L * blockSizeBytes - 1) / blockSizeBytes;
    int atOnce = (int) Math.min(blocks, Math.min(COPY_BATCH, cache.batchLimit()));
    Progress progress = new Progress(offset, target, sizeBytes, mapper, Math.max(1, atOnce));
    boolean sequential = offset == nextOffset;
    windowBytes = sequential ? windowBytes : 0;
    while (progress.left() > 0) {
      if (!copyPresent(progress)) {
        fillMissing(progress, sequential);
      }
    }
    nextOffset = progress.offset;
  }

  /// Copies from pages that are there; false if the next one is not.
  private boolean copyPresent(Progress progress) {
    long index = progress.offset / blockSizeBytes;
    long last = (progress.offset + progress.left() - 1) / blockSizeBytes;
    int count = (int) Math.min(progress.pages.length, last - index + 1);
    int pinned = space.pinPresent(index, count, progress.pages);
    int copied = 0;
    try {
      while (copied < pinned && space.awaitFilled(progress.pages[copied])) {
        copyPage(progress, progress.pages[copied]);
        copied++;
      }
    } finally {
      space.unpinRead(progress.pages, pinned);
    }
    return copied > 0;
  }

  private void copyPage(Progress progress, Page page) {
    int from = (int) (progress.offset % blockSizeBytes);
    long bytes = Math.min(blockSizeBytes - from, progress.left());
    MemorySegment.copy(page.data(), from, progress.target, progress.done, bytes);
    progress.advance(bytes);
  }

  private void fillMissing(Progress progress, boolean sequential) throws IOException {
    long index = progress.offset / blockSizeBytes;
    long endOfFile = Math.ceilDiv(progress.sizeBytes, blockSizeBytes);
    long last = (progress.offset + progress.left() - 1) / blockSizeBytes;
    long wanted = Math.max(last - index + 1, nextWindow(sequential) / blockSizeBytes);
    wanted = Math.clamp(wanted, 1, endOfFile - index);
    AddressSpace.Mapping mapping =
        progress.mapper.map(index, (int) Math.min(wanted, Integer.MAX_VALUE));
    if (mapping.blockNr() == 0) {
      // The run may end at 2^63.
      long inRun = (long) mapping.count() * blockSizeBytes - progress.offset % blockSizeBytes;
      long bytes = Math.min(inRun, progress.left());
      progress.target.asSlice(progress.done, bytes).fill((byte) 0);
      progress.advance(bytes);
      return;
    }
    int most = Math.max(1, Math.min(cache.batchLimit(), PageCache.SCRATCH_BYTES / blockSizeBytes));
    fillRun(index, mapping.blockNr(), Math.min(mapping.count(), most), progress.sizeBytes);
  }

  private int nextWindow(boolean sequential) {
    if (!sequential) {
      return 0;
    }
    int next = Math.clamp(windowBytes * 2L, FIRST_WINDOW_BYTES, LARGEST_WINDOW_BYTES);
    windowBytes = next;
    return next;
  }

  /// Reads blocks into new pages, as many as there is memory for.
  private void fillRun(long index, long blockNr, int count, long sizeBytes) throws IOException {
    Page[] pages = new Page[count];
    pages[0] = cache.allocate();
    int got = 1;
    while (got < count && (pages[got] = cache.tryAllocate()) != null) {
      got++;
    }
    int added = space.addReading(index, blockNr, got, pages);
    for (int i = added; i < got; i++) {
      cache.release(pages[i]);
    }
    if (added == 0) {
      return;
    }
    boolean success = false;
    try {
      transfer(blockNr, pages, added);
      zeroBehindEnd(pages[added - 1], index + added, sizeBytes);
      success = true;
    } finally {
      space.finishReading(pages, added, success);
    }
  }

  private void transfer(long blockNr, Page[] pages, int count) throws IOException {
    long offset = blockNr * blockSizeBytes;
    if (count == 1) {
      cache.queue().read(offset, pages[0].data());
      return;
    }
    MemorySegment scratch = cache.takeScratch();
    try {
      cache.queue().read(offset, scratch.asSlice(0, (long) count * blockSizeBytes));
      for (int i = 0; i < count; i++) {
        MemorySegment.copy(scratch, (long) i * blockSizeBytes, pages[i].data(), 0, blockSizeBytes);
      }
    } finally {
      cache.giveScratch(scratch);
    }
  }

  private void zeroBehindEnd(Page page, long endIndex, long sizeBytes) {
    long behind = endIndex * blockSizeBytes - sizeBytes;
    if (behind > 0) {
      page.data().asSlice(blockSizeBytes - behind).fill((byte) 0);
    }
  }
}
