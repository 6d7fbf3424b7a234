package dev.extant.fsck;

/// What was counted: inodes in use by kind, and blocks.
public record FsckCounters(
    long inodesUsed,
    long inodesCount,
    long directories,
    long regularFiles,
    long symbolicLinks,
    long blocksUsed,
    long blocksCount) {
  static final FsckCounters NONE = new FsckCounters(0, 0, 0, 0, 0, 0, 0);
}
