package dev.extant.mkfs;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// What to make. Everything has a default: mke2fs's for the [#type], with the features of e2fsprogs
/// 1.47. The same options on a device of the same size give the same bytes, once [#uuid],
/// [#hashSeed] and [#time] are set.
///
/// Zero means the default in `sizeBytes` (the whole device), `blockSizeBytes` (1,024 below 512 MiB,
/// else 4,096), `clusterSizeBytes` (with bigalloc 16 blocks), `inodeSizeBytes` (256),
/// `inodesCount`, `bytesPerInode` (both: by size), `journalMebibytes` (by size), `blocksPerGroup`
/// (as many as a bitmap has bits; with bigalloc these are clusters), `groupsPerFlex` (16),
/// `resizeBlocks` (1,024 times the size); null means it in `uuid`, `hashSeed` (both random) and
/// `time` (now).
///
/// `featureChanges` are as mke2fs's `-O`: `name` adds a feature, `^name` takes it away, `none`
/// takes all away; later ones win. `reservedPercent` of the blocks are kept for root. There is room
/// for the descriptors of `resizeBlocks`. `strideBlocks` and `stripeWidthBlocks` are what a RAID
/// has per disk and in all. `zeroed` says that the device reads as zeroes everywhere, so that
/// nothing need be cleared (a new sparse file).
public record MkfsOptions(
    FsType type,
    long sizeBytes,
    String label,
    int blockSizeBytes,
    int clusterSizeBytes,
    int inodeSizeBytes,
    long inodesCount,
    long bytesPerInode,
    long journalMebibytes,
    long blocksPerGroup,
    int groupsPerFlex,
    List<String> featureChanges,
    UUID uuid,
    UUID hashSeed,
    Instant time,
    double reservedPercent,
    long rootUid,
    long rootGid,
    long strideBlocks,
    long stripeWidthBlocks,
    long resizeBlocks,
    boolean zeroed) {

  private static final long SMALL_BYTES = 512L << 20;

  public MkfsOptions {
    featureChanges = List.copyOf(featureChanges);
  }

  public MkfsOptions withZeroed(boolean value) {
    return toBuilder().zeroed(value).build();
  }

  /// The block size of a file system of that size.
  public int blockSizeFor(long wholeBytes) {
    if (blockSizeBytes != 0) {
      return blockSizeBytes;
    }
    return wholeBytes < SMALL_BYTES ? 1024 : 4096;
  }

  public static Builder builder() {
    return new Builder();
  }

  /// A builder that starts with these options.
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.type = type;
    builder.sizeBytes = sizeBytes;
    builder.label = label;
    builder.blockSizeBytes = blockSizeBytes;
    builder.clusterSizeBytes = clusterSizeBytes;
    builder.inodeSizeBytes = inodeSizeBytes;
    builder.inodesCount = inodesCount;
    builder.bytesPerInode = bytesPerInode;
    builder.journalMebibytes = journalMebibytes;
    builder.blocksPerGroup = blocksPerGroup;
    builder.groupsPerFlex = groupsPerFlex;
    builder.featureChanges.addAll(featureChanges);
    builder.uuid = uuid;
    builder.hashSeed = hashSeed;
    builder.time = time;
    builder.reservedPercent = reservedPercent;
    builder.rootUid = rootUid;
    builder.rootGid = rootGid;
    builder.strideBlocks = strideBlocks;
    builder.stripeWidthBlocks = stripeWidthBlocks;
    builder.resizeBlocks = resizeBlocks;
    builder.zeroed = zeroed;
    return builder;
  }

  /// Collects options; each setter returns the builder.
  public static final class Builder {
    private FsType type = FsType.EXT4;
    private long sizeBytes;
    private String label = "";
    private int blockSizeBytes;
    private int clusterSizeBytes;
    private int inodeSizeBytes;
    private long inodesCount;
    private long bytesPerInode;
    private long journalMebibytes;
    private long blocksPerGroup;
    private int groupsPerFlex;
    private final List<String> featureChanges = new ArrayList<>();
    private UUID uuid;
    private UUID hashSeed;
    private Instant time;
    private double reservedPercent = 5;
    private long rootUid;
    private long rootGid;
    private long strideBlocks;
    private long stripeWidthBlocks;
    private long resizeBlocks;
    private boolean zeroed;

    private Builder() {}

    public Builder type(FsType value) {
      type = value;
      return this;
    }

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

    public Builder clusterSizeBytes(int value) {
      clusterSizeBytes = value;
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

    public Builder blocksPerGroup(long value) {
      blocksPerGroup = value;
      return this;
    }

    public Builder groupsPerFlex(int value) {
      groupsPerFlex = value;
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

    public Builder strideBlocks(long value) {
      strideBlocks = value;
      return this;
    }

    public Builder stripeWidthBlocks(long value) {
      stripeWidthBlocks = value;
      return this;
    }

    public Builder resizeBlocks(long value) {
      resizeBlocks = value;
      return this;
    }

    public Builder zeroed(boolean value) {
      zeroed = value;
      return this;
    }

    public MkfsOptions build() {
      return new MkfsOptions(
          type,
          sizeBytes,
          label,
          blockSizeBytes,
          clusterSizeBytes,
          inodeSizeBytes,
          inodesCount,
          bytesPerInode,
          journalMebibytes,
          blocksPerGroup,
          groupsPerFlex,
          featureChanges,
          uuid,
          hashSeed,
          time,
          reservedPercent,
          rootUid,
          rootGid,
          strideBlocks,
          stripeWidthBlocks,
          resizeBlocks,
          zeroed);
    }
  }
}
