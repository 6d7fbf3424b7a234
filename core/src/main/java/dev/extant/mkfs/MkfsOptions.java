package dev.extant.mkfs;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// What to make. Everything has a default: mke2fs's for `-t ext4`, with the features of e2fsprogs
/// 1.47. The same options on a device of the same size give the same bytes, once [#uuid],
/// [#hashSeed] and [#time] are set.
///
/// Zero means the default in `sizeBytes` (the whole device), `blockSizeBytes` (1,024 below 512 MiB,
/// else 4,096), `inodesCount`, `bytesPerInode` (both: by size), `journalMebibytes` (by size); null
/// means it in `uuid`, `hashSeed` (both random) and `time` (now).
///
/// `featureChanges` are as mke2fs's `-O`: `name` adds a feature, `^name` takes it away, `none`
/// takes all away; later ones win. `reservedPercent` of the blocks are kept for root. `zeroed` says
/// that the device reads as zeroes everywhere, so that nothing need be cleared (a new sparse file).
public record MkfsOptions(
    long sizeBytes,
    String label,
    int blockSizeBytes,
    int inodeSizeBytes,
    long inodesCount,
    long bytesPerInode,
    long journalMebibytes,
    List<String> featureChanges,
    UUID uuid,
    UUID hashSeed,
    Instant time,
    double reservedPercent,
    long rootUid,
    long rootGid,
    boolean zeroed) {

  public MkfsOptions {
    featureChanges = List.copyOf(featureChanges);
  }

  public MkfsOptions withZeroed(boolean value) {
    return new MkfsOptions(
        sizeBytes,
        label,
        blockSizeBytes,
        inodeSizeBytes,
        inodesCount,
        bytesPerInode,
        journalMebibytes,
        featureChanges,
        uuid,
        hashSeed,
        time,
        reservedPercent,
        rootUid,
        rootGid,
        value);
  }

  public static Builder builder() {
    return new Builder();
  }

  /// Collects options; each setter returns the builder.
  public static final class Builder {
    private long sizeBytes;
    private String label = "";
    private int blockSizeBytes;
    private int inodeSizeBytes = 256;
    private long inodesCount;
    private long bytesPerInode;
    private long journalMebibytes;
    private final List<String> featureChanges = new ArrayList<>();
    private UUID uuid;
    private UUID hashSeed;
    private Instant time;
    private double reservedPercent = 5;
    private long rootUid;
    private long rootGid;
    private boolean zeroed;

    private Builder() {}

    public Builder sizeBytes(long value) {
      sizeBytes = value;
      return this;
    }

    public Builder label(String value) {
      label = value;
      return this;
    }

    public Builder blockSizeBytes(int value) {
      blockSizeBytes = value;
      return this;
    }

    public Builder inodeSizeBytes(int value) {
      inodeSizeBytes = value;
      return this;
    }

    public Builder inodesCount(long value) {
      inodesCount = value;
      return this;
    }

    public Builder bytesPerInode(long value) {
      bytesPerInode = value;
      return this;
    }

    public Builder journalMebibytes(long value) {
      journalMebibytes = value;
      return this;
    }

    /// Adds to the changes: one or several, separated by commas.
    public Builder features(String changes) {
      featureChanges.addAll(List.of(changes.split(",")));
      return this;
    }

    public Builder uuid(UUID value) {
      uuid = value;
      return this;
    }

    public Builder hashSeed(UUID value) {
      hashSeed = value;
      return this;
    }

    public Builder time(Instant value) {
      time = value;
      return this;
    }

    public Builder reservedPercent(double value) {
      reservedPercent = value;
      return this;
    }

    public Builder rootOwner(long uid, long gid) {
      rootUid = uid;
      rootGid = gid;
      return this;
    }

    public Builder zeroed(boolean value) {
      zeroed = value;
      return this;
    }

    public MkfsOptions build() {
      return new MkfsOptions(
          sizeBytes,
          label,
          blockSizeBytes,
          inodeSizeBytes,
          inodesCount,
          bytesPerInode,
          journalMebibytes,
          featureChanges,
          uuid,
          hashSeed,
          time,
          reservedPercent,
          rootUid,
          rootGid,
          zeroed);
    }
  }
}
