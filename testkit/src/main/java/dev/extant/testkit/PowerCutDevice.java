package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.block.OverlayDevice;
import dev.extant.block.Transfers;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/// A device with a volatile write cache whose power can be cut while it is in use.
///
/// Writes stay in the cache until a flush (or FUA) brings them to the base. [#cutPower] leaves on
/// the base a legal state by the fault model of [CutStates]; from then on every call fails. The
/// base stays open for whoever looks at what is left: closing this device does not close it.
public final class PowerCutDevice extends DelegatingDevice {
  private final ReentrantLock lock = new ReentrantLock();

  /// The base as seen through the cache. Guarded by `lock`, as all below.
  private OverlayDevice cached;

  /// What was written since the last flush, in order, with the FUA writes, which the base has
  /// already.
  private final List<RecordedWrite> unsettled = new ArrayList<>();

  private boolean cut;

  public PowerCutDevice(BlockDevice base) {
    super(base);
    this.cached = new OverlayDevice(DelegatingDevice.withoutClose(base));
  }

  /// Cuts the power; the seed chooses what of the unflushed writes survives. A second cut does
  /// nothing.
  public void cutPower(long seed) throws DeviceException {
    lock.lock();
    try {
      if (cut) {
        return;
      }
      cut = true;
      RandomGenerator random = new SplittableRandom(seed);
      Survival survival = Survival.draw(random);
      for (RecordedWrite write : unsettled) {
        if (write.fua()) {
          // Once more, because an older write to its sectors may have survived just now.
          write.applyTo(base());
        } else {
          survival.apply(write, base(), random);
        }
      }
      unsettled.clear();
    } finally {
      lock.unlock();
    }
  }

  /// Cuts the power and loses every unflushed write.
  public void cutPowerAndLoseAll() {
    lock.lock();
    try {
      cut = true;
      unsettled.clear();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    lock.lock();
    try {
      checkPower(Operation.READ, offset, target.byteSize());
      cached.read(offset, target);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    RecordedWrite write = RecordedWrite.of(offset, sources, fua);
    lock.lock();
    try {
      checkPower(Operation.WRITE, offset, write.lengthBytes());
      Transfers.checkWrite(this, Operation.WRITE, offset, write.lengthBytes());
      write.applyTo(cached);
      if (fua) {
        base().write(offset, sources, true);
      }
      unsettled.add(write);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    lock.lock();
    try {
      checkPower(Operation.WRITE, offset, lengthBytes);
      cached.writeZeroes(offset, lengthBytes);
      unsettled.add(RecordedWrite.zeroes(offset, lengthBytes));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    lock.lock();
    try {
      checkPower(Operation.DISCARD, offset, lengthBytes);
      Transfers.checkWrite(this, Operation.DISCARD, offset, lengthBytes);
      cached.writeZeroes(offset, lengthBytes);
      unsettled.add(RecordedWrite.discard(offset, lengthBytes));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void flush() throws DeviceException {
    lock.lock();
    try {
      checkPower(Operation.FLUSH, -1, 0);
      for (RecordedWrite write : unsettled) {
        write.applyTo(base());
      }
      base().flush();
      unsettled.clear();
      cached = new OverlayDevice(DelegatingDevice.withoutClose(base()));
    } finally {
      lock.unlock();
    }
  }

  private void checkPower(Operation operation, long offset, long lengthBytes)
      throws DeviceException {
    if (cut) {
      throw new DeviceException(
          Kind.UNKNOWN, operation, name(), offset, lengthBytes, "the power is cut", null);
    }
  }

  @Override
  public void close() {}
}
