package dev.extant.vfs;

import java.time.InstantSource;

/// How to mount; names and meaning are those of ext4's mount options (see `Extant`'s
/// documentation).
///
/// `commitIntervalSeconds` 0 means no timer. `cacheBytes` bounds the page cache.
public record MountOptions(
    boolean readOnly,
    DataMode data,
    int commitIntervalSeconds,
    boolean barrier,
    ErrorPolicy errors,
    boolean noload,
    AccessTime accessTime,
    long cacheBytes,
    boolean ignoreJournal,
    InstantSource clock) {

  /// data=: how file data and the journal are ordered.
  public enum DataMode {
    ORDERED,
    JOURNAL,
    WRITEBACK
  }

  /// errors=: what a detected corruption or journal abort does.
  public enum ErrorPolicy {
    REMOUNT_RO,
    CONTINUE,
    PANIC
  }

  /// atime=: when reading updates the access time.
  public enum AccessTime {
    RELATIME,
    NOATIME
  }

  public static MountOptions defaults() {
    return new MountOptions(
        false,
        DataMode.ORDERED,
        5,
        true,
        ErrorPolicy.REMOUNT_RO,
        false,
        AccessTime.RELATIME,
        256L << 20,
        false,
        InstantSource.system());
  }

  public MountOptions withReadOnly(boolean value) {
    return new MountOptions(
        value,
        data,
        commitIntervalSeconds,
        barrier,
        errors,
        noload,
        accessTime,
        cacheBytes,
        ignoreJournal,
        clock);
  }

  public MountOptions withClock(InstantSource value) {
    return new MountOptions(
        readOnly,
        data,
        commitIntervalSeconds,
        barrier,
        errors,
        noload,
        accessTime,
        cacheBytes,
        ignoreJournal,
        value);
  }

  /// For filling a file system that was just made and that nobody needs if the machine fails
  /// meanwhile: metadata goes home directly although there is a journal.
  public MountOptions withIgnoreJournal(boolean value) {
    return new MountOptions(
        readOnly,
        data,
        commitIntervalSeconds,
        barrier,
        errors,
        noload,
        accessTime,
        cacheBytes,
        value,
        clock);
  }
}
