package dev.extant.testkit;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.MountOptions.AccessTime;
import java.time.Duration;
import java.time.Instant;

/// When which times of a [MemoryVolume]'s inodes are set.
final class MemoryTimes {
  private static final Duration RELATIME_LIMIT = Duration.ofDays(1);

  private final MountOptions options;

  MemoryTimes(MountOptions options) {
    this.options = options;
  }

  private Instant now() {
    return options.clock().instant();
  }

  void create(MemoryInode inode) {
    Instant now = now();
    inode.created = now;
    inode.accessed = now;
    inode.modified = now;
    inode.changed = now;
  }

  void modify(MemoryInode inode) {
    Instant now = now();
    inode.modified = now;
    inode.changed = now;
  }

  void change(MemoryInode inode) {
    inode.changed = now();
  }

  /// With relatime, an access counts when the file changed since the last one, or after a day.
  void access(MemoryInode inode) {
    if (options.readOnly() || options.accessTime() == AccessTime.NOATIME) {
      return;
    }
    Instant now = now();
    boolean stale =
        !inode.accessed.isAfter(inode.modified)
            || !inode.accessed.isAfter(inode.changed)
            || !now.isBefore(inode.accessed.plus(RELATIME_LIMIT));
    if (stale) {
      inode.accessed = now;
    }
  }

  void set(MemoryInode inode, AttributeChange change) {
    inode.accessed = change.accessed() == null ? inode.accessed : change.accessed();
    inode.modified = change.modified() == null ? inode.modified : change.modified();
    inode.created = change.created() == null ? inode.created : change.created();
    inode.changed = now();
  }
}
