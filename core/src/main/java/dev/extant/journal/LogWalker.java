package dev.extant.journal;

import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.format.BlockHeader;
import dev.extant.journal.format.BlockTag;
import dev.extant.journal.format.CommitBlock;
import dev.extant.journal.format.Crc32Be;
import dev.extant.journal.format.DescriptorBlock;
import dev.extant.journal.format.LogFormat;
import dev.extant.journal.format.RevokeBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// Walks the log from one transaction to the next.
///
/// A transaction is *whole* if it is a row of descriptor blocks (each followed by its copies) and
/// revoke blocks with the expected sequence number, then a commit block with it, and every checksum
/// that the log's format knows fits. The first that is not whole ends the log. It is *damaged* if
/// it has a good commit block all the same: that block was written after the others were durable,
/// so they were whole once.
final class LogWalker {
  /// How a walk over one transaction ended.
  enum End {
    WHOLE,
    /// Nothing of the expected transaction is there.
    ABSENT,
    /// It has no good commit block: it was being written when the log ended.
    INCOMPLETE,
    DAMAGED
  }

  /// `nextBlock` follows the commit block; `why` says what is missing or wrong, null if whole.
  /// `badTarget` is not null if a copy belongs outside the file system.
  record Result(
      End end,
      long nextBlock,
      long blockCount,
      Instant commitTime,
      String why,
      JournalException badTarget) {}

  private final LogHeader header;
  private final LogFormat format;
  private final LogWindow window;
  private final long fileSystemBlocks;

  LogWalker(LogHeader header) {
    this.header = header;
    this.format = header.format();
    this.window = new LogWindow(header);
    this.fileSystemBlocks = header.log().place().fileSystemBlocks();
  }

  LogFormat format() {
    return format;
  }

  /// Walks over the transaction `tid`, which must begin at `startBlock`. Verifies it if `verify`,
  /// and gives the visitor the data of copies if `data`. At most `maxBlocks` are read.
  Result walk(
      long startBlock, long tid, boolean verify, boolean data, long maxBlocks, LogVisitor visitor)
      throws IOException {
    Walk walk = new Walk((int) tid, verify, data, maxBlocks, visitor);
    walk.at = startBlock;
    while (true) {
      if (walk.count >= maxBlocks) {
        return walk.broken("it is longer than the log");
      }
      MemorySegment block = window.block(walk.at);
      if (!BlockHeader.hasMagic(block) || BlockHeader.sequence(block) != (int) tid) {
        return walk.ended();
      }
      long type = BlockHeader.type(block);
      if (type == BlockHeader.COMMIT) {
        return walk.commit(block);
      } else if (type == BlockHeader.DESCRIPTOR) {
        walk.descriptor(block);
      } else if (type == BlockHeader.REVOKE) {
        walk.revoke(block);
      } else {
        return walk.ended();
      }
      if (walk.lost) {
        return walk.broken(walk.why);
      }
    }
  }

  private final class Walk {
    private final int sequence;
    private final boolean verify;
    private final boolean data;
    private final long maxBlocks;
    private final LogVisitor visitor;
    private long at;
    private long count;
    private int crc = ~0;

    /// The first thing found wrong.
    private String why;

    /// It is not known where the next block of the transaction is.
    private boolean lost;

    private JournalException badTarget;

    Walk(int sequence, boolean verify, boolean data, long maxBlocks, LogVisitor visitor) {
      this.sequence = sequence;
      this.verify = verify;
      this.data = data;
      this.maxBlocks = maxBlocks;
      this.visitor = visitor;
    }

    private void advance() {
      at = header.next(at);
      count++;
    }

    private void wrong(String what) {
      if (why == null) {
        why = what;
      }
    }

    void descriptor(MemorySegment block) throws IOException {
      if (verify && !DescriptorBlock.valid(format, block)) {
        wrong("the checksum of the descriptor in log block " + at + " is wrong");
        lost = true;
        return;
      }
      boolean summed = verify && format.checksums() == LogFormat.Checksums.V1;
      if (summed) {
        crc = Crc32Be.update(crc, block);
      }
      var tags = DescriptorBlock.tags(format, block);
      advance();
      for (BlockTag tag : tags) {
        if (count >= maxBlocks) {
          return;
        }
        boolean needed = data || summed || verify && format.blockChecksums();
        MemorySegment bytes = needed ? window.block(at) : null;
        if (summed) {
          crc = Crc32Be.update(crc, bytes);
        }
        if (verify) {
          check(tag, bytes);
        }
        visitor.copy(tag, at, bytes);
        advance();
      }
    }

    private void check(BlockTag tag, MemorySegment bytes) {
      if (format.blockChecksums() && !tag.fits(format, sequence, bytes)) {
        wrong("the checksum of the copy of block " + tag.blockNr() + " is wrong");
      }
      if (badTarget == null && (tag.blockNr() < 0 || tag.blockNr() >= fileSystemBlocks)) {
        badTarget =
            new JournalException(
                Kind.CORRUPT,
                header.log().name()
                    + ": bad journal: transaction "
                    + Integer.toUnsignedLong(sequence)
                    + " holds block "
                    + Long.toUnsignedString(tag.blockNr())
                    + " of a file system of "
                    + fileSystemBlocks
                    + " blocks");
      }
    }

    void revoke(MemorySegment block) throws IOException {
      if (RevokeBlock.valid(format, block)) {
        visitor.revoke(block);
      } else {
        wrong("the revoke block in log block " + at + " has a wrong checksum or count");
      }
      advance();
    }

    Result commit(MemorySegment block) {
      Instant time = CommitBlock.time(block);
      boolean good = !verify || CommitBlock.valid(format, block, crc);
      if (!good) {
        wrong("the checksum of the commit block in log block " + at + " is wrong");
      }
      advance();
      End end = why == null ? End.WHOLE : good ? End.DAMAGED : End.INCOMPLETE;
      return new Result(end, at, count, time, why, badTarget);
    }

    /// The next block is none of this transaction.
    Result ended() throws IOException {
      if (count == 0) {
        return new Result(End.ABSENT, at, 0, null, "the log ends here", null);
      }
      return broken("it has no commit block");
    }

    /// Looks whether a good commit block of the transaction is further on.
    Result broken(String what) throws IOException {
      wrong(what);
      long stopped = at;
      boolean committed = false;
      while (lost && count < maxBlocks && !committed) {
        MemorySegment block = window.block(at);
        committed =
            BlockHeader.hasMagic(block)
                && BlockHeader.type(block) == BlockHeader.COMMIT
                && BlockHeader.sequence(block) == sequence
                && CommitBlock.valid(format, block, crc);
        advance();
      }
      End end = committed ? End.DAMAGED : End.INCOMPLETE;
      return new Result(end, stopped, count, null, why, badTarget);
    }
  }
}
