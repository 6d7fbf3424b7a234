package dev.extant.vfs;

import java.util.UUID;

/// What to change of a file system that is not mounted; null leaves a field as it is.
///
/// `reservedBlocks` and `reservedPercent` (0 to 50) exclude each other. `maxMountCount` -1 means
/// never to check because of the count. `checkIntervalSeconds` 0 means never because of the time.
/// `journalMebibytes` adds a journal to a file system without one; 0 chooses the size.
public record TuneOptions(
    String label,
    UUID uuid,
    Long reservedBlocks,
    Double reservedPercent,
    Integer mountCount,
    Integer maxMountCount,
    Long checkIntervalSeconds,
    OnError onError,
    Integer journalMebibytes) {

  /// What Linux does when it finds an error in the file system (s_errors).
  public enum OnError {
    CONTINUE,
    REMOUNT_RO,
    PANIC
  }

  public static Builder builder() {
    return new Builder();
  }

  /// Collects the changes.
  public static final class Builder {
    private String label;
    private UUID uuid;
    private Long reservedBlocks;
    private Double reservedPercent;
    private Integer mountCount;
    private Integer maxMountCount;
    private Long checkIntervalSeconds;
    private OnError onError;
    private Integer journalMebibytes;

    private Builder() {}

    /// At most 16 bytes of UTF-8.
    public Builder label(String value) {
      label = value;
      return this;
    }

    public Builder uuid(UUID value) {
      uuid = value;
      return this;
    }

    public Builder reservedBlocks(long value) {
      reservedBlocks = value;
      return this;
    }

    public Builder reservedPercent(double value) {
      reservedPercent = value;
      return this;
    }

    public Builder mountCount(int value) {
      mountCount = value;
      return this;
    }

    public Builder maxMountCount(int value) {
      maxMountCount = value;
      return this;
    }

    public Builder checkIntervalSeconds(long value) {
      checkIntervalSeconds = value;
      return this;
    }

    public Builder onError(OnError value) {
      onError = value;
      return this;
    }

    public Builder journalMebibytes(int value) {
      journalMebibytes = value;
      return this;
    }

    public TuneOptions build() {
      return new TuneOptions(
          label,
          uuid,
          reservedBlocks,
          reservedPercent,
          mountCount,
          maxMountCount,
          checkIntervalSeconds,
          onError,
          journalMebibytes);
    }
  }
}
