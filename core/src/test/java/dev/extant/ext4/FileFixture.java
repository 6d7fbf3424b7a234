package dev.extant.ext4;

import dev.extant.block.RequestQueue;
import dev.extant.cache.BufferCache;
import dev.extant.cache.PageCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Jbd2Journal;
import dev.extant.journal.Journal;
import dev.extant.journal.JournalLocation;
import dev.extant.journal.JournalOptions;
import dev.extant.journal.JournalPlace;
import dev.extant.journal.NoJournal;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// File data over a device in memory, with a fake allocator and inode table.
final class FileFixture implements AutoCloseable {
  static final int BLOCK_SIZE_BYTES = 1024;
  static final int RESERVED = 50;

  final TestDevice device;
  final RequestQueue queue;
  final FakeInodes inodes = new FakeInodes();
  final Set<Long> orphans = new HashSet<>();
  final Geometry geometry;
  private final long cacheBytes;
  private final DataMode mode;
  private final JournalPlace place;
  BufferCache buffers;
  PageCache pages;
  Journal journal;
  FakeBlocks blocks;
  ExtentTree tree;
  FileData files;
  volatile Instant now = Instant.ofEpochSecond(1_000_000, 8_000_000);

  /// Without a journal, and `data=ordered`.
  FileFixture(int blockCount, long cacheBytes) throws IOException {
    this(blockCount, cacheBytes, DataMode.ORDERED, 0);
  }

  /// Blocks that hold old bytes of others, which nobody may see; the journal lies behind them.
  FileFixture(int blockCount, long cacheBytes, DataMode mode, int journalBlocks)
      throws IOException {
    long deviceBlocks = blockCount + journalBlocks;
    this.mode = mode;
    device = new TestDevice(deviceBlocks * BLOCK_SIZE_BYTES);
    device.ram.memory().fill((byte) 0xDB);
    queue = new RequestQueue(device);
    place = journalBlocks == 0 ? null : formatJournal(blockCount, journalBlocks);
    geometry =
        new Geometry(
            BLOCK_SIZE_BYTES,
            blockCount,
            1,
            8192,
            1024,
            256,
            64,
            (blockCount + 8190) / 8192,
            4096,
            11,
            4,
            0);
    this.cacheBytes = cacheBytes;
    buffers = new BufferCache(queue, BLOCK_SIZE_BYTES, 8 << 20);
    blocks = new FakeBlocks(geometry, buffers, RESERVED);
    mount();
  }

  private JournalPlace formatJournal(int first, int journalBlocks) throws IOException {
    MemorySegment superblock = MemorySegment.ofArray(new byte[BLOCK_SIZE_BYTES]);
    JournalSuperblock.initialise(superblock, BLOCK_SIZE_BYTES, journalBlocks, new byte[16], 0);
    queue.write((long) first * BLOCK_SIZE_BYTES, List.of(superblock), true);
    JournalLocation location = JournalLocation.contiguous(first, journalBlocks);
    return new JournalPlace(queue, location, BLOCK_SIZE_BYTES, first + journalBlocks);
  }

  private void mount() throws IOException {
    pages = new PageCache(queue, BLOCK_SIZE_BYTES, cacheBytes);
    journal =
        place == null
            ? new NoJournal(queue, buffers)
            : Jbd2Journal.open(
                place, buffers, JournalOptions.of("test").withCommitIntervalSeconds(0));
    journal.addCommitListener(blocks);
    tree = new ExtentTree(geometry, buffers, TestChecksums.create(), blocks, inodes);
    FileData.Orphans list =
        new FileData.Orphans() {
          @Override
          public void add(Handle handle, Inode inode) {
            orphans.add(inode.ino());
          }

          @Override
          public void remove(Handle handle, Inode inode) {
            orphans.remove(inode.ino());
          }
        };
    files =
        new FileData(
            journal,
            pages,
            buffers,
            tree,
            inodes,
            list,
            new FileData.Policy(mode, () -> now, blocks::freesPending),
            Features.of(Feature.EXTENT));
  }

  /// Makes all durable and begins with empty caches.
  void remount() throws IOException {
    files.writebackAll();
    journal.close();
    pages.close();
    buffers.close();
    buffers = new BufferCache(queue, BLOCK_SIZE_BYTES, 8 << 20);
    blocks.over(buffers);
    mount();
  }

  Inode newFile(long ino) throws IOException {
    Inode inode = inodes.newFile(ino);
    try (Handle handle = journal.start(1)) {
      inodes.update(handle, inode, true);
    }
    return inode;
  }

  byte[] content(Inode inode) throws IOException {
    byte[] bytes = new byte[(int) RawInode.size(inode.raw)];
    files.read(inode, 0, MemorySegment.ofArray(bytes));
    return bytes;
  }

  /// What the device holds of the file, whatever the cache holds.
  byte[] onDevice(Inode inode) throws IOException {
    byte[] bytes = new byte[(int) RawInode.size(inode.raw)];
    for (int at = 0; at < bytes.length; at += BLOCK_SIZE_BYTES) {
      BlockMap.Run run = tree.lookup(inode, at / BLOCK_SIZE_BYTES, 1);
      int count = Math.min(BLOCK_SIZE_BYTES, bytes.length - at);
      if (!run.hole() && !run.unwritten()) {
        MemorySegment.copy(
            device.ram.memory(),
            run.blockNr() * BLOCK_SIZE_BYTES,
            MemorySegment.ofArray(bytes),
            at,
            count);
      }
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    journal.close();
    pages.close();
    buffers.close();
    queue.close();
    device.close();
  }
}
