package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.journal.Handle;
import dev.extant.journal.Sealer;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/// The group descriptors: read block by block when first needed, checked once, then kept in memory.
///
/// Reading a field without the group's lock gives a value that may be old by the time it is used;
/// changes are made under [BlockGroup#lock] with [#announce] and [#edited]. Only the descriptors in
/// use are written, not their backups, as Linux does.
///
/// Checksums: a changed bitmap stores its checksum in the descriptor (rank 0) and a changed
/// descriptor its own (rank 1), once per transaction. Descriptors that were not changed keep
/// theirs.
final class GroupTable implements AutoCloseable {
  private static final int STRIPES = 128;

  private final BufferCache buffers;
  private final GroupLayout layout;
  private final Geometry geometry;
  private final Checksums checksums;
  private final CorruptionHandler corruption;
  private final boolean readOnly;
  private final AtomicReferenceArray<DescriptorBlock> blocks;
  private final AtomicReferenceArray<BlockGroup> groups;
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

  /// Held while a block of descriptors is read and checked.
  private final ReentrantLock loading = new ReentrantLock();

  /// Per group: its descriptor is wrong. Set under `loading`, before the block is published.
  private final boolean[] damaged;

  /// Per group, if read-only: its descriptor's checksum is wrong, but it may be right. Set as
  /// `damaged` is.
  private final boolean[] doubtful;

  /// Per group: changed since it was sealed. Set under the group's lock within a handle, cleared by
  /// the sealer while there is no handle.
  private final boolean[] unsealed;

  private final LongAdder freeClusters = new LongAdder();
  private final LongAdder freeInodes = new LongAdder();
  private final LongAdder usedDirectories = new LongAdder();

  /// Per stripe: its groups are contained in the sums. Guarded by the stripe's lock.
  private final boolean[] counted = new boolean[STRIPES];

  private volatile boolean allCounted;

  /// If `readOnly`, a descriptor whose checksum is wrong is still believed to say where its inode
  /// table is, as Linux does: what is there has checksums of its own.
  GroupTable(
      BufferCache buffers,
      Geometry geometry,
      GroupLayout layout,
      Checksums checksums,
      CorruptionHandler corruption,
      boolean readOnly) {
    this.buffers = buffers;
    this.layout = layout;
    this.geometry = geometry;
    this.checksums = checksums;
    this.corruption = corruption;
    this.readOnly = readOnly;
    this.blocks = new AtomicReferenceArray<>(layout.descriptorBlocks());
    this.groups = new AtomicReferenceArray<>(geometry.groupCount());
    this.damaged = new boolean[geometry.groupCount()];
    this.doubtful = new boolean[geometry.groupCount()];
    this.unsealed = new boolean[geometry.groupCount()];
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new ReentrantLock();
    }
  }

  /// A block of descriptors, pinned; seals those of its descriptors that were changed.
  private final class DescriptorBlock implements Sealer {
    private final Buffer buffer;
    private final int firstGroup;

    DescriptorBlock(Buffer buffer, int firstGroup) {
      this.buffer = buffer;
      this.firstGroup = firstGroup;
    }

    int size() {
      return Math.min(geometry.descriptorsPerBlock(), geometry.groupCount() - firstGroup);
    }

    MemorySegment descriptor(int group) {
      int size = geometry.descriptorSizeBytes();
      return buffer.data().asSlice((long) (group - firstGroup) * size, size);
    }

    @Override
    public int rank() {
      return 1;
    }

    @Override
    public void seal(Buffer changed) {
      for (int group = firstGroup; group < firstGroup + size(); group++) {
        if (unsealed[group]) {
          unsealed[group] = false;
          checksums.sealDescriptor(descriptor(group), group);
        }
      }
    }
  }

  Geometry geometry() {
    return geometry;
  }

  GroupLayout layout() {
    return layout;
  }

  BlockGroup group(int number) {
    BlockGroup group = groups.get(number);
    if (group == null) {
      BlockGroup made =
          new BlockGroup(
              number,
              stripes[number % STRIPES],
              bitmapSealer(number, false),
              bitmapSealer(number, true));
      group = groups.compareAndExchange(number, null, made);
      return group == null ? made : group;
    }
    return group;
  }

  private Sealer bitmapSealer(int group, boolean inodes) {
    if (!checksums.enabled()) {
      return null;
    }
    return new Sealer() {
      @Override
      public int rank() {
        return 0;
      }

      @Override
      public void seal(Buffer bitmap) {
        // The bitmap was changed together with its descriptor, so the descriptor's block is in
        // memory.
        MemorySegment descriptor =
            blocks.get(group / geometry.descriptorsPerBlock()).descriptor(group);
        if (inodes) {
          checksums.sealInodeBitmap(descriptor, bitmap.data(), geometry);
        } else {
          checksums.sealBlockBitmap(descriptor, bitmap.data(), geometry);
        }
      }
    };
  }

  /// True if the group's descriptor is wrong. Everything else here throws EUCLEAN for such a group.
  boolean damaged(int group) throws IOException {
    block(group);
    return damaged[group];
  }

  int freeClusters(int group) throws IOException {
    return GroupDescriptor.freeClusters(descriptor(group));
  }

  int freeInodes(int group) throws IOException {
    return GroupDescriptor.freeInodes(descriptor(group));
  }

  int usedDirectories(int group) throws IOException {
    return GroupDescriptor.usedDirectories(descriptor(group));
  }

  long blockBitmap(int group) throws IOException {
    return GroupDescriptor.blockBitmap(descriptor(group));
  }

  long inodeBitmap(int group) throws IOException {
    return GroupDescriptor.inodeBitmap(descriptor(group));
  }

  long inodeTable(int group) throws IOException {
    return GroupDescriptor.inodeTable(descriptor(group));
  }

  /// The block bitmap was never written: only the file system's own blocks are in use.
  boolean blockBitmapUninitialised(int group) throws IOException {
    return hasFlag(group, GroupDescriptor.BLOCK_UNINIT);
  }

  /// The inode bitmap was never written: all inodes are free.
  boolean inodeBitmapUninitialised(int group) throws IOException {
    return hasFlag(group, GroupDescriptor.INODE_UNINIT);
  }

  private boolean hasFlag(int group, int flag) throws IOException {
    return checksums.descriptorsEnabled() && (GroupDescriptor.flags(descriptor(group)) & flag) != 0;
  }

  /// Inodes from this index on were never used; their bytes in the inode table are garbage.
  int initialisedInodes(int group) throws IOException {
    block(group);
    if (!checksums.descriptorsEnabled() || doubtful[group]) {
      return geometry.inodesPerGroup();
    }
    if (inodeBitmapUninitialised(group)) {
      return 0;
    }
    int unused = GroupDescriptor.unusedInodes(descriptor(group));
    return Math.max(0, geometry.inodesPerGroup() - unused);
  }

  /// The descriptor's bytes, for reading and, between [#announce] and [#edited], for changing.
  MemorySegment descriptor(int group) throws IOException {
    DescriptorBlock block = block(group);
    if (damaged[group]) {
      throw new FsException(Errno.EUCLEAN, "group descriptor " + group + " is corrupt");
    }
    return block.descriptor(group);
  }

  private DescriptorBlock block(int group) throws IOException {
    int index = group / geometry.descriptorsPerBlock();
    DescriptorBlock block = blocks.get(index);
    return block != null ? block : load(index);
  }

  private DescriptorBlock load(int index) throws IOException {
    loading.lock();
    try {
      DescriptorBlock block = blocks.get(index);
      if (block == null) {
        Buffer buffer = buffers.read(layout.descriptorBlockNrAt(index));
        block = new DescriptorBlock(buffer, index * geometry.descriptorsPerBlock());
        for (int group = block.firstGroup; group < block.firstGroup + block.size(); group++) {
          check(group, block.descriptor(group));
        }
        blocks.set(index, block);
      }
      return block;
    } finally {
      loading.unlock();
    }
  }

  private void check(int group, MemorySegment descriptor) {
    FsException damage = null;
    if (!checksums.descriptorValid(descriptor, group)) {
      damage =
          new FsException(
              Errno.EUCLEAN, "group descriptor " + group + " is corrupt: its checksum is wrong");
      doubtful[group] = readOnly;
      damaged[group] = !readOnly;
    }
    try {
      GroupDescriptor.requireValid(descriptor, group, geometry);
    } catch (FsException impossible) {
      damage = damage == null ? impossible : damage;
      damaged[group] = true;
    }
    if (damage != null) {
      corruption.corrupt(damage);
    }
  }

  /// Announces a change of the group's descriptor and returns its bytes. Under the group's lock;
  /// [#edited] follows in the same handle. Needs 1 credit.
  MemorySegment announce(Handle handle, BlockGroup group) throws IOException {
    MemorySegment descriptor = descriptor(group.number);
    handle.writeAccess(block(group.number).buffer);
    return descriptor;
  }

  /// The announced change was made.
  void edited(Handle handle, BlockGroup group) throws IOException {
    DescriptorBlock block = block(group.number);
    unsealed[group.number] = checksums.descriptorsEnabled();
    handle.dirty(block.buffer, block);
  }

  /// Changes the count in the announced descriptor.
  void addFreeClusters(BlockGroup group, MemorySegment descriptor, int change) {
    GroupDescriptor.freeClusters(descriptor, GroupDescriptor.freeClusters(descriptor) + change);
    count(group, freeClusters, change);
  }

  void addFreeInodes(BlockGroup group, MemorySegment descriptor, int change) {
    GroupDescriptor.freeInodes(descriptor, GroupDescriptor.freeInodes(descriptor) + change);
    count(group, freeInodes, change);
  }

  void addUsedDirectories(BlockGroup group, MemorySegment descriptor, int change) {
    GroupDescriptor.usedDirectories(
        descriptor, Math.max(0, GroupDescriptor.usedDirectories(descriptor) + change));
    count(group, usedDirectories, change);
  }

  private void count(BlockGroup group, LongAdder sum, int change) {
    if (counted[group.number % STRIPES]) {
      sum.add(change);
    }
  }

  /// Free blocks of all groups, those included that wait for their transaction (I4). The first call
  /// reads all descriptors. Groups with damaged descriptors count as full.
  long totalFreeBlocks() throws IOException {
    countAll();
    return freeClusters.sum() << geometry.logBlocksPerCluster();
  }

  long totalFreeInodes() throws IOException {
    countAll();
    return freeInodes.sum();
  }

  long totalUsedDirectories() throws IOException {
    countAll();
    return usedDirectories.sum();
  }

  private void countAll() throws IOException {
    for (int stripe = 0; !allCounted && stripe < STRIPES; stripe++) {
      stripes[stripe].lock();
      try {
        if (!counted[stripe]) {
          countStripe(stripe);
        }
      } finally {
        stripes[stripe].unlock();
      }
    }
    allCounted = true;
  }

  private void countStripe(int stripe) throws IOException {
    long freeClustersHere = 0;
    long freeInodesHere = 0;
    long usedDirectoriesHere = 0;
    for (int group = stripe; group < geometry.groupCount(); group += STRIPES) {
      if (!damaged(group)) {
        freeClustersHere += freeClusters(group);
        freeInodesHere += freeInodes(group);
        usedDirectoriesHere += usedDirectories(group);
      }
    }
    freeClusters.add(freeClustersHere);
    freeInodes.add(freeInodesHere);
    usedDirectories.add(usedDirectoriesHere);
    counted[stripe] = true;
  }

  /// After the journal's end: until then its sealers need the descriptors.
  @Override
  public void close() {
    for (int i = 0; i < blocks.length(); i++) {
      DescriptorBlock block = blocks.getAndSet(i, null);
      if (block != null) {
        block.buffer.close();
      }
    }
  }
}
