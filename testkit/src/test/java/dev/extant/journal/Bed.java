package dev.extant.journal;

import dev.extant.block.BlockDevice;
import dev.extant.block.RamDevice;
import dev.extant.block.RequestQueue;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.journal.format.JournalSuperblock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// A device with a journal in its blocks 1 up to `logLength` and room for metadata behind it.
final class Bed implements AutoCloseable {
  static final int BLOCK = 1024;

  final BlockDevice device;
  final RequestQueue queue;
  final JournalPlace place;
  final long firstHome;
  BufferCache cache;
  Jbd2Journal journal;

  private Bed(BlockDevice device, int logLength, JournalLocation location) {
    this.device = device;
    this.queue = new RequestQueue(device);
    this.firstHome = logLength + 1;
    this.place = new JournalPlace(queue, location, BLOCK, device.sizeBytes() / BLOCK);
  }

  static byte[] uuid() {
    byte[] uuid = new byte[16];
    for (int i = 0; i < uuid.length; i++) {
      uuid[i] = (byte) (i * 17 + 3);
    }
    return uuid;
  }

  /// The size of a device for a log and so many blocks beside it.
  static long sizeBytes(int logLength, int homeBlocks) {
    return (long) (logLength + 1 + homeBlocks) * BLOCK;
  }

  /// A new journal without features on the device.
  static void format(BlockDevice device, int logLength) throws IOException {
    MemorySegment superblock = Arena.ofAuto().allocate(BLOCK, 8);
    JournalSuperblock.initialise(superblock, BLOCK, logLength, uuid(), 0);
    device.write(BLOCK, List.of(superblock), true);
  }

  static Bed on(BlockDevice device, int logLength) {
    return new Bed(device, logLength, JournalLocation.contiguous(1, logLength));
  }

  /// The journal's blocks lie on the device from behind to the front.
  static Bed backwards(BlockDevice device, int logLength) {
    return new Bed(
        device,
        logLength,
        new JournalLocation() {
          @Override
          public long lengthBlocks() {
            return logLength;
          }

          @Override
          public long physicalBlock(long journalBlock) {
            return journalBlock == 0 ? 1 : logLength + 1 - journalBlock;
          }
        });
  }

  static Bed inMemory(int logLength, int homeBlocks) throws IOException {
    RamDevice device = new RamDevice("ram", sizeBytes(logLength, homeBlocks));
    format(device, logLength);
    return on(device, logLength);
  }

  static JournalOptions options() {
    return JournalOptions.of("test").withCommitIntervalSeconds(0);
  }

  Bed open() throws IOException {
    return open(options());
  }

  Bed open(JournalOptions options) throws IOException {
    cache = new BufferCache(queue, BLOCK, 1 << 20);
    journal = Jbd2Journal.open(place, cache, options);
    return this;
  }

  RecoveryReport recover() throws IOException {
    RecoveryReport report = Recovery.replay(place);
    Recovery.markEmpty(place, report, false);
    return report;
  }

  /// The `index`-th block beside the journal.
  long home(int index) {
    return firstHome + index;
  }

  /// Sets a home block's bytes to the value in a handle that is open.
  void put(Handle handle, int index, long value) throws IOException {
    try (Buffer buffer = cache.read(home(index))) {
      handle.writeAccess(buffer);
      fill(buffer.data(), value);
      handle.dirty(buffer);
    }
  }

  /// A transaction of one block; its tid.
  long put(int index, long value) throws IOException {
    try (Handle handle = journal.start(1)) {
      put(handle, index, value);
      return handle.tid();
    }
  }

  static void fill(MemorySegment bytes, long value) {
    for (long i = 0; i < bytes.byteSize(); i += 8) {
      bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
    }
  }

  /// Writes data to a home block, past the journal.
  void writeHome(int index, long value) throws IOException {
    MemorySegment bytes = Arena.ofAuto().allocate(BLOCK, 8);
    fill(bytes, value);
    queue.write(home(index) * BLOCK, List.of(bytes), false);
  }

  MemorySegment bytesOnDevice(int index) throws IOException {
    MemorySegment bytes = Arena.ofAuto().allocate(BLOCK, 8);
    device.read(home(index) * BLOCK, bytes);
    return bytes;
  }

  /// The value of a home block on the device; fails if the block is not all of one value.
  long onDevice(int index) throws IOException {
    MemorySegment bytes = bytesOnDevice(index);
    long value = bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    for (long i = 8; i < BLOCK; i += 8) {
      if (bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, i) != value) {
        throw new AssertionError("home block " + index + " is torn");
      }
    }
    return value;
  }

  MemorySegment superblock() throws IOException {
    MemorySegment bytes = Arena.ofAuto().allocate(BLOCK, 8);
    device.read(place.location().physicalBlock(0) * BLOCK, bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    if (journal != null) {
      journal.close();
    }
    if (cache != null) {
      cache.close();
    }
    queue.close();
    device.close();
  }
}
