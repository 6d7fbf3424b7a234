package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.time.InstantSource;

/// What a change of a file's content does to its inode besides: times, and the setuid and setgid
/// bits.
///
/// The clock ticks every 4 ms here, like the kernel's coarse clock, so that many small overwrites
/// change the inode only once a tick.
final class ModificationTimes {
  private static final long TICK_NANOS = 4_000_000;
  private static final int SETUID = 04000;
  private static final int SETGID = 02000;
  private static final int GROUP_EXECUTE = 0010;

  private final InstantSource clock;

  ModificationTimes(InstantSource clock) {
    this.clock = clock;
  }

  Instant now() {
    Instant now = clock.instant();
    return now.minusNanos(now.getNano() % TICK_NANOS);
  }

  /// True if [#apply] would change anything.
  static boolean stale(MemorySegment raw, Instant now) {
    boolean nanos = RawInode.extraIsize(raw) > 0;
    Instant stored = RawInode.modified(raw);
    return stored.getEpochSecond() != now.getEpochSecond()
        || nanos && stored.getNano() != now.getNano()
        || setIdBits(raw) != 0;
  }

  static void apply(MemorySegment raw, Instant now) {
    RawInode.modified(raw, now);
    RawInode.changed(raw, now);
    RawInode.mode(raw, RawInode.mode(raw) & ~setIdBits(raw));
  }

  /// The bits to clear: setgid without group execute means something else.
  private static int setIdBits(MemorySegment raw) {
    int mode = RawInode.mode(raw);
    int bits = mode & SETUID;
    return (mode & GROUP_EXECUTE) != 0 ? bits | mode & SETGID : bits;
  }
}
