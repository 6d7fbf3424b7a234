package dev.extant.block;

import dev.extant.block.DeviceException.Operation;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/// A device whose writes stay in memory over a base that is only read, e.g. to replay the journal
/// of an image that is opened read-only. Takes memory for what is written, in pages; a flush
/// promises nothing.
///
/// Closing it closes the base.
public final class OverlayDevice implements BlockDevice {
  private static final int PAGE_SIZE_BYTES = 4096;

  private final BlockDevice base;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  /// The changed pages by page number; guarded by `lock`.
  private final Map<Long, byte[]> pages = new HashMap<>();

  public OverlayDevice(BlockDevice base) {
    this.base = base;
  }

  /// What the changed pages take.
  public long changedBytes() {
    lock.readLock().lock();
    try {
      return (long) pages.size() * PAGE_SIZE_BYTES;
    } finally {
      lock.readLock().unlock();
    }
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
    return false;
  }

  @Override
  public boolean stablePagesRequired() {
    return false;
  }

  @Override
  public boolean interruptSafe() {
    return base.interruptSafe();
  }

  @Override
  public void read(long offset, MemorySegment target) throws DeviceException {
    Transfers.checkRange(this, Operation.READ, offset, target.byteSize());
    lock.readLock().lock();
    try {
      long at = 0;
      while (at < target.byteSize()) {
        byte[] page = pages.get((offset + at) / PAGE_SIZE_BYTES);
        long length = lengthInPage(offset + at, target.byteSize() - at);
        if (page == null) {
          length = unchangedLength(offset + at, target.byteSize() - at);
          base.read(offset + at, target.asSlice(at, length));
        } else {
          MemorySegment source = MemorySegment.ofArray(page);
          MemorySegment.copy(source, (offset + at) % PAGE_SIZE_BYTES, target, at, length);
        }
        at += length;
      }
    } finally {
      lock.readLock().unlock();
    }
  }

  /// How many of the bytes from `offset` on come before the next changed page.
  private long unchangedLength(long offset, long lengthBytes) {
    if (pages.isEmpty()) {
      return lengthBytes;
    }
    long length = lengthInPage(offset, lengthBytes);
    while (length < lengthBytes && !pages.containsKey((offset + length) / PAGE_SIZE_BYTES)) {
      length += lengthInPage(offset + length, lengthBytes - length);
    }
    return length;
  }

  private static long lengthInPage(long offset, long lengthBytes) {
    return Math.min(PAGE_SIZE_BYTES - offset % PAGE_SIZE_BYTES, lengthBytes);
  }

  @Override
  public void write(long offset, List<MemorySegment> sources, boolean fua) throws DeviceException {
    Transfers.checkRange(this, Operation.WRITE, offset, Transfers.lengthBytes(sources));
    lock.writeLock().lock();
    try {
      long at = offset;
      for (MemorySegment source : sources) {
        write(at, source);
        at += source.byteSize();
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  private void write(long offset, MemorySegment source) throws DeviceException {
    long at = 0;
    while (at < source.byteSize()) {
      long length = lengthInPage(offset + at, source.byteSize() - at);
      MemorySegment page = changedPage((offset + at) / PAGE_SIZE_BYTES, length);
      MemorySegment.copy(source, at, page, (offset + at) % PAGE_SIZE_BYTES, length);
      at += length;
    }
  }

  /// The page to be changed in `length` bytes; begins as the base's unless all of it is to be
  /// changed.
  private MemorySegment changedPage(long pageNr, long length) throws DeviceException {
    byte[] page = pages.get(pageNr);
    if (page == null) {
      page = new byte[PAGE_SIZE_BYTES];
      if (length < PAGE_SIZE_BYTES) {
        long offset = pageNr * PAGE_SIZE_BYTES;
        long onBase = Math.min(PAGE_SIZE_BYTES, base.sizeBytes() - offset);
        base.read(offset, MemorySegment.ofArray(page).asSlice(0, onBase));
      }
      pages.put(pageNr, page);
    }
    return MemorySegment.ofArray(page);
  }

  @Override
  public void flush() {}

  /// Gives the memory of whole pages back; what the base has there shows again.
  @Override
  public void discard(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkRange(this, Operation.DISCARD, offset, lengthBytes);
    long first = Math.ceilDiv(offset, PAGE_SIZE_BYTES);
    long end = (offset + lengthBytes) / PAGE_SIZE_BYTES;
    lock.writeLock().lock();
    try {
      for (long page = first; page < end; page++) {
        pages.remove(page);
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  @Override
  public void writeZeroes(long offset, long lengthBytes) throws DeviceException {
    Transfers.checkRange(this, Operation.WRITE, offset, lengthBytes);
    MemorySegment zeroes = MemorySegment.ofArray(new byte[PAGE_SIZE_BYTES]);
    lock.writeLock().lock();
    try {
      long at = 0;
      while (at < lengthBytes) {
        long length = lengthInPage(offset + at, lengthBytes - at);
        write(offset + at, zeroes.asSlice(0, length));
        at += length;
      }
    } finally {
      lock.writeLock().unlock();
    }
  }

  @Override
  public void close() throws DeviceException {
    lock.writeLock().lock();
    try {
      pages.clear();
    } finally {
      lock.writeLock().unlock();
    }
    base.close();
  }
}
