package dev.extant.journal;

import dev.extant.cache.StagedBlocks;
import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.LogWalker.End;
import dev.extant.journal.format.BlockTag;
import dev.extant.journal.format.FastCommitArea;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.journal.format.RevokeBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Brings the transactions that a journal holds home, in three passes over the log: *scan* finds
/// its end (the first transaction that is not whole), *revoke* collects which blocks were freed
/// later, and *replay* writes the copies that were not.
///
/// It changes nothing in the journal, so it may be repeated at any time until [#markEmpty] says
/// that what it wrote is durable. The order is: replay, flush (both in [#replay]), then mark empty.
public final class Recovery {
  private static final int BATCH_BLOCKS = 2048;

  private final LogHeader header;
  private final LogWalker walker;
  private final long firstTid;
  private final RevokeTable revokes = new RevokeTable();
  private long transactions;
  private long nextTid;
  private long blocksReplayed;
  private long revokeHits;
  private String damage;
  private String fastCommits;

  private Recovery(LogHeader header) {
    this.header = header;
    this.walker = new LogWalker(header);
    this.firstTid = JournalSuperblock.sequence(header.bytes());
  }

  /// What [#replay] would find; writes nothing. `blocksReplayed` and `revokeHits` are 0.
  public static RecoveryReport inspect(JournalPlace place) throws IOException {
    Recovery recovery = new Recovery(LogHeader.read(place));
    recovery.scan();
    return recovery.report();
  }

  /// Replays the journal and makes the result durable.
  public static RecoveryReport replay(JournalPlace place) throws IOException {
    Recovery recovery = new Recovery(LogHeader.read(place));
    recovery.scan();
    if (recovery.transactions > 0) {
      recovery.collectRevokes();
      recovery.writeHome();
    }
    // Also if nothing was written now: an earlier replay may have been cut before its flush.
    if (recovery.needed()) {
      place.queue().flush();
    }
    return recovery.report();
  }

  /// Says in the journal superblock, durably, that the log is empty; to be called when what
  /// [#replay] brought home is durable and has been taken over. The recorded error is kept unless
  /// `clearErrno`.
  public static void markEmpty(JournalPlace place, RecoveryReport report, boolean clearErrno)
      throws IOException {
    LogHeader header = LogHeader.read(place);
    MemorySegment superblock = header.bytes();
    JournalSuperblock.start(superblock, 0);
    JournalSuperblock.sequence(superblock, report.nextTid());
    if (clearErrno) {
      JournalSuperblock.errno(superblock, 0);
    }
    header.write(true);
    // A device without FUA of its own may order the block only by a flush.
    place.queue().flush();
  }

  private boolean needed() {
    return JournalSuperblock.start(header.bytes()) != 0;
  }

  private RecoveryReport report() {
    boolean any = transactions > 0;
    return new RecoveryReport(
        needed(),
        transactions,
        blocksReplayed,
        revokeHits,
        any ? firstTid : 0,
        any ? firstTid + transactions - 1 : 0,
        JournalSuperblock.errno(header.bytes()),
        nextTid,
        damage,
        fastCommits);
  }

  private void scan() throws IOException {
    if (!needed()) {
      nextTid = firstTid;
      findFastCommits(firstTid);
      return;
    }
    long at = JournalSuperblock.start(header.bytes());
    long left = header.end() - header.first();
    LogWalker.Result result = walk(at, true, false, left, new Ignore());
    while (result.end() == End.WHOLE) {
      if (result.badTarget() != null) {
        throw result.badTarget();
      }
      transactions++;
      left -= result.blockCount();
      at = result.nextBlock();
      result = walk(at, true, false, left, new Ignore());
    }
    long endTid = firstTid + transactions;
    findFastCommits(endTid);
    // What follows the end may be blocks of later transactions, if one was lost in the middle. Each
    // had
    // at least one block of the log, so none is as far ahead as the log is long.
    nextTid = endTid + header.end() - header.first() + 1;
    if (result.end() == End.DAMAGED) {
      damage =
          header.log().name()
              + ": transaction "
              + endTid
              + " of the journal is damaged, and it and what followed it are lost: "
              + result.why();
    }
  }

  private LogWalker.Result walk(
      long at, boolean verify, boolean data, long left, LogVisitor visitor) throws IOException {
    return walker.walk(at, firstTid + transactions, verify, data, left, visitor);
  }

  private void findFastCommits(long tid) throws IOException {
    // One block between the log and the area is used by neither.
    long area = header.end() + 1;
    if (!header.fastCommits() || area >= JournalSuperblock.lengthBlocks(header.bytes())) {
      return;
    }
    MemorySegment block = Arena.ofAuto().allocate(header.log().blockSizeBytes(), 8);
    header.log().read(area, block);
    if (FastCommitArea.belongsTo(block, tid)) {
      fastCommits =
          header.log().name()
              + ": the journal holds fast commits, which are not replayed here, since the feature"
              + " fast_commit is not supported; mount the image with Linux once";
    }
  }

  /// Goes over the transactions that the scan found whole.
  private void again(boolean data, TransactionVisitor visitor) throws IOException {
    long at = JournalSuperblock.start(header.bytes());
    long left = header.end() - header.first();
    for (int i = 0; i < transactions; i++) {
      visitor.transaction = i;
      LogWalker.Result result = walker.walk(at, firstTid + i, false, data, left, visitor);
      if (result.end() != End.WHOLE) {
        throw new JournalException(
            Kind.CORRUPT, header.log().name() + ": the journal changed while it was replayed");
      }
      at = result.nextBlock();
    }
  }

  private void collectRevokes() throws IOException {
    again(
        false,
        new TransactionVisitor() {
          @Override
          public void revoke(MemorySegment block) {
            int count = RevokeBlock.count(walker.format(), block);
            for (int i = 0; i < count; i++) {
              revokes.revoke(RevokeBlock.blockNr(walker.format(), block, i), transaction);
            }
          }
        });
  }

  private void writeHome() throws IOException {
    JournalPlace place = header.log().place();
    try (StagedBlocks home = new StagedBlocks(place.queue(), place.blockSizeBytes())) {
      again(
          true,
          new TransactionVisitor() {
            @Override
            public void copy(BlockTag tag, long logBlock, MemorySegment bytes) throws IOException {
              if (tag.deleted()) {
                return;
              }
              if (revokes.revoked(tag.blockNr(), transaction)) {
                revokeHits++;
                return;
              }
              home.add(tag.blockNr(), bytes);
              if (tag.escaped()) {
                BlockTag.unescape(home.copy(home.count() - 1));
              }
              blocksReplayed++;
              if (home.count() == BATCH_BLOCKS) {
                home.write();
              }
            }
          });
      home.write();
    }
  }

  private static final class Ignore implements LogVisitor {
    @Override
    public void revoke(MemorySegment block) {}

    @Override
    public void copy(BlockTag tag, long logBlock, MemorySegment bytes) {}
  }

  private abstract static class TransactionVisitor implements LogVisitor {
    int transaction;

    @Override
    public void revoke(MemorySegment block) {}

    @Override
    public void copy(BlockTag tag, long logBlock, MemorySegment bytes) throws IOException {}
  }
}
