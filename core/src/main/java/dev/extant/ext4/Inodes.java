package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The inodes in memory, by number, in shards with a lock each.
///
/// States of a number: absent; `LOADING` (one caller reads it, others wait); `LIVE` (in use, or
/// idle with no references); `LEAVING` (idle, being dropped from memory; others wait, then load it
/// again); `FREEING` (no links, no references, the mount frees it; [#get] answers ENOENT).
///
/// Invariants:
/// 1. There is at most one [Inode] object per number that anybody can get.
/// 2. The inode's bytes in the block of the inode table are those of the last [#update], with their
///    checksum.
/// 3. An inode whose newest change is not durable stays in memory, since it knows what an fsync
///    must wait for.
final class Inodes implements InodeTable {
  static final int DEFAULT_IDLE_LIMIT = 16_384;

  private static final int SHARD_BITS = 6;
  private static final int SHARDS = 1 << SHARD_BITS;
  private static final int BLOCK_LOCKS = 64;

  /// What the mount does when inodes leave memory. Called without locks of the table.
  interface Lifecycle {
    /// The last reference of an inode without links was given back: frees its blocks, calls
    /// [Inodes#clearOnDisk], then gives its number back. Keeps errors to itself. It starts handles,
    /// so whoever gives back what may be the last reference holds neither a handle nor an inode's
    /// lock.
    void evict(Inode inode);

    /// An idle inode is to leave memory: drops its data pages and answers true, or, if some are
    /// dirty, keeps them and answers false. Must not start handles.
    boolean drop(Inode inode);
  }

  private enum State {
    LOADING,
    LIVE,
    LEAVING,
    FREEING
  }

  /// One inode number in memory. Guarded by its shard's lock.
  private static final class Slot {
    State state = State.LOADING;
    Inode inode;
  }

  private static final class Shard {
    final ReentrantLock lock = new ReentrantLock();

    /// Signalled when a slot leaves LOADING or LEAVING.
    final Condition settled = lock.newCondition();

    final Map<Long, Slot> slots = new HashMap<>();

    /// The LIVE slots without references, those idle longest first.
    final Map<Long, Slot> idle = new LinkedHashMap<>();
  }

  private final BufferCache buffers;
  private final GroupTable table;
  private final Geometry geometry;
  private final Checksums checksums;
  private final InstantSource clock;
  private final int idleLimitPerShard;
  private final Shard[] shards = new Shard[SHARDS];

  /// Guard the bytes of blocks of the inode table, by block number.
  private final ReentrantLock[] blockLocks = new ReentrantLock[BLOCK_LOCKS];

  private volatile Journal journal;
  private volatile Lifecycle lifecycle;

  Inodes(
      BufferCache buffers,
      GroupTable table,
      Checksums checksums,
      InstantSource clock,
      int idleLimit) {
    this.buffers = buffers;
    this.table = table;
    this.geometry = table.geometry();
    this.checksums = checksums;
    this.clock = clock;
    this.idleLimitPerShard = Math.max(1, idleLimit / SHARDS);
    for (int i = 0; i < SHARDS; i++) {
      shards[i] = new Shard();
    }
    for (int i = 0; i < BLOCK_LOCKS; i++) {
      blockLocks[i] = new ReentrantLock();
    }
  }

  /// Until this is called nothing is freed and nothing leaves memory (the journal's own inode is
  /// read before there is a journal).
  void start(Journal journal, Lifecycle lifecycle) {
    this.journal = journal;
    this.lifecycle = lifecycle;
  }

  /// By the high bits of a product, so that the numbers of one shard differ in their low bits, by
  /// which its maps spread them.
  private Shard shard(long ino) {
    return shards[(int) (ino * 0x9E37_79B9_7F4A_7C15L >>> 64 - SHARD_BITS)];
  }

  @Override
  public Inode get(long ino) throws IOException {
    return get(ino, false);
  }

  /// The same for an inode of the orphan list, which may have no links.
  Inode orphan(long ino) throws IOException {
    return get(ino, true);
  }

  private Inode get(long ino, boolean orphan) throws IOException {
    checkNumber(ino);
    Shard shard = shard(ino);
    Slot slot;
    shard.lock.lock();
    try {
      slot = shard.slots.get(ino);
      while (slot != null && (slot.state == State.LOADING || slot.state == State.LEAVING)) {
        shard.settled.awaitUninterruptibly();
        slot = shard.slots.get(ino);
      }
      if (slot != null) {
        if (slot.state == State.FREEING) {
          throw new FsException(Errno.ENOENT, "inode " + ino + " is being deleted");
        }
        shard.idle.remove(ino);
        slot.inode.references++;
        return slot.inode;
      }
      slot = new Slot();
      shard.slots.put(ino, slot);
    } finally {
      shard.lock.unlock();
    }
    return load(shard, ino, slot, orphan);
  }

  private Inode load(Shard shard, long ino, Slot slot, boolean orphan) throws IOException {
    Inode inode = null;
    try {
      MemorySegment raw = readRaw(ino);
      if (RawInode.linksCount(raw) == 0 && !orphan) {
        throw corrupt(ino, "it is not in use");
      }
      inode = new Inode(this, ino, raw);
      if (inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL) && inode.hasFlag(RawInode.EXT4_EXTENTS_FL)) {
        throw corrupt(ino, "it has both extents and its data in itself");
      }
      if (RawInode.size(raw) < 0) {
        throw corrupt(ino, "its size is " + Long.toUnsignedString(RawInode.size(raw)));
      }
      if (inode.type() == null) {
        throw corrupt(ino, "its mode is " + Integer.toOctalString(RawInode.mode(raw)));
      }
    } catch (IOException e) {
      inode = null;
      throw e;
    } finally {
      settle(shard, ino, slot, inode);
    }
    return inode;
  }

  private void settle(Shard shard, long ino, Slot slot, Inode inode) {
    shard.lock.lock();
    try {
      if (inode == null) {
        shard.slots.remove(ino);
      } else {
        inode.references = 1;
        slot.inode = inode;
        slot.state = State.LIVE;
      }
      shard.settled.signalAll();
    } finally {
      shard.lock.unlock();
    }
  }

  /// The inode's bytes in the inode table, checked. EUCLEAN if they are wrong or were never used.
  MemorySegment readRaw(long ino) throws IOException {
    checkNumber(ino);
    if (geometry.inodeIndexInGroup(ino) >= table.initialisedInodes(geometry.groupOfInode(ino))) {
      throw corrupt(ino, "it was never in use");
    }
    MemorySegment raw = MemorySegment.ofArray(new byte[geometry.inodeSizeBytes()]);
    long blockNr = tableBlock(ino);
    try (Buffer buffer = buffers.read(blockNr)) {
      ReentrantLock lock = blockLock(blockNr);
      lock.lock();
      try {
        raw.copyFrom(slice(buffer, ino));
      } finally {
        lock.unlock();
      }
    }
    requireValid(raw, ino, geometry, checksums);
    return raw;
  }

  static void requireValid(MemorySegment raw, long ino, Geometry geometry, Checksums checksums)
      throws FsException {
    if (!checksums.inodeValid(raw, ino)) {
      throw corrupt(ino, "its checksum is wrong");
    }
    int extra = RawInode.extraIsize(raw);
    if (RawInode.GOOD_OLD_INODE_SIZE + extra > geometry.inodeSizeBytes() || extra % 4 != 0) {
      throw corrupt(ino, "its i_extra_isize is " + extra);
    }
  }

  private void checkNumber(long ino) throws FsException {
    if (ino < 1 || ino > geometry.inodesCount()) {
      throw new FsException(
          Errno.EUCLEAN, "there is no inode " + ino + " among " + geometry.inodesCount());
    }
  }

  private static FsException corrupt(long ino, String why) {
    return new FsException(Errno.EUCLEAN, "inode " + ino + " is corrupt: " + why);
  }

  @Override
  public Inode create(Handle handle, long ino, MemorySegment raw) throws IOException {
    checkNumber(ino);
    Inode inode = new Inode(this, ino, raw);
    Slot slot = new Slot();
    Shard shard = shard(ino);
    shard.lock.lock();
    try {
      if (shard.slots.putIfAbsent(ino, slot) != null) {
        throw corrupt(ino, "it was allocated while it is in use");
      }
    } finally {
      shard.lock.unlock();
    }
    boolean stored = false;
    try {
      update(handle, inode, true);
      stored = true;
    } finally {
      settle(shard, ino, slot, stored ? inode : null);
    }
    return inode;
  }

  @Override
  public void update(Handle handle, Inode inode, boolean dataRelevant) throws IOException {
    store(handle, inode);
    long tid = handle.tid();
    inode.syncTid = Math.max(inode.syncTid, tid);
    if (dataRelevant) {
      inode.datasyncTid = Math.max(inode.datasyncTid, tid);
    }
  }

  private void store(Handle handle, Inode inode) throws IOException {
    long blockNr = tableBlock(inode.ino());
    try (Buffer buffer = buffers.read(blockNr)) {
      ReentrantLock lock = blockLock(blockNr);
      lock.lock();
      try {
        handle.writeAccess(buffer);
        MemorySegment target = slice(buffer, inode.ino());
        target.copyFrom(inode.raw);
        checksums.sealInode(target, inode.ino());
        handle.dirty(buffer);
      } finally {
        lock.unlock();
      }
    }
  }

  /// Marks a freed inode's bytes as deleted and forgets the object: from now on its number may be
  /// given back and used again. Needs 1 credit.
  void clearOnDisk(Handle handle, Inode inode) throws IOException {
    RawInode.linksCount(inode.raw, 0);
    RawInode.dtime(inode.raw, clock.instant().getEpochSecond());
    update(handle, inode, true);
    remove(inode);
  }

  private long tableBlock(long ino) throws IOException {
    long offset = (long) geometry.inodeIndexInGroup(ino) * geometry.inodeSizeBytes();
    return table.inodeTable(geometry.groupOfInode(ino)) + (offset >>> geometry.blockShift());
  }

  private MemorySegment slice(Buffer buffer, long ino) {
    int size = geometry.inodeSizeBytes();
    int index = geometry.inodeIndexInGroup(ino) % geometry.inodesPerBlock();
    return buffer.data().asSlice((long) index * size, size);
  }

  private ReentrantLock blockLock(long blockNr) {
    return blockLocks[(int) (blockNr % BLOCK_LOCKS)];
  }

  @Override
  public void retain(Inode inode) {
    Shard shard = shard(inode.ino());
    shard.lock.lock();
    try {
      inode.references++;
    } finally {
      shard.lock.unlock();
    }
  }

  @Override
  public void release(Inode inode) {
    Shard shard = shard(inode.ino());
    boolean freeing = false;
    Inode leaving = null;
    shard.lock.lock();
    try {
      if (inode.references <= 0) {
        throw new IllegalStateException("inode " + inode.ino() + " was released once too often");
      }
      inode.references--;
      Slot slot = shard.slots.get(inode.ino());
      if (inode.references > 0
          || lifecycle == null
          || slot == null
          || slot.inode != inode
          || slot.state != State.LIVE) {
        return;
      }
      if (RawInode.linksCount(inode.raw) == 0) {
        slot.state = State.FREEING;
        freeing = true;
      } else {
        shard.idle.put(inode.ino(), slot);
        leaving = oldestIdle(shard);
      }
    } finally {
      shard.lock.unlock();
    }
    if (freeing) {
      try {
        lifecycle.evict(inode);
      } finally {
        remove(inode);
      }
    } else if (leaving != null) {
      drop(leaving);
    }
  }

  /// The inode that has to leave because there are too many, marked, or null.
  private Inode oldestIdle(Shard shard) {
    if (shard.idle.size() <= idleLimitPerShard) {
      return null;
    }
    Map.Entry<Long, Slot> oldest = shard.idle.entrySet().iterator().next();
    Slot slot = oldest.getValue();
    if (slot.inode.syncTid != 0 && !journal.committed(slot.inode.syncTid)) {
      return null;
    }
    shard.idle.remove(oldest.getKey());
    slot.state = State.LEAVING;
    return slot.inode;
  }

  private void drop(Inode inode) {
    boolean dropped = false;
    try {
      dropped = lifecycle.drop(inode);
    } finally {
      Shard shard = shard(inode.ino());
      shard.lock.lock();
      try {
        if (dropped) {
          shard.slots.remove(inode.ino());
        } else {
          Slot slot = shard.slots.get(inode.ino());
          slot.state = State.LIVE;
          shard.idle.put(inode.ino(), slot);
        }
        shard.settled.signalAll();
      } finally {
        shard.lock.unlock();
      }
    }
  }

  /// How many inodes somebody has a reference to.
  int referenced() {
    int count = 0;
    for (Shard shard : shards) {
      shard.lock.lock();
      try {
        for (Slot slot : shard.slots.values()) {
          count += slot.inode != null && slot.inode.references > 0 ? 1 : 0;
        }
      } finally {
        shard.lock.unlock();
      }
    }
    return count;
  }

  /// Forgets the object, if it is still the one of its number.
  private void remove(Inode inode) {
    Shard shard = shard(inode.ino());
    shard.lock.lock();
    try {
      Slot slot = shard.slots.get(inode.ino());
      if (slot != null && slot.inode == inode) {
        shard.slots.remove(inode.ino());
      }
    } finally {
      shard.lock.unlock();
    }
  }
}
