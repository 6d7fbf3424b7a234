package dev.extant.journal;

/// For each revoked block the last transaction that revoked it. Open addressing over primitives: a
/// log has room for hundreds of records per block.
final class RevokeTable {
  private static final int EMPTY_SLOT = 0;

  private long[] blockNrs = new long[64];

  /// Transactions counted from the first of the log, plus one, so that 0 marks an empty slot.
  private int[] transactions = new int[64];

  private int size;

  /// `transaction` counts from 0 and must not be smaller than in an earlier call.
  void revoke(long blockNr, int transaction) {
    if (size * 2 >= blockNrs.length) {
      grow();
    }
    int slot = slot(blockNr);
    if (transactions[slot] == EMPTY_SLOT) {
      blockNrs[slot] = blockNr;
      size++;
    }
    transactions[slot] = transaction + 1;
  }

  /// True if a copy in `transaction` must not be replayed.
  boolean revoked(long blockNr, int transaction) {
    return transactions[slot(blockNr)] > transaction;
  }

  private int slot(long blockNr) {
    int mask = blockNrs.length - 1;
    int slot = (int) (blockNr * 0x9E3779B97F4A7C15L >>> 32) & mask;
    while (transactions[slot] != EMPTY_SLOT && blockNrs[slot] != blockNr) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldNrs = blockNrs;
    int[] oldTransactions = transactions;
    blockNrs = new long[oldNrs.length * 2];
    transactions = new int[oldNrs.length * 2];
    for (int i = 0; i < oldNrs.length; i++) {
      if (oldTransactions[i] != EMPTY_SLOT) {
        int slot = slot(oldNrs[i]);
        blockNrs[slot] = oldNrs[i];
        transactions[slot] = oldTransactions[i];
      }
    }
  }
}
