package dev.extant.cache;

import java.lang.foreign.MemorySegment;

/// One block of a file in memory. While it belongs to an [AddressSpace], that one's lock guards its
/// fields; the bytes are guarded by the file's own lock (see [AddressSpace]).
public final class Page {
  private final MemorySegment data;

  /// Whose page it is; null while it is free, and once it was taken out of its space.
  volatile AddressSpace space;

  /// Used since the clock's hand last passed.
  volatile boolean referenced;

  /// Which block of the file it is.
  long index;

  /// Where it is on the device, 0 while that is unknown.
  long blockNr;

  /// Users who need it to stay in memory.
  int pins;

  /// The bytes are those of the device or newer.
  boolean upToDate;

  /// Somebody fills it from the device.
  boolean reading;

  /// The bytes are newer than the device's, and no write of them was submitted yet.
  boolean dirty;

  /// A write was submitted that has not ended.
  boolean inFlight;

  /// The space's count of dirtied pages when this one became dirty.
  long dirtySeq;

  /// Neighbours in the space's list of dirty pages.
  Page olderDirty;

  Page newerDirty;

  Page(MemorySegment data) {
    this.data = data;
  }

  /// The block's bytes.
  public MemorySegment data() {
    return data;
  }

  /// True if the bytes are those of the device or newer. For the holder of a pin and the file's
  /// lock.
  public boolean upToDate() {
    return upToDate;
  }

  boolean evictable() {
    return pins == 0 && !dirty && !inFlight && !reading;
  }

  /// Forgets whose it was.
  void reset() {
    space = null;
    referenced = false;
    blockNr = 0;
    upToDate = false;
  }
}
