package dev.extant.journal;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// A handle of [Jbd2Journal]. Used by one thread; what it touched becomes known to its transaction
/// when it is closed, which is early enough since the transaction cannot be committed before.
final class Jbd2Handle implements Handle {
  private final Transactions transactions;
  private final BufferCache cache;
  private final Transaction transaction;
  private final List<JournalBuffer> joined = new ArrayList<>();
  private final List<OrderedData> ordered = new ArrayList<>(2);
  private int creditsLeft;
  private int revokes;
  private boolean closed;

  Jbd2Handle(Transactions transactions, BufferCache cache, Transaction transaction, int credits) {
    this.transactions = transactions;
    this.cache = cache;
    this.transaction = transaction;
    this.creditsLeft = credits;
  }

  @Override
  public long tid() {
    return transaction.tid();
  }

  @Override
  public void writeAccess(Buffer buffer) throws IOException {
    checkOpen();
    transactions.checkAlive();
    if (join(buffer) == JournalBuffer.Joined.NEWLY) {
      creditsLeft--;
    }
    transaction.revokes.cancel(buffer.blockNr());
  }

  @Override
  public void createAccess(Buffer buffer) throws IOException {
    writeAccess(buffer);
  }

  private JournalBuffer.Joined join(Buffer buffer) {
    while (true) {
      JournalBuffer state = JournalBuffer.of(buffer);
      JournalBuffer.Joined result = state.join(transaction);
      if (result == JournalBuffer.Joined.NEWLY) {
        joined.add(state);
      }
      if (result != JournalBuffer.Joined.DETACHED) {
        return result;
      }
    }
  }

  @Override
  public void dirty(Buffer buffer, Sealer sealer) {
    checkOpen();
    if (!(buffer.attachment() instanceof JournalBuffer state)) {
      throw new IllegalStateException(
          "block " + buffer.blockNr() + " was changed without write access");
    }
    state.modified(transaction, sealer);
  }

  @Override
  public void forget(long blockNr, Buffer buffer) {
    checkOpen();
    if (buffer != null) {
      drop(buffer);
    } else {
      try (Buffer cached = cache.peek(blockNr)) {
        if (cached != null) {
          drop(cached);
        }
      }
    }
    transaction.revokes.add(blockNr);
    revokes++;
  }

  private void drop(Buffer buffer) {
    if (buffer.attachment() == null && !buffer.dirty()) {
      cache.forget(buffer.blockNr());
      return;
    }
    // In the transaction even if it has nothing to log of it: until the freeing is durable the
    // older
    // copy must neither go home nor be given up.
    join(buffer);
    ((JournalBuffer) buffer.attachment()).forgotten();
  }

  @Override
  public void orderedData(OrderedData data) {
    checkOpen();
    ordered.add(data);
  }

  @Override
  public boolean extend(int credits) {
    checkOpen();
    if (!transactions.extend(transaction, credits)) {
      return false;
    }
    creditsLeft += credits;
    return true;
  }

  @Override
  public int creditsLeft() {
    return creditsLeft - transactions.revokeBlocks(revokes);
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("handle of transaction " + tid() + " is closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      transactions.leave(transaction, joined, ordered, creditsLeft);
    }
  }
}
