package dev.extant.block;

import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A device in off-heap memory. Every write is durable at once (for this process); flush does
/// nothing.
public final class RamDevice implements BlockDevice {
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final String name;

  public RamDevice(String name, long sizeBytes) {
    this.name = name;
    this.memory = arena.allocate(sizeBytes, 4096);
  }

  /// The bytes themselves, for tests that look behind the device.
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long sizeBytes() {
    return memory.byteSize();
  }

  @Override
  public int sectorSizeBytes() {
    return 512;
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
  public void read(long offset, MemorySegment target) throws DeviceException {
    Transfers.checkRange(this, Operation.READ, offset, target.byteSize());
    target.copyFrom(memory.asSlice(offset, target.byteSize()));
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    Transfers.checkWrite(this, Operation.WRITE, offset, Transfers.lengthBytes(sources));
    long at = offset;
    for (MemorySegment source : sources) {
      MemorySegment.copy(source, 0, memory, at, source.byteSize());
      at += source.byteSize();
    }
  }

  @Override
  public void flush() {}

  /// What is discarded reads as zeroes; the memory stays the device's.
  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkWrite(this, Operation.DISCARD, offset, lengthBytes);
    memory.asSlice(offset, lengthBytes).fill((byte) 0);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkWrite(this, Operation.WRITE, offset, lengthBytes);
    memory.asSlice(offset, lengthBytes).fill((byte) 0);
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
