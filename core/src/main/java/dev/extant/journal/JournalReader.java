package dev.extant.journal;

import dev.extant.journal.LoggedTransaction.LoggedBlock;
import dev.extant.journal.LoggedTransaction.State;
import dev.extant.journal.format.BlockTag;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.journal.format.LogFormat;
import dev.extant.journal.format.RevokeBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/// Shows what is in a journal, without changing anything.
public final class JournalReader {
  private final LogHeader header;
  private final LogWalker walker;

  private JournalReader(LogHeader header) {
    this.header = header;
    this.walker = new LogWalker(header);
  }

  /// Fails with a [JournalException] if the journal superblock cannot be right.
  public static JournalReader open(JournalPlace place) throws IOException {
    return new JournalReader(LogHeader.read(place));
  }

  public JournalInfo info() {
    MemorySegment superblock = header.bytes();
    ByteBuffer uuid = ByteBuffer.wrap(JournalSuperblock.uuid(superblock));
    return new JournalInfo(
        JournalSuperblock.version(superblock),
        features(superblock),
        header.log().blockSizeBytes(),
        JournalSuperblock.lengthBlocks(superblock),
        header.first(),
        JournalSuperblock.start(superblock),
        JournalSuperblock.sequence(superblock),
        JournalSuperblock.errno(superblock),
        new UUID(uuid.getLong(), uuid.getLong()));
  }

  private static List<String> features(MemorySegment superblock) {
    List<String> names = new ArrayList<>();
    if ((JournalSuperblock.compat(superblock) & JournalSuperblock.COMPAT_CHECKSUM) != 0) {
      names.add("journal_checksum");
    }
    String[] incompat = {
      "journal_incompat_revoke",
      "journal_64bit",
      "journal_async_commit",
      "journal_checksum_v2",
      "journal_checksum_v3",
      "fast_commit"
    };
    for (int bit = 0; bit < incompat.length; bit++) {
      if ((JournalSuperblock.incompat(superblock) >> bit & 1) != 0) {
        names.add(incompat[bit]);
      }
    }
    return names;
  }

  /// Gives the consumer each transaction that is in the log, oldest first; the last may be one that
  /// is not whole.
  public void forEachTransaction(Consumer<LoggedTransaction> consumer) throws IOException {
    long at = JournalSuperblock.start(header.bytes());
    long tid = JournalSuperblock.sequence(header.bytes());
    long left = at == 0 ? 0 : header.end() - header.first();
    while (left > 0) {
      Collector collector = new Collector(walker.format(), (int) tid);
      LogWalker.Result result = walker.walk(at, tid, true, true, left, collector);
      if (result.end() == LogWalker.End.ABSENT) {
        return;
      }
      consumer.accept(collector.transaction(tid, at, result));
      if (result.end() != LogWalker.End.WHOLE) {
        return;
      }
      at = result.nextBlock();
      left -= result.blockCount();
      tid++;
    }
  }

  private static final class Collector implements LogVisitor {
    private final LogFormat format;
    private final int sequence;
    private final List<LoggedBlock> blocks = new ArrayList<>();
    private final List<Long> revokes = new ArrayList<>();

    Collector(LogFormat format, int sequence) {
      this.format = format;
      this.sequence = sequence;
    }

    @Override
    public void revoke(MemorySegment block) {
      int count = RevokeBlock.count(format, block);
      for (int i = 0; i < count; i++) {
        revokes.add(RevokeBlock.blockNr(format, block, i));
      }
    }

    @Override
    public void copy(BlockTag tag, long logBlock, MemorySegment bytes) {
      boolean intact = tag.fits(format, sequence, bytes);
      blocks.add(new LoggedBlock(tag.blockNr(), logBlock, tag.escaped(), intact));
    }

    LoggedTransaction transaction(long tid, long startBlock, LogWalker.Result result) {
      State state =
          switch (result.end()) {
            case WHOLE -> State.COMMITTED;
            case DAMAGED -> State.DAMAGED;
            case INCOMPLETE, ABSENT -> State.INCOMPLETE;
          };
      String problem = result.badTarget() == null ? result.why() : result.badTarget().getMessage();
      return new LoggedTransaction(
          tid,
          startBlock,
          result.blockCount(),
          state,
          result.commitTime(),
          List.copyOf(blocks),
          List.copyOf(revokes),
          problem);
    }
  }
}
