package dev.extant.block;

import java.io.Closeable;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A random-access store of bytes with an explicit flush: an image file, RAM, a block device, a
/// model.
///
/// The contract, as seen on real disks and network disks:
///
/// - A transfer is whole or throws; a short one is completed by the implementation.
/// - A write is durable only after a later [#flush()] that began after the write returned, or when
///   it was written with `fua`. Unflushed writes may survive a power cut in any subset, torn at
///   sector bounds.
/// - After the first failed write or flush every later write and flush fails too, with the first
///   failure as its cause. A flush is never retried.
/// - [#discard] is a hint and may do nothing, or lose what was there; [#writeZeroes] is not a hint.
///
/// All methods may be called by several threads at once. Overlapping transfers have no order.
/// Implementations over an interruptible channel must be called only from threads that nobody
/// interrupts; [#interruptSafe()] tells.
public interface BlockDevice extends Closeable {
  /// What error messages call it, e.g. the path of the image.
  String name();

  long sizeBytes();

  /// The unit in which a write is atomic with regard to a power cut; 512 or 4,096.
  int sectorSizeBytes();

  boolean readOnly();

  /// True if a page must not change between submit and completion of its write (the device
  /// checksums or mirrors it).
  boolean stablePagesRequired();

  /// True if any thread may call this device directly, even one that may be interrupted.
  boolean interruptSafe();

  /// Fills `target` with the bytes at `offset`.
  void read(long offset, MemorySegment target) throws DeviceException;

  /// Writes the segments one after another from `offset` on (one gathered transfer). With `fua` the
  /// data is durable on return.
  void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException;

  /// Makes every write durable that returned before this call.
  void flush() throws DeviceException;

  void discard(long offset, long lengthBytes) throws DeviceException;

  void writeZeroes(long offset, long lengthBytes) throws DeviceException;

  /// Releases the device without flushing it. Closing twice does nothing.
  @Override
  void close() throws DeviceException;
}
