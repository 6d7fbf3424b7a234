package dev.extant.block;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The bounded queue in front of a device. First cut: every request runs on the caller.
public final class RequestQueue implements AutoCloseable {
  private final BlockDevice device;

  public RequestQueue(BlockDevice device) {
    this.device = device;
  }

  public BlockDevice device() {
    return device;
  }

  /// Reads and waits. An interrupt of the caller does not end the wait; it stays pending.
  public void read(long offset, MemorySegment target) throws DeviceException {
    device.read(offset, target);
  }

  /// Writes and waits.
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    device.write(offset, sources, fua);
  }

  /// Queues a write. The segments must stay untouched and alive until the future is done. It fails
  /// with a [DeviceException].
  public CompletableFuture<Void> submitWrite(long offset, List<MemorySegment> sources) {
    try {
      device.write(offset, sources, false);
      return CompletableFuture.completedFuture(null);
    } catch (DeviceException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /// Flushes and waits: covers every write whose completion was seen before this call.
  public void flush() throws DeviceException {
    device.flush();
  }

  public void discard(long offset, long lengthBytes) throws DeviceException {
    device.discard(offset, lengthBytes);
  }

  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    device.writeZeroes(offset, lengthBytes);
  }

  /// Waits for what is queued and ends the I/O threads. Does not close the device.
  @Override
  public void close() {}
}
