package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.cache.PageCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.InstantSource;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// The content of regular files: reading, writing, size, and what becomes of the blocks.
///
/// Every method takes the inode's `lock` itself (reading shared, changing exclusively) and opens
/// its own handles; callers hold neither a handle nor, unless they hold this inode's `lock` for
/// writing already, the lock of an inode with a higher number.
///
/// Truncation: one handle sets the size and puts the inode on the orphan list; then the pages
/// behind the end are dropped; then as many handles as it takes free the blocks from the end
/// backwards, the last of which takes the inode off the list, unless it is there for having no
/// name. A mount after a crash calls [#finishTruncate].
final class FileData {
  /// Where inodes are noted that a crash would leave half truncated.
  interface Orphans {
    void add(Handle handle, Inode inode) throws IOException;

    void remove(Handle handle, Inode inode) throws IOException;
  }

  /// `freesPending`: blocks were freed that a commit would make free for use. Without a log
  /// DataMode.JOURNAL is the same as ORDERED.
  record Policy(
      DataMode mode, InstantSource clock, BooleanSupplier freesPending, SizeListener sizes) {
    /// Where no file gets too large.
    Policy(DataMode mode, InstantSource clock, BooleanSupplier freesPending) {
      this(mode, clock, freesPending, sizeBytes -> {});
    }
  }

  /// Is told, before a handle is opened, how large a file may become.
  interface SizeListener {
    void willReach(long sizeBytes) throws IOException;
  }

  static final int INODE_CREDITS = 1;

  /// Superblock or orphan file block, and the inode of a neighbour in the list.
  private static final int ORPHAN_CREDITS = 2;

  /// The block in which the file ends.
  private static final int TAIL_CREDITS = 1;

  /// Credits that a handle for freeing blocks asks for beyond the least.
  static final int TRUNCATE_CREDITS = 64;

  private final Journal journal;
  private final PageCache pageCache;
  private final BlockMap map;
  private final InodeTable inodes;
  private final Orphans orphans;
  private final SizeListener sizes;
  private final FileWriter writer;
  private final JournaledData journaled;
  private final InlineData inline;
  private final boolean inlining;
  private final boolean encrypting;
  private final int blockSizeBytes;

  /// Guards the creation of file states.
  private final ReentrantLock stateLock = new ReentrantLock();

  FileData(
      Journal journal,
      PageCache pageCache,
      BufferCache buffers,
      BlockMap map,
      InodeTable inodes,
      Orphans orphans,
      Policy policy,
      Features features) {
    this.journal = journal;
    this.pageCache = pageCache;
    this.map = map;
    this.inodes = inodes;
    this.orphans = orphans;
    this.sizes = policy.sizes();
    this.writer = new FileWriter(journal, pageCache, map, inodes, policy);
    this.journaled = new JournaledData(journal, buffers, map, inodes, writer, policy.mode());
    this.inlining = features.has(Feature.INLINE_DATA);
    this.encrypting = features.has(Feature.ENCRYPT);
    this.inline = new InlineData(journal, inodes, writer.times(), features.has(Feature.EXTENT));
    this.blockSizeBytes = pageCache.blockSizeBytes();
  }

  /// Reads up to the target's size; 0 at or behind the end of the file. EOPNOTSUPP if the file is
  /// encrypted.
  int read(Inode inode, long offset, MemorySegment target) throws IOException {
    checkOffset(inode, offset);
    if (encrypting && inode.hasFlag(RawInode.EXT4_ENCRYPT_FL)) {
      throw new FsException(
          Errno.EOPNOTSUPP,
          "the content of inode "
              + inode.ino()
              + " is encrypted (feature encrypt), which is not supported");
    }
    inode.lock.readLock().lock();
    try {
      long size = RawInode.size(inode.raw);
      long bytes = Math.min(Math.min(target.byteSize(), Integer.MAX_VALUE), size - offset);
      if (bytes <= 0) {
        return 0;
      }
      if (inline.covers(inode)) {
        inline.read(inode, offset, target.asSlice(0, bytes));
      } else if (journaled.covers(inode)) {
        journaled.read(inode, offset, target.asSlice(0, bytes));
      } else {
        FileState state = state(inode);
        state.space.read(offset, target.asSlice(0, bytes), size, state.mapper);
      }
      return (int) bytes;
    } finally {
      inode.lock.readLock().unlock();
    }
  }

  /// Writes the source and returns how much: less than all only where the disk or the format's
  /// limit is reached; if that is nothing, ENOSPC or EFBIG.
  int write(Inode inode, long offset, MemorySegment source) throws IOException {
    checkOffset(inode, offset);
    if (source.byteSize() == 0) {
      return 0;
    }
    inode.lock.writeLock().lock();
    try {
      return (int) put(inode, offset, fitting(inode, offset, source));
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  private long put(Inode inode, long offset, MemorySegment source) throws IOException {
    if (staysInline(inode, Math.max(RawInode.size(inode.raw), offset + source.byteSize()))) {
      inline.write(inode, offset, source);
      return source.byteSize();
    }
    leaveInode(inode);
    sizes.willReach(offset + source.byteSize());
    return journaled.covers(inode)
        ? journaled.write(inode, offset, source)
        : writer.write(inode, state(inode), offset, source);
  }

  /// True if the file is in its inode or, being empty, may begin there, and has room there.
  private boolean staysInline(Inode inode, long sizeBytes) throws IOException {
    boolean may =
        inline.covers(inode)
            || inlining
                && !inode.hasFlag(RawInode.EXT4_EA_INODE_FL)
                && RawInode.size(inode.raw) == 0
                && !blocksBehind(inode, 0);
    return may && inline.fits(inode, sizeBytes);
  }

  /// Moves the content of a file that is in its inode to a block; other files stay as they are.
  /// ENOSPC, and nothing has changed, if there is no block to be had.
  void leaveInode(Inode inode) throws IOException {
    inode.lock.writeLock().lock();
    try {
      inline.leave(
          inode,
          (content, departure) -> {
            if (journaled.covers(inode)) {
              journaled.fillFirstBlock(inode, content, departure);
            } else {
              writer.fillFirstBlock(inode, state(inode), content, departure);
            }
          });
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  /// Writes the whole source at the end of the file, or nothing; returns where.
  long append(Inode inode, MemorySegment source) throws IOException {
    inode.lock.writeLock().lock();
    try {
      long offset = RawInode.size(inode.raw);
      if (source.byteSize() == 0) {
        return offset;
      }
      if (fitting(inode, offset, source).byteSize() < source.byteSize()) {
        throw tooLarge(inode, offset + source.byteSize());
      }
      if (put(inode, offset, source) < source.byteSize()) {
        shrink(inode, offset);
        throw new FsException(
            Errno.ENOSPC, "inode " + inode.ino() + ": no room to append " + source.byteSize());
      }
      return offset;
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  private MemorySegment fitting(Inode inode, long offset, MemorySegment source) throws FsException {
    long room = map.maxSizeBytes(inode) - offset;
    if (room <= 0) {
      throw tooLarge(inode, offset + 1);
    }
    long most = Math.min(room, Integer.MAX_VALUE);
    return source.byteSize() <= most ? source : source.asSlice(0, most);
  }

  static FsException tooLarge(Inode inode, long sizeBytes) {
    return new FsException(
        Errno.EFBIG,
        "inode " + inode.ino() + ": " + sizeBytes + " bytes are more than a file holds");
  }

  private static void checkOffset(Inode inode, long offset) throws FsException {
    if (offset < 0) {
      throw new FsException(Errno.EINVAL, "inode " + inode.ino() + ": negative offset " + offset);
    }
  }

  /// Sets the size: cuts off, blocks allocated behind the end included, or adds a hole.
  void truncate(Inode inode, long sizeBytes) throws IOException {
    checkOffset(inode, sizeBytes);
    if (sizeBytes > map.maxSizeBytes(inode)) {
      throw tooLarge(inode, sizeBytes);
    }
    inode.lock.writeLock().lock();
    try {
      if (inline.covers(inode) && inline.fits(inode, sizeBytes)) {
        inline.truncate(inode, sizeBytes);
        return;
      }
      leaveInode(inode);
      long size = RawInode.size(inode.raw);
      if (sizeBytes < size || sizeBytes == size && blocksBehind(inode, endIndex(size))) {
        shrink(inode, sizeBytes);
      } else {
        grow(inode, sizeBytes);
      }
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  FileWriter writer() {
    return writer;
  }

  JournaledData journaled() {
    return journaled;
  }

  private long endIndex(long sizeBytes) {
    return Math.ceilDiv(sizeBytes, blockSizeBytes);
  }

  /// Needs the inode's `lock` for writing, as the next three.
  void grow(Inode inode, long sizeBytes) throws IOException {
    long oldSize = RawInode.size(inode.raw);
    sizes.willReach(sizeBytes);
    try (Buffer tail = sizeBytes > oldSize ? tail(inode, oldSize) : null;
        Handle handle = journal.start(INODE_CREDITS + TAIL_CREDITS)) {
      journaled.zeroTail(handle, tail, oldSize);
      setSize(handle, inode, sizeBytes);
    }
  }

  /// Stores that the file was changed.
  void touch(Inode inode) throws IOException {
    resize(inode, RawInode.size(inode.raw));
  }

  /// Stores a size that fits the blocks as they are.
  void resize(Inode inode, long sizeBytes) throws IOException {
    try (Handle handle = journal.start(INODE_CREDITS)) {
      setSize(handle, inode, sizeBytes);
    }
  }

  /// Writes what is dirty and drops the pages of a range, so that its blocks may be taken away.
  void settle(Inode inode, long fromIndex, long toIndex) throws IOException {
    if (inode.dataState instanceof FileState state) {
      state.space.writeDirty();
      state.space.drop(fromIndex, toIndex);
    }
  }

  /// Before the end moves away from `sizeBytes`: sees to it that zeroes lie behind it, in the page,
  /// or returns the block that the handle has to clear.
  private Buffer tail(Inode inode, long sizeBytes) throws IOException {
    if (journaled.covers(inode)) {
      return journaled.tail(inode, sizeBytes);
    }
    writer.zeroTail(inode, state(inode), sizeBytes);
    return null;
  }

  private void setSize(Handle handle, Inode inode, long sizeBytes) throws IOException {
    if (inode.dataState instanceof FileState state && !state.space.clean()) {
      writer.order(state, handle);
    }
    RawInode.size(inode.raw, sizeBytes);
    ModificationTimes.apply(inode.raw, writer.times().now());
    inodes.update(handle, inode, true);
  }

  private void shrink(Inode inode, long sizeBytes) throws IOException {
    long fromIndex = endIndex(sizeBytes);
    boolean blocksBehind = blocksBehind(inode, fromIndex);
    long tid;
    try (Buffer tail = tail(inode, sizeBytes);
        Handle handle = journal.start(INODE_CREDITS + ORPHAN_CREDITS + TAIL_CREDITS)) {
      tid = handle.tid();
      if (blocksBehind) {
        orphans.add(handle, inode);
      }
      journaled.zeroTail(handle, tail, sizeBytes);
      setSize(handle, inode, sizeBytes);
    }
    if (inode.dataState instanceof FileState state) {
      discard(state, fromIndex, tid);
    }
    if (blocksBehind) {
      freeBlocks(inode, fromIndex);
      if (RawInode.linksCount(inode.raw) > 0) {
        takeOffOrphanList(inode);
      }
    }
  }

  private boolean blocksBehind(Inode inode, long fromIndex) throws IOException {
    long end = ExtentNodes.MAX_LOGICAL_BLOCKS;
    for (long index = fromIndex; index < end; ) {
      BlockMap.Run run = map.lookup(inode, index, (int) Math.min(end - index, Integer.MAX_VALUE));
      if (!run.hole()) {
        return true;
      }
      index += run.count();
    }
    return false;
  }

  /// Drops pages whose blocks transaction `tid` no longer lets anybody see. If an older transaction
  /// that is not durable shows them, they are written first, since it may commit without `tid`
  /// (I2).
  private void discard(FileState state, long fromIndex, long tid) throws IOException {
    if (state.space.dirty() && state.orderedByOther(tid, journal)) {
      state.space.writeDirty();
    }
    state.space.drop(fromIndex);
  }

  private void freeBlocks(Inode inode, long fromIndex) throws IOException {
    if (inline.covers(inode)) {
      return;
    }
    boolean metadata = inode.type() != FileType.REGULAR || journaled.covers(inode);
    boolean done = false;
    while (!done) {
      int credits = map.allocateCredits(inode, 1) + TRUNCATE_CREDITS;
      try (Handle handle = journal.start(Math.min(credits, journal.maxCredits()))) {
        done = map.truncate(handle, inode, fromIndex, metadata);
      }
    }
  }

  private void takeOffOrphanList(Inode inode) throws IOException {
    try (Handle handle = journal.start(INODE_CREDITS + ORPHAN_CREDITS)) {
      orphans.remove(handle, inode);
    }
  }

  /// At mount: ends a truncation that a crash interrupted and takes the inode off the orphan list.
  void finishTruncate(Inode inode) throws IOException {
    inode.lock.writeLock().lock();
    try {
      long size = RawInode.size(inode.raw);
      freeBlocks(inode, endIndex(size));
      takeOffOrphanList(inode);
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  /// Frees all blocks of an inode without names that nobody else can reach; of directories and long
  /// symbolic links too. The inode is on the orphan list and stays there.
  void freeAll(Inode inode) throws IOException {
    inode.lock.writeLock().lock();
    try {
      if (inode.dataState instanceof FileState state) {
        long runningTid = 0;
        if (state.space.dirty()) {
          try (Handle handle = journal.start(INODE_CREDITS)) {
            runningTid = handle.tid();
          }
        }
        discard(state, 0, runningTid);
      }
      freeBlocks(inode, 0);
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  /// The next data at or behind `offset`, -1 if there is none.
  long seekData(Inode inode, long offset) throws IOException {
    return seek(inode, offset, true);
  }

  /// The next hole at or behind `offset`, the end of the file being one; -1 behind the end.
  long seekHole(Inode inode, long offset) throws IOException {
    return seek(inode, offset, false);
  }

  private long seek(Inode inode, long offset, boolean data) throws IOException {
    checkOffset(inode, offset);
    inode.lock.readLock().lock();
    try {
      long size = RawInode.size(inode.raw);
      if (offset >= size) {
        return -1;
      }
      if (inline.covers(inode)) {
        return inline.seek(inode, offset, data);
      }
      long end = Math.min(endIndex(size), BlockMap.MAX_BLOCKS);
      long index = offset / blockSizeBytes;
      while (index < end) {
        BlockMap.Run run = map.lookup(inode, index, (int) Math.min(end - index, 1 << 30));
        if (data == (!run.hole() && !run.unwritten())) {
          return Math.max(offset, index * blockSizeBytes);
        }
        index += run.count();
      }
      return data ? -1 : Math.min(size, Math.max(offset, index * blockSizeBytes));
    } finally {
      inode.lock.readLock().unlock();
    }
  }

  /// Writes the file's dirty pages and waits for the device; does not flush. Needs no lock; no
  /// handle may be held.
  void writeback(Inode inode) throws IOException {
    if (inode.dataState instanceof FileState state) {
      state.space.writeback();
    }
  }

  /// The same for all files.
  void writebackAll() throws IOException {
    pageCache.writebackAll();
  }

  /// Forgets the file's pages, dirty or not.
  void drop(Inode inode) {
    if (inode.dataState instanceof FileState state) {
      state.space.drop(0);
    }
  }

  /// Forgets the file's pages and answers true, or, if some are not on the device, keeps them and
  /// answers false.
  boolean dropIfClean(Inode inode) {
    if (!(inode.dataState instanceof FileState state)) {
      return true;
    }
    if (!state.space.clean()) {
      return false;
    }
    state.space.drop(0);
    return true;
  }

  FileState state(Inode inode) {
    if (inode.dataState instanceof FileState state) {
      return state;
    }
    stateLock.lock();
    try {
      if (!(inode.dataState instanceof FileState)) {
        inode.dataState = new FileState(inode, pageCache, map);
      }
      return (FileState) inode.dataState;
    } finally {
      stateLock.unlock();
    }
  }
}
