package dev.extant.ext4;

import dev.extant.block.DeviceException;
import dev.extant.block.RequestQueue;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.ext4.format.SuperblockErrors;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.List;

/// What the primary superblock says about the mount: in use (needs_recovery with a journal, else
/// not clean), cleanly closed, or broken. Written directly and durably, when no handle is open.
final class UsageMark {
  private final RequestQueue queue;
  private final boolean journaled;

  UsageMark(RequestQueue queue, boolean journaled) {
    this.queue = queue;
    this.journaled = journaled;
  }

  /// Before the first change: whoever finds the image after a crash knows that it was in use.
  /// `endedWithError`: the journal says that the mount before broke; the superblock takes that
  /// over.
  void inUse(SuperblockStore store, Instant now, boolean endedWithError) throws IOException {
    MemorySegment bytes = store.bytes();
    if (endedWithError) {
      Superblock.state(bytes, Superblock.state(bytes) | Superblock.STATE_ERRORS);
    }
    Superblock.mountTime(bytes, now);
    Superblock.writeTime(bytes, now);
    Superblock.mountCount(bytes, Math.min(Superblock.mountCount(bytes) + 1, 0xFFFF));
    if (journaled) {
      Superblock.features(bytes, Superblock.features(bytes).with(Feature.NEEDS_RECOVERY));
    } else {
      Superblock.state(bytes, Superblock.state(bytes) & ~Superblock.STATE_CLEAN);
    }
    write(bytes);
  }

  /// After everything else is durable and the log is empty. An error that was found is kept on
  /// disk.
  void clean(SuperblockStore store, Instant now, Throwable error) throws IOException {
    MemorySegment bytes = store.bytes();
    Superblock.writeTime(bytes, now);
    Superblock.features(bytes, Superblock.features(bytes).without(Feature.NEEDS_RECOVERY));
    Superblock.state(bytes, Superblock.state(bytes) | Superblock.STATE_CLEAN);
    if (error != null) {
      addError(bytes, now, error);
    }
    write(bytes);
  }

  /// The mount ends after an abort: the superblock on disk gets the error and keeps needs_recovery.
  /// What is in memory is not written, since it may hold changes that were never committed.
  void broken(Instant now, Throwable error) throws IOException {
    if (fenced(error)) {
      return;
    }
    MemorySegment bytes = new SuperblockReader(queue).read().bytes();
    addError(bytes, now, error);
    write(bytes);
  }

  private static boolean fenced(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof DeviceException e && e.kind() == DeviceException.Kind.FENCED) {
        return true;
      }
    }
    return false;
  }

  private static void addError(MemorySegment bytes, Instant now, Throwable error) {
    Superblock.state(bytes, Superblock.state(bytes) | Superblock.STATE_ERRORS);
    String where = error.getClass().getSimpleName();
    SuperblockErrors.add(bytes, new SuperblockErrors.Entry(now, 0, 0, where, 0));
  }

  private void write(MemorySegment bytes) throws IOException {
    Superblock.sealInFirstSector(bytes);
    queue.write(Superblock.OFFSET, List.of(bytes), true);
    queue.flush();
  }
}
