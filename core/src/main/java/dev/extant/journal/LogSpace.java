package dev.extant.journal;

import dev.extant.journal.format.DescriptorBlock;
import dev.extant.journal.format.LogFormat;
import dev.extant.journal.format.RevokeBlock;

/// How many log blocks there are and how many a transaction needs.
final class LogSpace {
  /// So that a commit's copies stay within reasonable memory; a fourth of a usual journal.
  private static final int MAX_TRANSACTION_BLOCKS = 8192;

  private final int descriptorCapacity;
  private final int revokeCapacity;
  private final long capacity;
  private final int maxTransaction;
  private final int slack;
  private final int maxCredits;

  LogSpace(LogFormat format, long first, long end) {
    this.descriptorCapacity = DescriptorBlock.capacity(format);
    this.revokeCapacity = RevokeBlock.capacity(format);
    long length = end - first;
    // A full circle would have its head on its tail: one block stays free.
    this.capacity = length - 1;
    this.maxTransaction = (int) Math.min(length / 4, MAX_TRANSACTION_BLOCKS);
    this.slack = (int) Math.min(length / 64 + 2, 256);
    int most = maxTransaction;
    while (most > 0 && !fitsTransaction(most, 0)) {
      most--;
    }
    this.maxCredits = most;
  }

  int descriptorCapacity() {
    return descriptorCapacity;
  }

  int revokeCapacity() {
    return revokeCapacity;
  }

  /// Blocks that may be in use at once.
  long capacity() {
    return capacity;
  }

  /// The most log blocks that a transaction may take.
  int maxTransactionBlocks() {
    return maxTransaction;
  }

  /// The most credits that a transaction, and so a handle, may have.
  int maxCredits() {
    return maxCredits;
  }

  /// The exact number of log blocks for so many copies and revoke records.
  int blocks(int copies, int revokes) {
    return Math.ceilDiv(revokes, revokeCapacity)
        + copies
        + Math.ceilDiv(copies, descriptorCapacity)
        + 1;
  }

  /// What to keep free for a transaction with so many credits given out and revokes made: some more
  /// than that, for revokes to come and for handles that change more blocks than they said.
  int reserve(int credits, int revokes) {
    return blocks(credits, revokes) + slack;
  }

  boolean fitsTransaction(int credits, int revokes) {
    return reserve(credits, revokes) <= maxTransaction;
  }
}
