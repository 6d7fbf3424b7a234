package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.journal.NoJournal;
import dev.extant.util.DurabilityFuture;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.List;

/// A file system that nobody has mounted, held for changing what a mount takes for fixed: its
/// identity, its size, its layout.
///
/// Opening it mounts and unmounts it first, so the journal is empty and nothing waits to be deleted
/// or truncated. Changes then go through the journal where there is one: after a power cut the next
/// mount finds each [#change] whole or not at all. Counts and times of mounts are left as they
/// were.
final class OfflineEdit implements AutoCloseable {
  private static final long BUFFER_CACHE_BYTES = 64L << 20;

  final BlockDevice device;
  final RequestQueue queue;
  final BufferCache buffers;
  final SuperblockStore superblock;
  final Journal journal;

  /// Null where nothing has to keep others away.
  private final MultiMountProtection protection;

  private final UsageMark journaledMark;
  private final UsageMark plainMark;
  private final MountOptions options;
  private boolean begun;
  private boolean done;

  /// The times and the count of mounts before this began.
  private record Usage(Instant mountTime, int mountCount) {
    static Usage of(MemorySegment bytes) {
      return new Usage(Superblock.mountTime(bytes), Superblock.mountCount(bytes));
    }

    void restore(MemorySegment bytes) {
      Superblock.mountTime(bytes, mountTime);
      Superblock.mountCount(bytes, mountCount);
    }
  }

  private Usage usage;

  private OfflineEdit(
      BlockDevice device,
      RequestQueue queue,
      MultiMountProtection protection,
      Usage usage,
      MountOptions options)
      throws IOException {
    this.device = device;
    this.queue = queue;
    this.protection = protection;
    this.usage = usage;
    this.options = options;
    MemorySegment bytes = new SuperblockReader(queue).read().bytes();
    Geometry geometry = Superblock.geometry(bytes, device.sizeBytes());
    buffers = new BufferCache(queue, geometry.blockSizeBytes(), BUFFER_CACHE_BYTES);
    superblock = new SuperblockStore(buffers);
    journal = Mounter.openJournal(queue, bytes, buffers, options);
    journaledMark = new UsageMark(queue, !(journal instanceof NoJournal));
    plainMark = new UsageMark(queue, false);
  }

  /// What is done first, with mounts.
  interface Preparation {
    void run() throws IOException;
  }

  /// Refuses a file system that cannot be written, or in which errors were found.
  static OfflineEdit open(BlockDevice device, MountOptions options) throws IOException {
    return open(device, options, () -> {});
  }

  /// The same after work that mounts and unmounts it.
  static OfflineEdit open(BlockDevice device, MountOptions options, Preparation preparation)
      throws IOException {
    Usage usage = settle(device, options);
    preparation.run();
    MultiMountProtection protection =
        MultiMountProtection.claim(
            new BorrowedDevice(device), superblockOf(device), options.clock(), Thread::sleep);
    RequestQueue queue =
        new RequestQueue(protection == null ? new BorrowedDevice(device) : protection.device());
    OfflineEdit edit = null;
    try {
      edit = new OfflineEdit(device, queue, protection, usage, options);
      return edit;
    } finally {
      if (edit == null) {
        release(queue, protection);
      }
    }
  }

  private static Usage settle(BlockDevice device, MountOptions options) throws IOException {
    MemorySegment bytes = superblockOf(device);
    Features features = Superblock.features(bytes);
    features.requireReadable(device.name());
    if (features.readOnlyReason() != null) {
      throw new FsException(Errno.EROFS, device.name() + ": " + features.readOnlyReason());
    }
    new Mounter(new BorrowedDevice(device), options).mount().unmount();
    int state = Superblock.state(superblockOf(device));
    if ((state & Superblock.STATE_ERRORS) != 0) {
      throw new FsException(Errno.EUCLEAN, device.name() + " has errors; run e2fsck on it first");
    }
    return Usage.of(bytes);
  }

  private static MemorySegment superblockOf(BlockDevice device) throws IOException {
    try (RequestQueue queue = new RequestQueue(new BorrowedDevice(device))) {
      return new SuperblockReader(queue).read().bytes();
    }
  }

  MemorySegment superblockBytes() {
    return superblock.bytes();
  }

  Instant now() {
    return options.clock().instant();
  }

  /// One change, durable on return. It is atomic if there is a journal with room for so many
  /// credits; otherwise a power cut in this time leaves a file system that says that it must be
  /// checked.
  void change(int credits, Change body) throws IOException {
    boolean atomic = credits <= journal.maxCredits();
    UsageMark mark = atomic ? journaledMark : plainMark;
    mark.inUse(superblock, now(), false);
    begun = true;
    if (!atomic) {
      journal.checkpoint();
      try (Journal none = new NoJournal(queue, buffers);
          Handle handle = none.start(credits)) {
        body.run(handle);
      }
      return;
    }
    long tid;
    try (Handle handle = journal.start(credits)) {
      tid = handle.tid();
      body.run(handle);
    }
    DurabilityFuture.await(journal.commit(tid));
  }

  /// Writes the superblock, as it is now, over its backups.
  void writeBackups() throws IOException {
    MemorySegment bytes = superblock.bytes();
    Geometry geometry = Superblock.geometry(bytes, device.sizeBytes());
    GroupLayout layout = new GroupLayout(bytes, geometry);
    for (int group = 1; group < geometry.groupCount(); group++) {
      if (layout.hasSuperblock(group)) {
        MemorySegment copy = MemorySegment.ofArray(new byte[Superblock.SIZE]).copyFrom(bytes);
        usage.restore(copy);
        Superblock.features(copy, Superblock.features(copy).without(Feature.NEEDS_RECOVERY));
        Superblock.groupNr(copy, group);
        Superblock.state(copy, 0);
        Superblock.seal(copy);
        queue.write(
            geometry.firstBlockOfGroup(group) << geometry.blockShift(), List.of(copy), false);
      }
    }
    queue.flush();
  }

  /// Writes the descriptors, as they are now, over their backups.
  void writeDescriptorBackups() throws IOException {
    MemorySegment bytes = superblock.bytes();
    Geometry geometry = Superblock.geometry(bytes, device.sizeBytes());
    GroupLayout layout = new GroupLayout(bytes, geometry);
    for (int index = 0; index < layout.descriptorBlocks(); index++) {
      try (Buffer buffer = buffers.read(layout.descriptorBlockNrAt(index))) {
        for (long blockNr : layout.descriptorBackups(index)) {
          queue.write(blockNr << geometry.blockShift(), List.of(buffer.data()), false);
        }
      }
    }
    queue.flush();
  }

  /// What the count of mounts is to be after [#close].
  void mountCount(int count) {
    usage = new Usage(usage.mountTime(), count);
  }

  /// The changes are complete: [#close] marks the file system clean.
  void done() {
    done = true;
  }

  /// Leaves the file system clean if all went well, and as after a crash otherwise.
  @Override
  public void close() throws IOException {
    try {
      if (!begun || done) {
        journal.close();
        usage.restore(superblock.bytes());
        plainMark.clean(superblock, now(), null);
      } else {
        journal.abort(new IOException("the change was given up"));
        journal.close();
      }
    } finally {
      superblock.close();
      try {
        release(queue, protection);
      } finally {
        buffers.close();
      }
    }
  }

  private static void release(RequestQueue queue, MultiMountProtection protection)
      throws IOException {
    queue.close();
    if (protection != null) {
      protection.close();
    }
  }

  /// What a handle does.
  interface Change {
    void run(Handle handle) throws IOException;
  }
}
