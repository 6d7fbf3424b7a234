package dev.extant.vfs;

/// What statfs(2) tells. `availableBlocks` leaves out those reserved for root.
public record VolumeStatistics(
    int blockSizeBytes,
    long totalBlocks,
    long freeBlocks,
    long availableBlocks,
    long totalInodes,
    long freeInodes,
    String label,
    String uuid) {}
