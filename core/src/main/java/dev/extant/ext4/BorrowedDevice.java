package dev.extant.ext4;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A device that stays open when whoever it is lent to closes it.
record BorrowedDevice(BlockDevice owner) implements BlockDevice {
  @Override
  public String name() {
    return owner.name();
  }

  @Override
  public long sizeBytes() {
    return owner.sizeBytes();
  }

  @Override
  public int sectorSizeBytes() {
    return owner.sectorSizeBytes();
  }

  @Override
  public boolean readOnly() {
    return owner.readOnly();
  }

  @Override
  public boolean stablePagesRequired() {
    return owner.stablePagesRequired();
  }

  @Override
  public boolean interruptSafe() {
    return owner.interruptSafe();
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    owner.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    owner.write(offset, sources, fua);
  }

  @Override
  public void flush() throws DeviceException {
    owner.flush();
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    owner.discard(offset, lengthBytes);
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    owner.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() {}
}
