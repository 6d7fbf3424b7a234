package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A device that passes everything on to another.
public abstract class DelegatingDevice implements BlockDevice {
  private final BlockDevice base;

  protected DelegatingDevice(BlockDevice base) {
    this.base = base;
  }

  protected final BlockDevice base() {
    return base;
  }

  /// A view of a device that may be closed without closing the device.
  public static BlockDevice withoutClose(BlockDevice device) {
    return new DelegatingDevice(device) {
      @Override
      public void close() {}
    };
  }

  @Override
  public String name() {
    return base.name();
  }

  @Override
  public long sizeBytes() {
    return base.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return base.sectorSizeBytes();
  }

  @Override
  public boolean readOnly() {
    return base.readOnly();
  }

  @Override
  public boolean stablePagesRequired() {
    return base.stablePagesRequired();
  }

  @Override
  public boolean interruptSafe() {
    return base.interruptSafe();
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    base.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    base.write(offset, sources, fua);
  }

  @Override
  public void flush() throws DeviceException {
    base.flush();
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    base.discard(offset, lengthBytes);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    base.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() throws DeviceException {
    base.close();
  }
}
