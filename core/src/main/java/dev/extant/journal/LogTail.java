package dev.extant.journal;

import dev.extant.block.DeviceException;
import dev.extant.journal.format.JournalSuperblock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/// The journal superblock of a running journal: where the log begins, durably.
///
/// Orders that matter: what was brought home is flushed before the tail moves over the log blocks
/// that could have brought it home again; the tail is durable before these blocks are used again;
/// an empty log is said to have begun before its first commit block can be durable.
final class LogTail {
  private static final int EIO = 5;

  private final LogHeader header;
  private final Transactions transactions;
  private final boolean barrier;

  /// Guards the header, also while it is written. Taken before the state lock, and only by the
  /// journal's own threads.
  private final ReentrantLock headerLock = new ReentrantLock();

  LogTail(LogHeader header, Transactions transactions, boolean barrier) {
    this.header = header;
    this.transactions = transactions;
    this.barrier = barrier;
  }

  /// Called when blocks of the log were allocated to `transaction`, before its commit block is
  /// written and the flush before that.
  void ensureStarted(Transaction transaction) throws IOException {
    headerLock.lock();
    try {
      if (JournalSuperblock.start(header.bytes()) == 0) {
        begin(transaction.startBlock, transaction.tid());
        header.write(false);
      }
    } finally {
      headerLock.unlock();
    }
  }

  private void begin(long logBlock, long tid) {
    MemorySegment superblock = header.bytes();
    JournalSuperblock.start(superblock, logBlock);
    JournalSuperblock.sequence(superblock, tid);
  }

  /// Frees the log blocks of transactions that are at home.
  void move() throws IOException {
    headerLock.lock();
    try {
      Transactions.Tail tail = transactions.tail();
      if (tail.freeable() > 0) {
        transactions.checkAlive();
        flush();
        begin(tail.logBlock(), tail.tid());
        header.write(barrier);
        transactions.release(tail);
      }
    } finally {
      headerLock.unlock();
    }
  }

  /// Says that the log is empty, if it is.
  void markEmpty() throws IOException {
    headerLock.lock();
    try {
      boolean said = JournalSuperblock.start(header.bytes()) == 0;
      if (!said && transactions.used() == 0) {
        transactions.checkAlive();
        flush();
        begin(0, transactions.tail().tid());
        header.write(barrier);
        flush();
      }
    } finally {
      headerLock.unlock();
    }
  }

  private void flush() throws IOException {
    if (barrier) {
      header.log().flush();
    }
  }

  /// Leaves a note of the abort for the next mount, unless the device belongs to somebody else now.
  void recordAbort(Throwable cause) {
    for (Throwable at = cause; at != null; at = at.getCause()) {
      if (at instanceof DeviceException e && e.kind() == DeviceException.Kind.FENCED) {
        return;
      }
    }
    headerLock.lock();
    try {
      JournalSuperblock.errno(header.bytes(), -EIO);
      header.write(barrier);
    } catch (IOException e) {
      // The device that failed takes no note either; the first cause is the one that is told.
      cause.addSuppressed(e);
    } finally {
      headerLock.unlock();
    }
  }
}
