package dev.extant.journal;

import dev.extant.block.RequestQueue;

/// Everything needed to find a journal: the device's queue, the journal's blocks on it, and the
/// file system's block size and block count, outside of which nothing is replayed.
public record JournalPlace(
    RequestQueue queue, JournalLocation location, int blockSizeBytes, long fileSystemBlocks) {
  String name() {
    return queue.device().name();
  }
}
