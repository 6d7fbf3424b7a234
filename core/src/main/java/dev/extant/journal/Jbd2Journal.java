package dev.extant.journal;

import dev.extant.cache.BufferCache;
import dev.extant.cache.StagedBlocks;
import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.journal.format.LogFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;

/// A journal in jbd2's format.
///
/// ## Definitions
///
/// *Log*: the circle of journal blocks from the journal superblock's `s_first` on. *Tail*: the log
/// block where replay would begin. *Head*: where the next transaction will be written. *Home*: a
/// block's own place in the file system. *Durable*: survives a power cut; a transaction is durable
/// once its commit block is.
///
/// There is at most one *running* transaction, which handles join, and one *committing*; those
/// before are durable, and kept in memory until they are *checkpointed*, that is until each of
/// their blocks is at home or in a newer durable transaction. States: see [Transaction]; of a
/// buffer: see [JournalBuffer].
///
/// ## Invariants (numbers of the design)
///
/// - **I1** log before home. A buffer is dirty, and may be written home, only from the end of the
///   commit that logged it ([JournalBuffer#endCommitLogged]) and while no newer transaction has it.
///   The log blocks of a transaction are used again only after its blocks are home, the device was
///   flushed, and the moved tail is durable ([LogTail#move]).
/// - **I2** ordered data before the commit block: it is written first, and the flush before the
///   commit block covers it.
/// - **I3** a revoked block is not replayed over its reuse. [Handle#forget] always revokes, whether
///   or not a copy is known to be in the log, since a checkpointed copy is still in it. A block
///   that is logged again in the same transaction is not revoked by it.
/// - **I4** a freed block is not reused for data before the freeing is durable: kept by the caller,
///   with [CommitListener]. The journal sees to it that by then nothing is on its way home to such
///   a block.
/// - **I5** what is in flight does not change: log and home writes are made from copies. Those for
///   the log are taken while no handle is open, right after sealing, which has the bytes in the
///   processor's cache anyway; so no handle ever meets a block of the committing transaction that
///   is still needed.
/// - **I6** a waiter is told only after the commit block was written with FUA.
/// - **I7** the first fatal error aborts the journal and reaches every waiter, later call and
///   commit; a failed flush is not retried.
/// - **I8** a buffer in a transaction has an attachment, one that must go home is dirty as well;
///   the cache evicts neither.
///
/// ## Threads and locks
///
/// `extant-commit-NAME` ([Committer]) and `extant-checkpoint-NAME` ([Checkpointer]). Locks in
/// order: the checkpointer's home lock, [LogTail]'s header lock, the state lock of [Transactions];
/// a [JournalBuffer]'s monitor is a leaf, except that a cache stripe may be locked inside it.
/// Callers only ever wait in [#start] and on futures, and are not disturbed by interrupts there.
public final class Jbd2Journal implements Journal {
  private static final int LEAST_CREDITS = 8;

  private final BufferCache cache;
  private final LogSpace space;
  private final JournalCounters counters;
  private final Transactions transactions;
  private final LogImage image;
  private final StagedBlocks home;
  private final Checkpointer checkpointer;
  private final Committer committer;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Jbd2Journal(
      JournalPlace place, BufferCache cache, JournalOptions options, LogHeader header) {
    this.cache = cache;
    LogFormat format = header.format();
    this.space = new LogSpace(format, header.first(), header.end());
    long firstTid = JournalSuperblock.sequence(header.bytes()) + 1;
    this.counters = new JournalCounters(space.maxTransactionBlocks());
    CommitTiming timing = new CommitTiming(options.batching(), counters);
    this.transactions = new Transactions(place.name(), space, counters, timing, header, firstTid);
    this.image = new LogImage(format, space);
    this.home = new StagedBlocks(place.queue(), place.blockSizeBytes());
    LogTail tail = new LogTail(header, transactions, options.barrier());
    this.checkpointer = new Checkpointer(transactions, counters, options.name(), tail, cache, home);
    this.committer =
        new Committer(transactions, timing, options, header, tail, image, checkpointer);
  }

  /// Opens a journal whose log is empty ([Recovery] comes first). Nothing is written before the
  /// first commit.
  public static Jbd2Journal open(JournalPlace place, BufferCache cache, JournalOptions options)
      throws IOException {
    LogHeader header = LogHeader.read(place);
    if (JournalSuperblock.start(header.bytes()) != 0) {
      throw new JournalException(
          Kind.CORRUPT, place.name() + ": the journal has to be recovered before it is used");
    }
    chooseFeatures(header.bytes(), options);
    Jbd2Journal journal = new Jbd2Journal(place, cache, options, header);
    if (journal.maxCredits() < LEAST_CREDITS) {
      journal.freeMemory();
      throw new JournalException(
          Kind.TOO_SMALL, place.name() + ": the journal is too small to be written to");
    }
    journal.committer.thread().start();
    journal.checkpointer.thread().start();
    return journal;
  }

  /// Since the log is empty its format may be chosen. The features become durable before the first
  /// transaction, with the start of the log.
  private static void chooseFeatures(MemorySegment superblock, JournalOptions options) {
    if (JournalSuperblock.version(superblock) == 1) {
      JournalSuperblock.upgrade(superblock);
    }
    long incompat = JournalSuperblock.incompat(superblock) | JournalSuperblock.INCOMPAT_REVOKE;
    incompat &= ~JournalSuperblock.INCOMPAT_FAST_COMMIT;
    incompat &= ~JournalSuperblock.INCOMPAT_ASYNC_COMMIT;
    if (options.wide()) {
      incompat |= JournalSuperblock.INCOMPAT_64BIT;
    }
    if (options.checksums()) {
      incompat &= ~JournalSuperblock.INCOMPAT_CSUM_V2;
      incompat |= JournalSuperblock.INCOMPAT_CSUM_V3;
    }
    JournalSuperblock.incompat(superblock, incompat);
    long compat = JournalSuperblock.compat(superblock);
    JournalSuperblock.compat(superblock, compat & ~JournalSuperblock.COMPAT_CHECKSUM);
  }

  @Override
  public Handle start(int credits) throws IOException {
    return new Jbd2Handle(transactions, cache, transactions.join(credits), credits);
  }

  @Override
  public boolean atomic() {
    return true;
  }

  @Override
  public int maxCredits() {
    return space.maxCredits();
  }

  @Override
  public CompletableFuture<Void> commit(long tid, long syncer) {
    return transactions.commit(tid, syncer);
  }

  @Override
  public CompletableFuture<Void> commitRunning() {
    return transactions.commitNow(transactions.newestTid());
  }

  @Override
  public boolean coversWrites(long tid) {
    return transactions.flushAhead(tid);
  }

  @Override
  public boolean committed(long tid) {
    return transactions.committed(tid);
  }

  @Override
  public void addCommitListener(CommitListener listener) {
    committer.addListener(listener);
  }

  @Override
  public void abort(Throwable cause) {
    transactions.abort(cause);
  }

  @Override
  public Throwable abortCause() {
    return transactions.abortCause();
  }

  public JournalStatistics statistics() {
    transactions.lock.lock();
    try {
      return counters.snapshot();
    } finally {
      transactions.lock.unlock();
    }
  }

  @Override
  public void checkpoint() throws IOException {
    try {
      checkpointer.request().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    if (closed.getAndSet(true)) {
      return;
    }
    try {
      if (abortCause() == null) {
        checkpoint();
      }
    } finally {
      transactions.stop();
      join(checkpointer.thread());
      join(committer.thread());
      freeMemory();
    }
  }

  private void freeMemory() {
    image.close();
    home.close();
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
