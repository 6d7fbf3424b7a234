package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;

/// The content of files whose data goes through the journal like metadata: all of them with
/// `data=journal`, else those with EXT4_JOURNAL_DATA_FL.
///
/// Their blocks are in the buffer cache and never in the page cache, so that there is one newest
/// copy, and the journal alone decides when it goes home. Whether a file is one of them does not
/// change during a mount.
///
/// Invariants:
/// 1. What is written, the size and the block map change in one handle, run by run: after a crash a
///    run is there or not.
/// 2. The bytes of a block that a transaction may still bring home change only after `writeAccess`:
///    so [BufferCache#fresh], which clears the block, is for blocks that are not in memory.
/// 3. Freed blocks are revoked, so that replay does not bring them back over their reuse (I3).
///
/// Callers hold the inode's `lock`, shared for reading.
final class JournaledData {
  /// Blocks that one handle changes at most, so that transactions stay small.
  private static final int MOST_BLOCKS = 256;

  /// Blocks that are read ahead of the copying at a time.
  private static final int READ_BATCH = 64;

  private final Journal journal;
  private final BufferCache buffers;
  private final BlockMap map;
  private final InodeTable inodes;
  private final FileWriter writer;
  private final boolean all;
  private final int blockSizeBytes;

  JournaledData(
      Journal journal,
      BufferCache buffers,
      BlockMap map,
      InodeTable inodes,
      FileWriter writer,
      DataMode mode) {
    this.journal = journal;
    this.buffers = buffers;
    this.map = map;
    this.inodes = inodes;
    this.writer = writer;
    this.all = mode == DataMode.JOURNAL;
    this.blockSizeBytes = buffers.blockSizeBytes();
  }

  /// Without a log there is nothing that the data could go through.
  boolean covers(Inode inode) {
    return journal.atomic() && (all || inode.hasFlag(RawInode.EXT4_JOURNAL_DATA_FL));
  }

  /// Reads the whole target, which does not reach beyond the end of the file.
  void read(Inode inode, long offset, MemorySegment target) throws IOException {
    long done = 0;
    while (done < target.byteSize()) {
      long at = offset + done;
      long index = at / blockSizeBytes;
      long last = (offset + target.byteSize() - 1) / blockSizeBytes;
      BlockMap.Run run = map.lookup(inode, index, (int) Math.min(last - index + 1, READ_BATCH));
      long end = (index + run.count()) * blockSizeBytes;
      MemorySegment part = target.asSlice(done, Math.min(end - at, target.byteSize() - done));
      if (run.hole() || run.unwritten()) {
        part.fill((byte) 0);
      } else {
        readRun(run, (int) (at % blockSizeBytes), part);
      }
      done += part.byteSize();
    }
  }

  private void readRun(BlockMap.Run run, int from, MemorySegment target) throws IOException {
    if (run.count() > 1) {
      buffers.load(run.blockNr(), run.count());
    }
    long done = 0;
    int at = from;
    for (int i = 0; done < target.byteSize(); i++) {
      long part = Math.min(blockSizeBytes - at, target.byteSize() - done);
      try (Buffer buffer = buffers.read(run.blockNr() + i)) {
        MemorySegment.copy(buffer.data(), at, target, done, part);
      }
      done += part;
      at = 0;
    }
  }

  /// One call of [#write] and how far it is.
  private static final class Progress {
    final Inode inode;
    final MemorySegment source;
    final Instant now;
    long offset;
    long done;

    Progress(Inode inode, long offset, MemorySegment source, Instant now) {
      this.inode = inode;
      this.offset = offset;
      this.source = source;
      this.now = now;
    }

    long left() {
      return source.byteSize() - done;
    }
  }

  /// See [FileWriter#write].
  long write(Inode inode, long offset, MemorySegment source) throws IOException {
    long oldSize = RawInode.size(inode.raw);
    if (offset / blockSizeBytes > oldSize / blockSizeBytes) {
      zeroTail(inode, oldSize);
    }
    Progress progress = new Progress(inode, offset, source, writer.times().now());
    try {
      while (progress.left() > 0) {
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
    int mapCredits = map.allocateCredits(progress.inode, 1);
    int most = Math.clamp(journal.maxCredits() / 2L - mapCredits, 1, MOST_BLOCKS);
    int wanted = (int) Math.min(last - index + 1, most);
    BlockMap.Run run = map.lookupForWrite(progress.inode, index, wanted);
    if (!run.hole() && !run.unwritten()) {
      return overwrite(progress, run);
    }
    int count = run.count();
    int credits = map.allocateCredits(progress.inode, count) + count;
    return writer.retryWhenFull(credits, handle -> allocate(handle, progress, index, count));
  }

  /// How many bytes of the call fit into that many blocks.
  private long bytesInto(Progress progress, int blocks) {
    long room = (long) blocks * blockSizeBytes - progress.offset % blockSizeBytes;
    return Math.min(room, progress.left());
  }

  private long allocate(Handle handle, Progress progress, long index, int count)
      throws IOException {
    BlockMap.Run run = map.allocate(handle, progress.inode, index, count).run();
    long bytes = bytesInto(progress, run.count());
    long copied = 0;
    for (int i = 0; i < run.count(); i++) {
      try (Buffer buffer = fresh(handle, run.blockNr() + i)) {
        copied += copy(progress, copied, bytes, buffer);
        handle.dirty(buffer);
      }
    }
    store(handle, progress, bytes);
    return bytes;
  }

  /// Gives a file that leaves its inode its first block.
  void fillFirstBlock(Inode inode, byte[] content, InlineData.Departure departure)
      throws IOException {
    writer.retryWhenFull(
        map.allocateCredits(inode, 1) + 1,
        handle -> {
          departure.leave();
          BlockMap.Run run;
          try {
            run = map.allocate(handle, inode, 0, 1).run();
          } catch (FsException e) {
            departure.stay(handle);
            throw e;
          }
          try (Buffer buffer = fresh(handle, run.blockNr())) {
            MemorySegment.copy(content, 0, buffer.data(), ValueLayout.JAVA_BYTE, 0, content.length);
            handle.dirty(buffer);
          }
          return content.length;
        });
  }

  private Buffer fresh(Handle handle, long blockNr) throws IOException {
    Buffer buffer = buffers.fresh(blockNr);
    try {
      handle.createAccess(buffer);
      return buffer;
    } catch (IOException e) {
      buffers.forget(blockNr);
      buffer.close();
      throw e;
    }
  }

  private long overwrite(Progress progress, BlockMap.Run run) throws IOException {
    long bytes = bytesInto(progress, run.count());
    Buffer[] held = new Buffer[run.count()];
    try {
      hold(progress, run, bytes, held);
      try (Handle handle = journal.start(run.count() + FileData.INODE_CREDITS)) {
        long copied = 0;
        for (int i = 0; i < held.length; i++) {
          copied += change(handle, progress, run, i, held, copied, bytes);
        }
        store(handle, progress, bytes);
      }
    } finally {
      for (Buffer buffer : held) {
        if (buffer != null) {
          buffer.close();
        }
      }
    }
    return bytes;
  }

  /// Before there is a handle: reads the blocks of which something stays, and pins the others if
  /// they are in memory.
  private void hold(Progress progress, BlockMap.Run run, long bytes, Buffer[] held)
      throws IOException {
    long size = RawInode.size(progress.inode.raw);
    for (int i = 0; i < held.length; i++) {
      long start = (run.logical() + i) * blockSizeBytes;
      long valid = Math.clamp(size - start, 0, blockSizeBytes);
      boolean whole =
          progress.offset <= start && progress.offset + bytes - start >= Math.max(1, valid);
      held[i] = whole ? buffers.peek(run.blockNr() + i) : buffers.read(run.blockNr() + i);
    }
  }

  private long change(
      Handle handle,
      Progress progress,
      BlockMap.Run run,
      int i,
      Buffer[] held,
      long copied,
      long bytes)
      throws IOException {
    if (held[i] == null) {
      held[i] = fresh(handle, run.blockNr() + i);
    } else {
      handle.writeAccess(held[i]);
    }
    long start = (run.logical() + i) * blockSizeBytes;
    long valid = Math.clamp(RawInode.size(progress.inode.raw) - start, 0, blockSizeBytes);
    held[i].data().asSlice(valid).fill((byte) 0);
    long count = copy(progress, copied, bytes, held[i]);
    handle.dirty(held[i]);
    return count;
  }

  /// Puts into the block what belongs there of the call, of which `copied` bytes of the run of
  /// `bytes` are done.
  private long copy(Progress progress, long copied, long bytes, Buffer buffer) {
    long at = (progress.offset + copied) % blockSizeBytes;
    long count = Math.min(blockSizeBytes - at, bytes - copied);
    MemorySegment.copy(progress.source, progress.done + copied, buffer.data(), at, count);
    return count;
  }

  /// The inode is stored with every write, since it knows which transaction an fsync waits for.
  private void store(Handle handle, Progress progress, long bytes) throws IOException {
    MemorySegment raw = progress.inode.raw;
    RawInode.size(raw, Math.max(RawInode.size(raw), progress.offset + bytes));
    ModificationTimes.apply(raw, progress.now);
    inodes.update(handle, progress.inode, true);
  }

  /// The block in which a file of `sizeBytes` ends, if something of it lies behind the end; else
  /// null.
  Buffer tail(Inode inode, long sizeBytes) throws IOException {
    if (sizeBytes % blockSizeBytes == 0) {
      return null;
    }
    BlockMap.Run run = map.lookupForWrite(inode, sizeBytes / blockSizeBytes, 1);
    return run.hole() || run.unwritten() ? null : buffers.read(run.blockNr());
  }

  /// What lies behind the end in that block becomes zero. Needs 1 credit.
  void zeroTail(Handle handle, Buffer tail, long sizeBytes) throws IOException {
    if (tail != null) {
      handle.writeAccess(tail);
      tail.data().asSlice(sizeBytes % blockSizeBytes).fill((byte) 0);
      handle.dirty(tail);
    }
  }

  private void zeroTail(Inode inode, long sizeBytes) throws IOException {
    try (Buffer tail = tail(inode, sizeBytes)) {
      if (tail != null) {
        try (Handle handle = journal.start(1)) {
          zeroTail(handle, tail, sizeBytes);
        }
      }
    }
  }

  /// Clears the bytes wherever there is data, and leaves holes and unwritten blocks alone.
  void zero(Inode inode, long from, long to) throws IOException {
    int most = Math.clamp(journal.maxCredits() / 2L, 1, MOST_BLOCKS);
    long end = (to + blockSizeBytes - 1) / blockSizeBytes;
    for (long index = from / blockSizeBytes; index < end; ) {
      BlockMap.Run run = map.lookupForWrite(inode, index, (int) Math.min(end - index, most));
      if (!run.hole() && !run.unwritten()) {
        buffers.load(run.blockNr(), run.count());
        try (Handle handle = journal.start(run.count())) {
          zero(handle, run, from, to);
        }
      }
      index += run.count();
    }
  }

  private void zero(Handle handle, BlockMap.Run run, long from, long to) throws IOException {
    for (int i = 0; i < run.count(); i++) {
      long start = (run.logical() + i) * blockSizeBytes;
      long first = Math.max(0, from - start);
      long length = Math.min(blockSizeBytes, to - start) - first;
      try (Buffer buffer = buffers.read(run.blockNr() + i)) {
        handle.writeAccess(buffer);
        buffer.data().asSlice(first, length).fill((byte) 0);
        handle.dirty(buffer);
      }
    }
  }
}
