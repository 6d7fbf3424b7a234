package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.JournalAbortedException;
import dev.extant.vfs.MountOptions.AccessTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/// Keeps access times as the mount option says. `relatime`: a read updates the time only if it
/// would not be newer than the last change otherwise, or is a day old.
final class AccessTimes {
  private static final Duration DAY = Duration.ofDays(1);

  private final Mount mount;
  private final boolean off;

  AccessTimes(Mount mount, AccessTime policy) {
    this.mount = mount;
    this.off = policy == AccessTime.NOATIME;
  }

  /// The inode's content was read. No lock or handle is held.
  void read(Inode inode) throws IOException {
    if (off || mount.health.readOnly() || inode.hasFlag(RawInode.EXT4_NOATIME_FL)) {
      return;
    }
    Instant now = mount.now();
    if (!stale(inode, now)) {
      return;
    }
    inode.lock.writeLock().lock();
    try (Handle handle = mount.journal.start(Credits.INODE)) {
      RawInode.accessed(inode.raw, now);
      mount.inodes.update(handle, inode, false);
    } catch (JournalAbortedException e) {
      // The read itself succeeded, and the abort's cause has reached Health.
      return;
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  private static boolean stale(Inode inode, Instant now) {
    inode.lock.readLock().lock();
    try {
      Instant accessed = RawInode.accessed(inode.raw);
      return RawInode.linksCount(inode.raw) > 0
          && (!accessed.isAfter(RawInode.modified(inode.raw))
              || !accessed.isAfter(RawInode.changed(inode.raw))
              || accessed.plus(DAY).isBefore(now))
          && now.isAfter(accessed);
    } finally {
      inode.lock.readLock().unlock();
    }
  }
}
