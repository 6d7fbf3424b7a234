package dev.extant.journal;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.RamDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A disk that remembers what was written and flushed in which order, so that every state can be
/// built that a power cut could have left; and that fails on demand.
final class LogDisk implements BlockDevice {
  private static final int SECTOR = 512;

  /// A write (`bytes`) or, with null, a flush.
  record Event(long offset, byte[] bytes, boolean fua) {}

  private final RamDevice now;
  private final byte[] before;
  private final List<Event> events = new ArrayList<>();
  private int failAt = Integer.MAX_VALUE;
  private Kind failure = Kind.UNKNOWN;

  /// Starts with what is on `start`.
  LogDisk(RamDevice start) {
    this.now = start;
    this.before = start.memory().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
  }

  synchronized int eventCount() {
    return events.size();
  }

  /// The `count`-th event from now on and all later ones fail.
  synchronized void failAfter(int count, Kind kind) {
    failAt = events.size() + count;
    failure = kind;
  }

  /// What a power cut after the first `count` events may have left: everything that a flush
  /// covered, and of the rest each sector of each write or not.
  synchronized RamDevice cut(int count, Random random) {
    RamDevice device = new RamDevice("cut", before.length);
    MemorySegment.copy(MemorySegment.ofArray(before), 0, device.memory(), 0, before.length);
    int flushed = 0;
    for (int i = 0; i < count; i++) {
      if (events.get(i).bytes == null) {
        flushed = i;
      }
    }
    for (int i = 0; i < count; i++) {
      Event event = events.get(i);
      if (event.bytes == null) {
        continue;
      }
      boolean whole = i < flushed || event.fua;
      boolean none = !whole && random.nextInt(4) == 0;
      boolean all = whole || random.nextInt(3) == 0;
      for (int at = 0; at < event.bytes.length; at += SECTOR) {
        if (all && !none || !none && random.nextBoolean()) {
          int length = Math.min(SECTOR, event.bytes.length - at);
          MemorySegment.copy(
              MemorySegment.ofArray(event.bytes), at, device.memory(), event.offset + at, length);
        }
      }
    }
    return device;
  }

  private void checkWell(Operation operation) throws DeviceException {
    if (events.size() >= failAt) {
      throw new DeviceException(failure, operation, name(), 0, 0, "planned failure", null);
    }
  }

  @Override
  public synchronized void write(long offset, List<MemorySegment> sources, boolean fua)
      throws DeviceException {
    checkWell(Operation.WRITE);
    long length = sources.stream().mapToLong(MemorySegment::byteSize).sum();
    MemorySegment bytes = Arena.ofAuto().allocate(length, 8);
    long at = 0;
    for (MemorySegment source : sources) {
      bytes.asSlice(at, source.byteSize()).copyFrom(source);
      at += source.byteSize();
    }
    now.write(offset, List.of(bytes), fua);
    events.add(new Event(offset, bytes.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE), fua));
  }

  @Override
  public synchronized void flush() throws DeviceException {
    checkWell(Operation.FLUSH);
    events.add(new Event(0, null, false));
  }

  @Override
  public String name() {
    return "disk";
  }

  @Override
  public long sizeBytes() {
    return now.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return SECTOR;
  }

  @Override
  public boolean readOnly() {
    return false;
  }

  @Override
  public boolean stablePagesRequired() {
    return false;
  }

  @Override
  public boolean interruptSafe() {
    return true;
  }

  @Override
  public synchronized void read(long offset, MemorySegment target) throws DeviceException {
    now.read(offset, target);
  }

  @Override
  public void discard(long offset, long lengthBytes) {}

  @Override
  public void writeZeroes(long offset, long lengthBytes) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() throws DeviceException {
    now.close();
  }
}
