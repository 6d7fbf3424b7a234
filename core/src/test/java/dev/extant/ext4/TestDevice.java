package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.RamDevice;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A RAM device that counts, and fails or says it needs stable pages when told to.
final class TestDevice implements BlockDevice {
  final RamDevice ram;
  volatile boolean stable;
  volatile boolean failWrites;
  volatile boolean failReads;
  volatile int reads;
  volatile int writes;

  TestDevice(long sizeBytes) {
    ram = new RamDevice("ram", sizeBytes);
  }

  @Override
  public String name() {
    return "test";
  }

  @Override
  public long sizeBytes() {
    return ram.sizeBytes();
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
    return stable;
  }

  @Override
  public boolean interruptSafe() {
    return true;
  }

  @Override
  public synchronized void read(long offset, MemorySegment target) throws DeviceException {
    reads++;
    if (failReads) {
      throw failure(DeviceException.Operation.READ, offset, target.byteSize());
    }
    ram.read(offset, target);
  }

  @Override
  public synchronized void write(long offset, List<MemorySegment> sources, boolean fua)
      throws DeviceException {
    writes++;
    if (failWrites) {
      throw failure(DeviceException.Operation.WRITE, offset, sources.getFirst().byteSize());
    }
    ram.write(offset, sources, fua);
  }

  private static DeviceException failure(
      DeviceException.Operation operation, long offset, long lengthBytes) {
    return new DeviceException(
        DeviceException.Kind.UNKNOWN, operation, "test", offset, lengthBytes, "told to fail", null);
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
