package dev.extant.ext4;

import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.cache.PageCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Jbd2Journal;
import dev.extant.journal.Journal;
import dev.extant.journal.JournalAbortedException;
import dev.extant.util.DurabilityFuture;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.VolumeStatistics;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.SplittableRandom;

/// The parts of one mounted file system, wired here, for the classes that use several of them.
/// [Mounter] decides what is mounted and how.
final class Mount {
  static final long ROOT_INO = Superblock.ROOT_INO;

  /// How often an operation that found the disk full is tried again after a commit gave freed
  /// blocks back.
  private static final int FULL_RETRIES = 3;

  /// Memory for metadata blocks, next to `cacheBytes` for data.
  private static final long BUFFER_CACHE_BYTES = 64L << 20;

  private static final long FLUSH_INTERVAL_NANOS = 5_000_000_000L;

  final Geometry geometry;
  final Features features;
  final BufferCache buffers;
  final PageCache pages;
  final Journal journal;
  final Health health;
  final SuperblockStore superblock;
  final GroupTable groups;
  final BlockAllocator blocks;
  final InodeAllocator inodeAllocator;
  final Inodes inodes;
  final OrphanList orphans;
  final InodeBlockMap map;
  final FileData files;
  final FileRanges ranges;
  final Directories directories;
  final Symlinks symlinks;
  final Checksums checksums;
  final AttributeStore attributes;
  final Acls acls;
  final NewInodes newInodes;
  final Links links;
  final Syncs syncs;
  final AccessTimes accessTimes;
  final OperationGate gate = new OperationGate();
  final RequestQueue queue;
  final Discarder discarder;

  /// Null where nothing has to keep others away.
  private final MultiMountProtection protection;

  private final Eviction eviction;
  private final OrphanFile orphanFile;
  private final UsageMark usageMark;
  private final ModificationTimes clock;
  private final boolean discard;
  private Flusher flusher;

  interface Body<T> {
    T run(Handle handle) throws IOException;
  }

  /// An operation failed inside its handle after it had made an inode. The inode is an orphan now,
  /// and is released once the handle is closed.
  static final class Undone extends IOException {
    private static final long serialVersionUID = 1L;
    private final transient Inode inode;
    private final IOException reason;

    Undone(Inode inode, IOException reason) {
      super(reason);
      this.inode = inode;
      this.reason = reason;
    }
  }

  /// The parts that need no journal are made here, then `openJournal` is asked for it.
  Mount(
      RequestQueue queue,
      MemorySegment superblockBytes,
      MountOptions options,
      Health health,
      MultiMountProtection protection,
      JournalOpener openJournal)
      throws IOException {
    this.queue = queue;
    this.health = health;
    this.protection = protection;
    this.clock = new ModificationTimes(options.clock());
    this.geometry = Superblock.geometry(superblockBytes, queue.device().sizeBytes());
    this.features = Superblock.features(superblockBytes);
    checksums = new Checksums(superblockBytes);
    boolean extents = features.has(Feature.EXTENT);
    int blockSize = geometry.blockSizeBytes();
    buffers = new BufferCache(queue, blockSize, BUFFER_CACHE_BYTES);
    pages = new PageCache(queue, blockSize, options.cacheBytes());
    superblock = new SuperblockStore(buffers);
    GroupLayout layout = new GroupLayout(superblockBytes, geometry);
    groups = new GroupTable(buffers, geometry, layout, checksums, health, health.readOnly());
    long reserved = options.useReserve() ? 0 : Superblock.reservedBlocks(superblockBytes);
    blocks = new BlockAllocator(buffers, groups, checksums, health, reserved);
    discarder = new Discarder(blocks, geometry, queue, health);
    discard = options.discard();
    inodeAllocator =
        new InodeAllocator(buffers, groups, checksums, health, random(superblockBytes, options));
    inodes = new Inodes(buffers, groups, checksums, options.clock(), Inodes.DEFAULT_IDLE_LIMIT);
    InodeBlockMap blockMap =
        new InodeBlockMap(geometry, features, buffers, checksums, blocks, inodes);
    map = blockMap;
    directories =
        new Directories(
            buffers, map, inodes, checksums, features, defaultHash(superblockBytes), health);
    symlinks = new Symlinks(buffers, map, features);
    attributes =
        new AttributeStore(this, new AttributeBlocks(buffers, blocks, geometry, checksums));
    acls = new Acls(this);
    newInodes = new NewInodes(geometry, Superblock.newExtraIsize(superblockBytes), extents);
    links = new Links(features.has(Feature.DIR_NLINK));
    orphanFile = openOrphanFile(map, checksums, superblockBytes);
    orphans = new OrphanList(superblock, inodes, geometry, orphanFile);
    journal = openJournal.open(buffers);
    journal.addCommitListener(blocks);
    health.journal(journal);
    FileData.Policy policy =
        new FileData.Policy(
            options.data(),
            options.clock(),
            blocks::freesPending,
            new LargeFiles(superblock, journal));
    files = new FileData(journal, pages, buffers, map, inodes, orphanCallbacks(), policy, features);
    ranges = new FileRanges(files, journal, map, blockMap.extents(), geometry);
    syncs = new Syncs(this);
    accessTimes = new AccessTimes(this, options.accessTime());
    usageMark = new UsageMark(queue, journal instanceof Jbd2Journal);
    eviction = new Eviction(this);
    inodes.start(journal, eviction);
    if (protection != null) {
      protection.whenLost(health::lost);
    }
  }

  private static DirHash defaultHash(MemorySegment bytes) throws FsException {
    return new DirHash(
        Superblock.defaultHashVersion(bytes),
        Superblock.unsignedHash(bytes),
        Superblock.hashSeed(bytes));
  }

  interface JournalOpener {
    Journal open(BufferCache buffers) throws IOException;
  }

  /// With a fixed clock the same operations make the same image.
  private static SplittableRandom random(MemorySegment superblock, MountOptions options) {
    long seed = Superblock.uuid(superblock).hashCode();
    return new SplittableRandom(seed * 31 + options.clock().instant().hashCode());
  }

  private OrphanFile openOrphanFile(
      BlockMap map, Checksums checksums, MemorySegment superblockBytes) throws IOException {
    if (!features.has(Feature.ORPHAN_FILE)) {
      return null;
    }
    Inode inode = inodes.get(Superblock.orphanFileInode(superblockBytes));
    return new OrphanFile(superblock, buffers, map, geometry, checksums, inode);
  }

  private FileData.Orphans orphanCallbacks() {
    return new FileData.Orphans() {
      @Override
      public void add(Handle handle, Inode inode) throws IOException {
        orphans.add(handle, inode);
      }

      @Override
      public void remove(Handle handle, Inode inode) throws IOException {
        orphans.remove(handle, inode);
      }
    };
  }

  /// Makes a writable mount ready for changes: marks the file system as in use, and finishes what a
  /// crash interrupted. Returns how many orphans there were.
  int begin(String name, boolean endedWithError) throws IOException {
    usageMark.inUse(superblock, now(), endedWithError);
    if (discard) {
      discarder.start(name);
    }
    int finished = orphans.recover(this::finishOrphan);
    flusher = new Flusher(name, FLUSH_INTERVAL_NANOS, health, files::writebackAll);
    return finished;
  }

  private void finishOrphan(Inode orphan) throws IOException {
    try (orphan) {
      if (RawInode.linksCount(orphan.raw) > 0) {
        files.finishTruncate(orphan);
      }
    }
  }

  /// Makes everything durable, marks the file system clean unless it broke, and releases the
  /// device. The gate is closed. Inodes without names that somebody still has open are freed.
  void unmount() throws IOException {
    IOException failure = null;
    try {
      if (flusher != null) {
        flusher.close();
        finish();
      }
    } catch (IOException e) {
      failure = e;
    } catch (RuntimeException e) {
      failure = new IOException("closing failed: " + e, e);
    }
    release(failure);
  }

  private void finish() throws IOException {
    try {
      health.checkWritable();
      orphans.withoutNames().forEach(eviction::freeForgotten);
      files.writebackAll();
      try (Handle handle = start(2)) {
        orphans.settle(handle);
        long freeBlocks = groups.totalFreeBlocks();
        long freeInodes = groups.totalFreeInodes();
        superblock.edit(
            handle,
            bytes -> {
              Superblock.freeBlocks(bytes, freeBlocks);
              Superblock.freeInodes(bytes, freeInodes);
            });
      }
      journal.close();
      checkNotAborted();
      discarder.close();
      usageMark.clean(superblock, now(), health.firstError());
    } catch (IOException e) {
      journal.abort(e);
      journal.close();
      recordBroken(e);
      throw e;
    }
  }

  private void recordBroken(IOException first) {
    try {
      usageMark.broken(now(), health.firstError());
    } catch (IOException e) {
      first.addSuppressed(e);
    }
  }

  /// Gives memory, threads and the device back without writing anything; throws `failure` or, if
  /// that is null, what goes wrong here.
  void release(IOException failure) throws IOException {
    if (flusher == null) {
      journal.abort(new IOException("the file system was closed"));
      journal.close();
    }
    discarder.close();
    if (orphanFile != null) {
      orphanFile.close();
    }
    superblock.close();
    groups.close();
    queue.close();
    buffers.close();
    pages.close();
    IOException first = failure;
    if (protection != null) {
      first = after(first, protection);
    }
    first = after(first, queue.device());
    if (first != null) {
      throw first;
    }
  }

  /// Closes it; returns the first error, which keeps the second.
  private static IOException after(IOException first, Closeable closeable) {
    try {
      closeable.close();
    } catch (IOException e) {
      if (first == null) {
        return e;
      }
      first.addSuppressed(e);
    }
    return first;
  }

  VolumeStatistics statistics() throws IOException {
    MemorySegment bytes = superblock.bytes();
    long free = groups.totalFreeBlocks();
    return new VolumeStatistics(
        geometry.blockSizeBytes(),
        geometry.blocksCount()
            - (Superblock.overheadClusters(bytes) << geometry.logBlocksPerCluster()),
        free,
        Math.max(0, free - Superblock.reservedBlocks(bytes)),
        geometry.inodesCount(),
        groups.totalFreeInodes(),
        Superblock.label(bytes),
        Superblock.uuid(bytes).toString());
  }

  Instant now() {
    return clock.now();
  }

  /// Opens a handle for a change; EROFS on a mount that is or became read-only.
  Handle start(int credits) throws IOException {
    health.checkWritable();
    return journal.start(credits);
  }

  /// Runs `body` within one handle; if the disk is full although blocks were freed that wait for
  /// their transaction (I4), commits and tries again. The body must have undone its changes when it
  /// throws.
  <T> T retryWhenFull(int credits, Body<T> body) throws IOException {
    for (int attempt = 0; ; attempt++) {
      IOException failure;
      try (Handle handle = start(credits)) {
        return body.run(handle);
      } catch (Undone e) {
        e.inode.close();
        failure = e.reason;
      } catch (FsException e) {
        failure = e;
      }
      boolean full = failure instanceof FsException fs && fs.errno() == Errno.ENOSPC;
      if (!full || attempt == FULL_RETRIES || !blocks.freesPending()) {
        throw failure;
      }
      DurabilityFuture.await(journal.commitRunning());
    }
  }

  /// Flushes the device; for data whose metadata is durable already.
  void flush() throws IOException {
    try {
      queue.flush();
    } catch (IOException e) {
      health.flushFailed(e);
      throw e;
    }
  }

  void checkNotAborted() throws IOException {
    Throwable cause = journal.abortCause();
    if (cause != null) {
      throw new JournalAbortedException(cause);
    }
  }
}
