package dev.extant.block;

import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A device that can be taken away: once it was [#fence]d nothing more is written to it.
public final class FencedDevice implements BlockDevice {
  private final BlockDevice device;
  private final FailureLatch latch = new FailureLatch();

  public FencedDevice(BlockDevice device) {
    this.device = device;
  }

  /// From now on all writes and flushes fail with this cause, and with its kind.
  public void fence(DeviceException cause) {
    latch.trip(cause);
  }

  @Override
  public String name() {
    return device.name();
  }

  @Override
  public long sizeBytes() {
    return device.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return device.sectorSizeBytes();
  }

  @Override
  public boolean readOnly() {
    return device.readOnly();
  }

  @Override
  public boolean stablePagesRequired() {
    return device.stablePagesRequired();
  }

  @Override
  public boolean interruptSafe() {
    return device.interruptSafe();
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    device.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    latch.check(Operation.WRITE, name(), offset, Transfers.lengthBytes(sources));
    device.write(offset, sources, fua);
  }

  @Override
  public void flush() throws DeviceException {
    latch.check(Operation.FLUSH, name(), -1, 0);
    device.flush();
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    latch.check(Operation.DISCARD, name(), offset, lengthBytes);
    device.discard(offset, lengthBytes);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    latch.check(Operation.WRITE, name(), offset, lengthBytes);
    device.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() throws DeviceException {
    device.close();
  }
}
