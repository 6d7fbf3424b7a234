package dev.extant.vfs;

import java.time.InstantSource;
import java.util.Map;

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

  /// Options as after `mount -o`: `"ro,data=journal,commit=30"`.
  ///
  /// @throws IllegalArgumentException naming an option that is unknown or has a wrong value
  public static MountOptions parse(String options) {
    MountOptionParser parser = new MountOptionParser();
    parser.list(options);
    return parser.result();
  }

  /// Options by name, with strings, numbers or booleans as values, as in the environment of a NIO
  /// file system: `Map.of("ro", true, "commit", 30)`. The key `options` holds a list as for
  /// [#parse]; the others override it.
  ///
  /// @throws IllegalArgumentException naming an option that is unknown or has a wrong value
  public static MountOptions fromMap(Map<String, ?> options) {
    MountOptionParser parser = new MountOptionParser();
    parser.map(options);
    return parser.result();
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
