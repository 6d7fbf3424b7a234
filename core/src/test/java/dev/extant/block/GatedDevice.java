package dev.extant.block;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/// A RAM device for tests of the queue: logs its calls, lets a transfer go on only when the gate
/// has a permit, and fails what touches [#failFrom] or more.
final class GatedDevice implements BlockDevice {
  final RamDevice ram;
  final Semaphore gate = new Semaphore(0);
  final List<String> log = new CopyOnWriteArrayList<>();
  final AtomicInteger inside = new AtomicInteger();
  final AtomicInteger mostInside = new AtomicInteger();
  final FailureLatch latch = new FailureLatch();
  volatile boolean interruptSafe;
  volatile long failFrom = Long.MAX_VALUE;

  GatedDevice(long sizeBytes) {
    ram = new RamDevice("gated", sizeBytes);
  }

  GatedDevice open() {
    gate.release(Integer.MAX_VALUE / 2);
    return this;
  }

  private void pass(String call) {
    mostInside.accumulateAndGet(inside.incrementAndGet(), Math::max);
    log.add(call + (Thread.currentThread().getName().startsWith("extant-io-") ? "" : " direct"));
    gate.acquireUninterruptibly();
    inside.decrementAndGet();
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
    return interruptSafe;
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    pass("read " + offset + "+" + target.byteSize());
    ram.read(offset, target);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    long length = Transfers.lengthBytes(sources);
    pass("write " + offset + "+" + length + (fua ? " fua" : ""));
    latch.check(DeviceException.Operation.WRITE, name(), offset, length);
    if (offset + length > failFrom) {
      throw latch.trip(
          new DeviceException(
              DeviceException.Kind.UNKNOWN,
              DeviceException.Operation.WRITE,
              name(),
              offset,
              length,
              "planned",
              null));
    }
    ram.write(offset, sources, fua);
  }

  @Override
  public void flush() throws DeviceException {
    pass("flush");
    latch.check(DeviceException.Operation.FLUSH, name(), -1, 0);
  }

  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    pass("discard");
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    pass("zeroes");
    ram.writeZeroes(offset, lengthBytes);
  }

  @Override
  public void close() {
    ram.close();
  }
}
