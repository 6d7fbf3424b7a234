package dev.extant.cache;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.RamDevice;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts transfers, may hold reads back, may fail them.
final class CountingDevice implements BlockDevice {
  final RamDevice ram;
  final AtomicInteger reads = new AtomicInteger();
  final AtomicInteger writes = new AtomicInteger();
  volatile CountDownLatch readGate = new CountDownLatch(0);
  volatile boolean failReads;
  volatile boolean failWrites;

  CountingDevice(long sizeBytes) {
    this.ram = new RamDevice("counting", sizeBytes);
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    boolean fail = failReads;
    reads.incrementAndGet();
    try {
      readGate.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (fail) {
      throw failure(Operation.READ, offset);
    }
    ram.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    writes.incrementAndGet();
    if (failWrites) {
      throw failure(Operation.WRITE, offset);
    }
    ram.write(offset, sources, fua);
  }

  private DeviceException failure(Operation operation, long offset) {
    return new DeviceException(Kind.UNKNOWN, operation, name(), offset, 0, "planned", null);
  }

  @Override
  public String name() {
    return ram.name();
  }

  @Override
  public long sizeBytes() {
    return ram.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return ram.sectorSizeBytes();
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
  public void flush() {}

  @Override
  public void discard(long offset, long lengthBytes) {}

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    ram.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() {
    ram.close();
  }
}
