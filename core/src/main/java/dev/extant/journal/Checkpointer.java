package dev.extant.journal;

import dev.extant.block.IoThread;
import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.cache.StagedBlocks;
import dev.extant.journal.JournalBuffer.HomeWrite;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;

/// The checkpoint thread: brings durable transactions home and frees their log blocks, when the log
/// is half full, when somebody waits for space, and when asked to.
final class Checkpointer {
  private static final int BATCH_BLOCKS = 1024;

  private record Entry(Transaction transaction, JournalBuffer buffer) {}

  private final Transactions transactions;
  private final JournalCounters counters;
  private final LogTail tail;
  private final BufferCache cache;
  private final StagedBlocks home;
  private final IoThread thread;

  /// Held while copies are on their way home.
  private final ReentrantLock homeLock = new ReentrantLock();

  /// Those who want everything brought home; guarded by the state lock.
  private final ArrayDeque<CompletableFuture<Void>> requests = new ArrayDeque<>();

  Checkpointer(
      Transactions transactions,
      JournalCounters counters,
      String name,
      LogTail tail,
      BufferCache cache,
      StagedBlocks home) {
    this.transactions = transactions;
    this.counters = counters;
    this.tail = tail;
    this.cache = cache;
    this.home = home;
    this.thread = new IoThread("extant-checkpoint-" + name, this::run);
  }

  IoThread thread() {
    return thread;
  }

  /// Commits what is running now, brings everything committed home, and marks the log empty if it
  /// is.
  CompletableFuture<Void> request() {
    CompletableFuture<Void> request = new CompletableFuture<>();
    transactions.lock.lock();
    try {
      Throwable cause = transactions.abortCause();
      if (cause != null) {
        request.completeExceptionally(new JournalAbortedException(cause));
      } else if (transactions.stopping()) {
        request.completeExceptionally(new IOException("the journal is closed"));
      } else {
        requests.add(request);
        transactions.checkpointWork.signal();
      }
    } finally {
      transactions.lock.unlock();
    }
    return request;
  }

  /// Waits until every copy that is on its way home now has arrived.
  void awaitHomeWrites() {
    homeLock.lock();
    homeLock.unlock();
  }

  /// The block of this buffer is free, durably: what is in memory of it is of no use.
  void freed(Buffer buffer) {
    cache.forgetIfUnused(buffer);
  }

  private void run() {
    try {
      while (awaitWork()) {
        CompletableFuture<Void> request = pollRequest();
        if (request != null) {
          serve(request);
        } else {
          reduce(Long.MAX_VALUE, transactions.capacity() / 4);
        }
      }
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      transactions.abort(e);
    }
    for (var request = pollRequest(); request != null; request = pollRequest()) {
      request.completeExceptionally(new JournalAbortedException(transactions.abortCause()));
    }
  }

  /// False when there is nothing to be done any more.
  private boolean awaitWork() throws InterruptedException {
    transactions.lock.lock();
    try {
      while (transactions.abortCause() == null) {
        if (!requests.isEmpty() || transactions.checkpointDue()) {
          return true;
        }
        if (transactions.stopping()) {
          return false;
        }
        transactions.checkpointWork.await();
      }
      return false;
    } finally {
      transactions.lock.unlock();
    }
  }

  private CompletableFuture<Void> pollRequest() {
    transactions.lock.lock();
    try {
      return requests.poll();
    } finally {
      transactions.lock.unlock();
    }
  }

  private void serve(CompletableFuture<Void> request) throws IOException {
    try {
      long newest = transactions.newestTid();
      awaitCommit(newest);
      reduce(newest, 0);
      tail.markEmpty();
    } catch (IOException | RuntimeException | Error e) {
      transactions.abort(e);
      request.completeExceptionally(new JournalAbortedException(transactions.abortCause()));
      throw e;
    }
    request.complete(null);
  }

  private void awaitCommit(long tid) throws IOException {
    try {
      transactions.commitNow(tid).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /// Brings transactions up to `newest` home, oldest first, until at most `goal` log blocks are in
  /// use.
  private void reduce(long newest, long goal) throws IOException {
    while (true) {
      tail.move();
      List<Transaction> business = transactions.unfinishedBusiness(newest);
      if (transactions.used() <= goal || business.isEmpty()) {
        break;
      }
      long blockingTid = writeBatch(business);
      if (blockingTid != 0) {
        awaitCommit(blockingTid);
      }
    }
    transactions.lock.lock();
    try {
      counters.checkpoints++;
    } finally {
      transactions.lock.unlock();
    }
  }

  /// Writes some blocks of these transactions home. If there are none that may go home now, returns
  /// the tid whose commit would change that; else 0.
  private long writeBatch(List<Transaction> business) throws IOException {
    List<Entry> batch = new ArrayList<>();
    long blockingTid = 0;
    homeLock.lock();
    try {
      for (Transaction transaction : business) {
        blockingTid = Math.max(blockingTid, collect(transaction, batch));
        if (batch.size() >= BATCH_BLOCKS) {
          break;
        }
      }
      boolean arrived = false;
      try {
        transactions.checkAlive();
        home.write();
        arrived = true;
      } finally {
        for (Entry entry : batch) {
          entry.buffer.endWriteHome(entry.transaction, arrived);
        }
      }
    } finally {
      homeLock.unlock();
    }
    transactions.lock.lock();
    try {
      counters.blocksCheckpointed += batch.size();
    } finally {
      transactions.lock.unlock();
    }
    return batch.isEmpty() ? blockingTid : 0;
  }

  /// Takes copies of the transaction's blocks that may go home, into `batch`; the transaction keeps
  /// the others. Returns the newest tid that keeps one back; 0 if none.
  private long collect(Transaction transaction, List<Entry> batch) {
    List<JournalBuffer> kept = new ArrayList<>();
    long blockingTid = 0;
    for (JournalBuffer buffer : transaction.entries) {
      HomeWrite found =
          batch.size() >= BATCH_BLOCKS
              ? HomeWrite.BLOCKED
              : buffer.beginWriteHome(transaction, home);
      switch (found) {
        case STARTED -> batch.add(new Entry(transaction, buffer));
        case BLOCKED -> {
          kept.add(buffer);
          blockingTid = Math.max(blockingTid, buffer.blockingTid());
        }
        case NOT_NEEDED -> {}
      }
    }
    transaction.entries = kept;
    return blockingTid;
  }
}
