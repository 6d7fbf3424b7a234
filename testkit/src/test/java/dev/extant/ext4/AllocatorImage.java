package dev.extant.ext4;

import dev.extant.block.FileDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.journal.NoJournal;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/// An image made by mke2fs, opened as far as the allocators need it, without a journal.
final class AllocatorImage implements AutoCloseable {
  final Path path;
  final BufferCache buffers;
  final Geometry geometry;
  final Checksums checksums;
  final Journal journal;
  final SuperblockStore superblock;
  final GroupTable table;
  final BlockAllocator blocks;
  final InodeAllocator inodeAllocator;
  final Inodes inodes;
  final List<FsException> damages = new CopyOnWriteArrayList<>();
  private final FileDevice device;
  final RequestQueue queue;

  private AllocatorImage(Path path, int idleInodes) throws IOException {
    this.path = path;
    device = FileDevice.open(path, false);
    queue = new RequestQueue(device);
    byte[] first = new byte[Superblock.SIZE];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment target = arena.allocate(Superblock.SIZE, 8);
      queue.read(Superblock.OFFSET, target);
      MemorySegment.ofArray(first).copyFrom(target);
    }
    geometry = Superblock.geometry(MemorySegment.ofArray(first), device.sizeBytes());
    buffers = new BufferCache(queue, geometry.blockSizeBytes(), 64 << 20);
    superblock = new SuperblockStore(buffers);
    checksums = new Checksums(superblock.bytes());
    journal = new NoJournal(queue, buffers);
    GroupLayout layout = new GroupLayout(superblock.bytes(), geometry);
    table = new GroupTable(buffers, geometry, layout, checksums, damages::add, false);
    blocks = new BlockAllocator(buffers, table, checksums, damages::add, 0);
    journal.addCommitListener(blocks);
    inodeAllocator =
        new InodeAllocator(buffers, table, checksums, damages::add, new Random(20260101));
    InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(1_800_000_000L));
    inodes = new Inodes(buffers, table, checksums, clock, idleInodes);
  }

  /// `size` as mke2fs reads it, e.g. `64M`; options are separated by blanks.
  static void make(Path path, String size, String options) throws IOException {
    String all = "-q -F -E hash_seed=6b0f1b3c-6a3c-4f0a-9a55-5c4a60b1d001 " + options;
    Object[] arguments = (all.trim() + " " + path + " " + size).split(" +");
    Oracles.run("mke2fs", arguments).expect(0);
  }

  static AllocatorImage open(Path path) throws IOException {
    return new AllocatorImage(path, Inodes.DEFAULT_IDLE_LIMIT);
  }

  static AllocatorImage open(Path path, int idleInodes) throws IOException {
    return new AllocatorImage(path, idleInodes);
  }

  /// A bit per block, as the bitmaps say; uninitialised ones count as they would be.
  boolean[] usedBlocks() throws IOException {
    boolean[] used = new boolean[Math.toIntExact(geometry.blocksCount())];
    for (int group = 0; group < geometry.groupCount(); group++) {
      MemorySegment bits = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
      if (table.blockBitmapUninitialised(group)) {
        table.layout().initBlockBitmap(table.descriptor(group), group, bits);
      } else {
        try (Buffer buffer = buffers.read(table.blockBitmap(group))) {
          bits.copyFrom(buffer.data());
        }
      }
      int first = (int) geometry.firstBlockOfGroup(group);
      for (int i = 0; i < geometry.blocksInGroup(group); i++) {
        used[first + i] = dev.extant.util.Bits.test(bits, i);
      }
    }
    return used;
  }

  /// Commits, brings the superblock's counts up to date, and writes everything to the file.
  @Override
  public void close() throws IOException {
    try (Handle handle = journal.start(1)) {
      long freeBlocks = table.totalFreeBlocks();
      long freeInodes = table.totalFreeInodes();
      superblock.edit(
          handle,
          bytes -> {
            Superblock.freeBlocks(bytes, freeBlocks);
            Superblock.freeInodes(bytes, freeInodes);
          });
    }
    journal.checkpoint();
    journal.close();
    table.close();
    superblock.close();
    buffers.close();
    queue.close();
    device.close();
  }

  static Oracles.Result fsck(Path path) throws IOException {
    return Oracles.run("e2fsck", "-fn", path);
  }
}
