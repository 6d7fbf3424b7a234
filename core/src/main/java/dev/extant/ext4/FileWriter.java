package dev.extant.ext4;

import dev.extant.cache.Page;
import dev.extant.cache.PageCache;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.util.DurabilityFuture;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/// Puts bytes into the pages of files: run by run, a run being blocks that are all there or all to
/// be allocated.
///
/// Invariants:
/// 1. A fresh block's page is written whole, zeroes around the caller's bytes, before the handle
///    that allocates the block ends; the handle orders the data before its commit (I2). So no crash
///    shows what the block held before.
/// 2. The size grows in the handle that allocates, or in one that orders the data, never before.
/// 3. Memory is waited for and old content read before a handle is opened.
///
/// Callers hold the inode's `lock` for writing.
final class FileWriter {
  private static final int FULL_RETRIES = 2;

  private final Journal journal;
  private final PageCache pageCache;
  private final BlockMap map;
  private final InodeTable inodes;
  private final ModificationTimes times;
  private final boolean ordered;
  private final BooleanSupplier freesPending;
  private final int blockSizeBytes;

  FileWriter(
      Journal journal,
      PageCache pageCache,
      BlockMap map,
      InodeTable inodes,
      FileData.Policy policy) {
    this.journal = journal;
    this.pageCache = pageCache;
    this.map = map;
    this.inodes = inodes;
    this.times = new ModificationTimes(policy.clock());
    this.ordered = policy.mode() != DataMode.WRITEBACK;
    this.freesPending = policy.freesPending();
    this.blockSizeBytes = pageCache.blockSizeBytes();
  }

  ModificationTimes times() {
    return times;
  }

  /// One call of [#write] and how far it is.
  private static final class Progress {
    final Inode inode;
    final FileState state;
    final MemorySegment source;
    final Instant now;
    final Page[] pages;
    long offset;
    long done;

    Progress(
        Inode inode,
        FileState state,
        long offset,
        MemorySegment source,
        Instant now,
        int pagesAtOnce) {
      this.inode = inode;
      this.state = state;
      this.offset = offset;
      this.source = source;
      this.now = now;
      this.pages = new Page[pagesAtOnce];
    }

    long left() {
      return source.byteSize() - done;
    }
  }

  /// Writes the whole source, or on a full disk as much as there is room for; ENOSPC if that is
  /// nothing.
  long write(Inode inode, FileState state, long offset, MemorySegment source) throws IOException {
    long oldSize = RawInode.size(inode.raw);
    if (offset / blockSizeBytes > oldSize / blockSizeBytes) {
      zeroTail(inode, state, oldSize);
    }
    long blocks = (source.byteSize() + 2L * blockSizeBytes - 2) / blockSizeBytes;
    int atOnce = Math.clamp(blocks, 1, pageCache.batchLimit());
    Progress progress = new Progress(inode, state, offset, source, times.now(), atOnce);
    try {
      while (progress.left() > 0) {
        pageCache.throttle(state.space);
        long bytes = writeRun(progress);
        progress.offset += bytes;
        progress.done += bytes;
      }
    } catch (FsException e) {
      if (progress.done == 0 || e.errno() != Errno.ENOSPC) {
        throw e;
      }
    }
    return progress.done;
  }

  private long writeRun(Progress progress) throws IOException {
    long index = progress.offset / blockSizeBytes;
    long last = (progress.offset + progress.left() - 1) / blockSizeBytes;
    int wanted = (int) Math.min(last - index + 1, progress.pages.length);
    BlockMap.Run run = map.lookupForWrite(progress.inode, index, wanted);
    int pinned = progress.state.space.pinForWrite(index, run.count(), progress.pages);
    try {
      if (!run.hole() && !run.unwritten()) {
        return overwrite(progress, run, pinned);
      }
      int credits = map.allocateCredits(progress.inode, pinned);
      boolean mustOrder = ordered || run.unwritten();
      return retryWhenFull(credits, handle -> allocate(handle, progress, index, pinned, mustOrder));
    } finally {
      progress.state.space.unpin(progress.pages, pinned);
    }
  }

  /// How many bytes of the call fit into that many pages.
  private long bytesInto(Progress progress, int pages) {
    long room = (long) pages * blockSizeBytes - progress.offset % blockSizeBytes;
    return Math.min(room, progress.left());
  }

  private long overwrite(Progress progress, BlockMap.Run run, int count) throws IOException {
    MemorySegment raw = progress.inode.raw;
    long bytes = bytesInto(progress, count);
    long size = RawInode.size(raw);
    long end = progress.offset + bytes;
    int from = (int) (progress.offset % blockSizeBytes);
    for (int i = 0; i < count; i++) {
      int to = (int) Math.min(blockSizeBytes, from + bytes - (long) i * blockSizeBytes);
      fillAround(progress, i, run, i == 0 ? from : 0, to, size);
    }
    copy(progress, bytes);
    progress.state.space.dirtied(progress.pages, count, run.blockNr());
    boolean grows = end > size;
    if (grows || ModificationTimes.stale(raw, progress.now)) {
      try (Handle handle = journal.start(FileData.INODE_CREDITS)) {
        if (grows) {
          RawInode.size(raw, end);
          order(progress.state, handle);
        }
        ModificationTimes.apply(raw, progress.now);
        inodes.update(handle, progress.inode, grows);
      }
    }
    return bytes;
  }

  /// Before bytes `from` to `to` of a page are overwritten: makes the rest of it what it has to be.
  private void fillAround(
      Progress progress, int i, BlockMap.Run run, int from, int to, long sizeBytes)
      throws IOException {
    Page page = progress.pages[i];
    if (page.upToDate() || from == 0 && to == blockSizeBytes) {
      return;
    }
    long start = (run.logical() + i) * blockSizeBytes;
    int valid = Math.clamp(sizeBytes - start, 0, blockSizeBytes);
    if (from == 0 && to >= valid) {
      page.data().asSlice(to).fill((byte) 0);
    } else {
      progress.state.space.fill(page, run.blockNr() + i, valid);
    }
  }

  /// The writing of a run of holes or unwritten blocks; returns its bytes.
  interface Body {
    long run(Handle handle) throws IOException;
  }

  /// Runs the body in a handle. Where the disk is full of blocks that were freed but not committed,
  /// commits and tries again.
  long retryWhenFull(int credits, Body body) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try (Handle handle = journal.start(credits)) {
        return body.run(handle);
      } catch (FsException e) {
        boolean full = e.errno() == Errno.ENOSPC;
        if (!full || attempt == FULL_RETRIES || !freesPending.getAsBoolean()) {
          throw e;
        }
      }
      DurabilityFuture.await(journal.commitRunning());
    }
  }

  /// `mustOrder`: with `data=writeback` too, blocks that were allocated as unwritten never show
  /// what they held before.
  private long allocate(Handle handle, Progress progress, long index, int count, boolean mustOrder)
      throws IOException {
    MemorySegment raw = progress.inode.raw;
    BlockMap.Run run = map.allocate(handle, progress.inode, index, count).run();
    long bytes = bytesInto(progress, run.count());
    int from = (int) (progress.offset % blockSizeBytes);
    int behind = (int) ((long) run.count() * blockSizeBytes - from - bytes);
    progress.pages[0].data().asSlice(0, from).fill((byte) 0);
    Page lastPage = progress.pages[run.count() - 1];
    lastPage.data().asSlice(blockSizeBytes - behind).fill((byte) 0);
    copy(progress, bytes);
    progress.state.space.dirtied(progress.pages, run.count(), run.blockNr());
    if (mustOrder) {
      progress.state.orderBy(handle);
    }
    RawInode.size(raw, Math.max(RawInode.size(raw), progress.offset + bytes));
    ModificationTimes.apply(raw, progress.now);
    inodes.update(handle, progress.inode, true);
    return bytes;
  }

  /// Gives a file that leaves its inode its first block. Its content is ordered whatever the mode
  /// is, since it may have been durable already.
  void fillFirstBlock(Inode inode, FileState state, byte[] content, InlineData.Departure departure)
      throws IOException {
    Page[] pages = new Page[1];
    state.space.pinForWrite(0, 1, pages);
    try {
      retryWhenFull(
          map.allocateCredits(inode, 1),
          handle -> {
            departure.leave();
            BlockMap.Run run;
            try {
              run = map.allocate(handle, inode, 0, 1).run();
            } catch (FsException e) {
              departure.stay(handle);
              throw e;
            }
            MemorySegment data = pages[0].data();
            data.asSlice(content.length).fill((byte) 0);
            MemorySegment.copy(content, 0, data, ValueLayout.JAVA_BYTE, 0, content.length);
            state.space.dirtied(pages, 1, run.blockNr());
            state.orderBy(handle);
            return content.length;
          });
    } finally {
      state.space.unpin(pages, 1);
    }
  }

  private void copy(Progress progress, long bytes) {
    int at = (int) (progress.offset % blockSizeBytes);
    long copied = 0;
    for (int i = 0; copied < bytes; i++) {
      long part = Math.min(blockSizeBytes - at, bytes - copied);
      MemorySegment.copy(
          progress.source, progress.done + copied, progress.pages[i].data(), at, part);
      copied += part;
      at = 0;
    }
  }

  void order(FileState state, Handle handle) {
    if (ordered) {
      state.orderBy(handle);
    }
  }

  /// Before the file grows beyond the block in which it ends at `sizeBytes`: what lies behind the
  /// end there becomes zero on the device too. The handle that grows the file orders it.
  void zeroTail(Inode inode, FileState state, long sizeBytes) throws IOException {
    long from = sizeBytes % blockSizeBytes;
    if (from > 0) {
      zero(inode, state, sizeBytes, sizeBytes - from + blockSizeBytes);
    }
  }

  /// Clears bytes of one block, unless they read as zeroes because it holds no data.
  void zero(Inode inode, FileState state, long from, long to) throws IOException {
    long index = from / blockSizeBytes;
    long start = index * blockSizeBytes;
    BlockMap.Run run = map.lookupForWrite(inode, index, 1);
    if (run.hole() || run.unwritten()) {
      return;
    }
    Page[] pages = new Page[1];
    state.space.pinForWrite(index, 1, pages);
    try {
      int valid = Math.clamp(RawInode.size(inode.raw) - start, 0, blockSizeBytes);
      state.space.fill(pages[0], run.blockNr(), valid);
      pages[0].data().asSlice(from - start, to - from).fill((byte) 0);
      state.space.dirtied(pages, 1, run.blockNr());
    } finally {
      state.space.unpin(pages, 1);
    }
  }
}
