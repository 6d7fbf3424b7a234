package dev.extant.journal;

import dev.extant.block.IoThread;
import dev.extant.journal.Transaction.State;
import dev.extant.util.DurabilityFuture;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/// The commit thread: takes the running transaction when it is due and makes it durable.
final class Committer {
  private final Transactions transactions;
  private final CommitTiming timing;
  private final JournalOptions options;
  private final LogHeader header;
  private final LogTail tail;
  private final LogImage image;
  private final Checkpointer checkpointer;
  private final List<CommitListener> listeners = new CopyOnWriteArrayList<>();
  private final IoThread thread;

  Committer(
      Transactions transactions,
      CommitTiming timing,
      JournalOptions options,
      LogHeader header,
      LogTail tail,
      LogImage image,
      Checkpointer checkpointer) {
    this.transactions = transactions;
    this.timing = timing;
    this.options = options;
    this.header = header;
    this.tail = tail;
    this.image = image;
    this.checkpointer = checkpointer;
    this.thread = new IoThread("extant-commit-" + options.name(), this::run);
  }

  IoThread thread() {
    return thread;
  }

  void addListener(CommitListener listener) {
    listeners.add(listener);
  }

  private void run() {
    try {
      for (Transaction due = nextDue(); due != null; due = nextDue()) {
        commit(due);
      }
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      transactions.abort(e);
    }
    Throwable cause = transactions.abortCause();
    if (cause != null) {
      tail.recordAbort(cause);
    }
  }

  /// Waits until a transaction is due; null when the journal was aborted or stopped.
  private Transaction nextDue() throws InterruptedException {
    transactions.lock.lock();
    try {
      while (transactions.abortCause() == null) {
        Transaction running = transactions.running();
        if (running == null) {
          if (transactions.stopping()) {
            return null;
          }
          transactions.commitWork.await();
          continue;
        }
        long waitNanos = waitNanos(running);
        if (waitNanos <= 0 || transactions.stopping()) {
          return running;
        }
        transactions.commitWork.awaitNanos(waitNanos);
      }
      return null;
    } finally {
      transactions.lock.unlock();
    }
  }

  private long waitNanos(Transaction running) {
    long now = System.nanoTime();
    long age = now - running.startNanos;
    if (running.urgent) {
      return 0;
    }
    if (running.requested) {
      return timing.waitNanos(running, now);
    }
    int interval = options.commitIntervalSeconds();
    return interval == 0 ? Long.MAX_VALUE : TimeUnit.SECONDS.toNanos(interval) - age;
  }

  private void commit(Transaction transaction) throws IOException, InterruptedException {
    // Locked: no handle is open, nothing of the transaction changes any more. The next transaction
    // begins once everything is copied.
    transactions.lockAndDrain(transaction);
    seal(transaction);
    long[] revokes = transaction.revokes.sorted();
    image.begin(revokes);
    List<JournalBuffer> forgotten = copy(transaction);
    transactions.allocate(transaction, image.blockCount());

    // Flush: the data that the metadata will point to (I2).
    for (OrderedData data : transaction.ordered) {
      data.writeOrdered();
    }

    // Commit: everything but the commit block, durably; then the commit block, durably.
    final long flushedNanos = System.nanoTime();
    transactions.enter(transaction, State.COMMIT);
    image.complete(transaction.tid(), options.clock().instant());
    transactions.checkAlive();
    tail.ensureStarted(transaction);
    image.write(header.log(), header.first(), header.end(), transaction.startBlock);
    if (options.barrier()) {
      header.log().flush();
    }
    transactions.checkAlive();
    header.log().writeBlock(commitBlockNr(transaction), image.commitBlock(), options.barrier());

    // Finished: it may go home now (I1).
    CommitTimes times = times(transaction, flushedNanos, System.nanoTime());
    finish(transaction, forgotten);
    for (DurabilityFuture<Void> waiter : transactions.finish(transaction, times, revokes.length)) {
      waiter.complete(null);
    }
  }

  private static CommitTimes times(Transaction transaction, long flushedNanos, long loggedNanos) {
    return new CommitTimes(
        transaction.requested ? transaction.lockedNanos - transaction.requestedNanos : 0,
        transaction.lockedNanos - transaction.startNanos,
        transaction.drainedNanos - transaction.lockedNanos,
        flushedNanos - transaction.drainedNanos,
        loggedNanos - flushedNanos);
  }

  private long commitBlockNr(Transaction transaction) {
    long at = transaction.startBlock + transaction.blockCount - 1;
    return at >= header.end() ? at - header.end() + header.first() : at;
  }

  private static void seal(Transaction transaction) {
    record Job(JournalBuffer buffer, Sealer sealer) {}
    List<Job> jobs = new ArrayList<>();
    for (JournalBuffer buffer : transaction.joined) {
      Sealer sealer = buffer.sealer();
      if (sealer != null) {
        jobs.add(new Job(buffer, sealer));
      }
    }
    jobs.sort(Comparator.comparingInt(job -> job.sealer.rank()));
    for (Job job : jobs) {
      job.sealer.seal(job.buffer.buffer);
    }
  }

  /// Copies what is to be logged; returns the buffers of freed blocks.
  private List<JournalBuffer> copy(Transaction transaction) {
    List<JournalBuffer> forgotten = new ArrayList<>();
    for (JournalBuffer buffer : transaction.joined) {
      switch (buffer.beginCommit()) {
        case LOG -> {
          image.add(buffer.buffer.blockNr(), buffer.buffer.data());
          transaction.entries.add(buffer);
        }
        case FORGET -> forgotten.add(buffer);
        case UNCHANGED -> {}
      }
    }
    return forgotten;
  }

  private void finish(Transaction transaction, List<JournalBuffer> forgotten) {
    transaction.entryCount(transaction.entries.size());
    for (JournalBuffer buffer : transaction.entries) {
      buffer.endCommitLogged();
    }
    for (JournalBuffer buffer : forgotten) {
      while (!buffer.endCommitForgotten()) {
        // Its block may be used for data as soon as we say that the transaction is durable; what is
        // under way to it must have arrived by then.
        checkpointer.awaitHomeWrites();
      }
      checkpointer.freed(buffer.buffer);
    }
    transaction.joined.clear();
    transaction.ordered.clear();
    // Before anybody can know that it is durable: who looks again then for what it gave back must
    // find it.
    for (CommitListener listener : listeners) {
      listener.committed(transaction.tid());
    }
  }
}
