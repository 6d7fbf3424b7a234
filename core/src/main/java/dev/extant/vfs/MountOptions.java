package dev.extant.vfs;

import java.time.InstantSource;
import java.util.Map;

/// How to mount; names and meaning are those of ext4's mount options (see `Extant`'s
/// documentation).
///
/// `commitIntervalSeconds` 0 means no timer. `cacheBytes` bounds the page cache. `batching` is when
/// commits begin that somebody waits for.
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
    boolean discard,
    boolean useReserve,
    Batching batching,
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
    return builder().build();
  }

  /// Starts with the defaults.
  public static Builder builder() {
    return new Builder();
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

  /// A builder that starts with these options.
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.readOnly = readOnly;
    builder.data = data;
    builder.commitIntervalSeconds = commitIntervalSeconds;
    builder.barrier = barrier;
    builder.errors = errors;
    builder.noload = noload;
    builder.accessTime = accessTime;
    builder.cacheBytes = cacheBytes;
    builder.ignoreJournal = ignoreJournal;
    builder.discard = discard;
    builder.useReserve = useReserve;
    builder.batching = batching;
    builder.clock = clock;
    return builder;
  }

  public MountOptions withReadOnly(boolean value) {
    return toBuilder().readOnly(value).build();
  }

  public MountOptions withBatching(Batching value) {
    return toBuilder().batching(value).build();
  }

  public MountOptions withClock(InstantSource value) {
    return toBuilder().clock(value).build();
  }

  /// See [Builder#ignoreJournal].
  public MountOptions withIgnoreJournal(boolean value) {
    return toBuilder().ignoreJournal(value).build();
  }

  /// Collects options; what is not set has its default.
  public static final class Builder {
    private boolean readOnly;
    private DataMode data = DataMode.ORDERED;
    private int commitIntervalSeconds = 5;
    private boolean barrier = true;
    private ErrorPolicy errors = ErrorPolicy.REMOUNT_RO;
    private boolean noload;
    private AccessTime accessTime = AccessTime.RELATIME;
    private long cacheBytes = 256L << 20;
    private boolean ignoreJournal;
    private boolean discard;
    private boolean useReserve = true;
    private Batching batching = Batching.of(Batching.Rule.EXPECTED);
    private InstantSource clock = InstantSource.system();

    private Builder() {}

    public Builder readOnly(boolean value) {
      readOnly = value;
      return this;
    }

    public Builder data(DataMode value) {
      data = value;
      return this;
    }

    /// 0: no timer.
    public Builder commitIntervalSeconds(int value) {
      commitIntervalSeconds = value;
      return this;
    }

    public Builder barrier(boolean value) {
      barrier = value;
      return this;
    }

    public Builder errors(ErrorPolicy value) {
      errors = value;
      return this;
    }

    public Builder noload(boolean value) {
      noload = value;
      return this;
    }

    public Builder accessTime(AccessTime value) {
      accessTime = value;
      return this;
    }

    public Builder cacheBytes(long value) {
      cacheBytes = value;
      return this;
    }

    /// For filling a file system that was just made and that nobody needs if the machine fails
    /// meanwhile: metadata goes home directly although there is a journal.
    public Builder ignoreJournal(boolean value) {
      ignoreJournal = value;
      return this;
    }

    /// Whether the device is told of blocks that were freed, once that is durable.
    public Builder discard(boolean value) {
      discard = value;
      return this;
    }

    public Builder batching(Batching value) {
      batching = value;
      return this;
    }

    /// Whether blocks may be used that are reserved for root.
    public Builder useReserve(boolean value) {
      useReserve = value;
      return this;
    }

    public Builder clock(InstantSource value) {
      clock = value;
      return this;
    }

    public MountOptions build() {
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
          discard,
          useReserve,
          batching,
          clock);
    }
  }
}
