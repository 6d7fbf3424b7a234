package dev.extant.journal;

import dev.extant.journal.JournalException.Kind;
import dev.extant.journal.format.BlockHeader;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.journal.format.LogFormat;
import dev.extant.journal.format.LogFormat.Checksums;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The journal superblock in memory, checked when it was read, and the log it describes: a circle
/// of the blocks from `first` up to but not including `end`.
///
/// Not thread-safe; its owner guards it.
final class LogHeader {
  /// The fewest blocks a log needs for anything to fit in.
  private static final long MIN_LOG_BLOCKS = 16;

  private static final long KNOWN_INCOMPAT =
      JournalSuperblock.INCOMPAT_REVOKE
          | JournalSuperblock.INCOMPAT_64BIT
          | JournalSuperblock.INCOMPAT_ASYNC_COMMIT
          | JournalSuperblock.INCOMPAT_CSUM_V2
          | JournalSuperblock.INCOMPAT_CSUM_V3
          | JournalSuperblock.INCOMPAT_FAST_COMMIT;

  private final LogDevice log;
  private final MemorySegment block;

  private LogHeader(LogDevice log, MemorySegment block) {
    this.log = log;
    this.block = block;
  }

  static LogHeader read(JournalPlace place) throws IOException {
    MemorySegment block = Arena.ofAuto().allocate(place.blockSizeBytes(), 4096);
    LogDevice.open(place, 1).read(0, block);
    check(place, block);
    return new LogHeader(LogDevice.open(place, JournalSuperblock.lengthBlocks(block)), block);
  }

  private static void check(JournalPlace place, MemorySegment block) throws JournalException {
    long type = BlockHeader.type(block);
    if (!BlockHeader.hasMagic(block)
        || type != BlockHeader.SUPERBLOCK_V1 && type != BlockHeader.SUPERBLOCK_V2) {
      throw corrupt(place, "its superblock has not the magic number and type of one");
    }
    checkFeatures(place, block);
    if (!JournalSuperblock.valid(block)) {
      throw corrupt(place, "the checksum of its superblock is wrong");
    }
    checkNumbers(place, block);
  }

  private static void checkFeatures(JournalPlace place, MemorySegment block)
      throws JournalException {
    long incompat = JournalSuperblock.incompat(block);
    if ((incompat & ~KNOWN_INCOMPAT) != 0) {
      throw unsupported(
          place,
          "it has the unknown incompatible features 0x"
              + Long.toHexString(incompat & ~KNOWN_INCOMPAT));
    }
    if (JournalSuperblock.roCompat(block) != 0) {
      throw unsupported(
          place,
          "it has the unknown read-only compatible features 0x"
              + Long.toHexString(JournalSuperblock.roCompat(block)));
    }
    boolean v2 = (incompat & JournalSuperblock.INCOMPAT_CSUM_V2) != 0;
    boolean v3 = (incompat & JournalSuperblock.INCOMPAT_CSUM_V3) != 0;
    boolean v1 = (JournalSuperblock.compat(block) & JournalSuperblock.COMPAT_CHECKSUM) != 0;
    if (v2 && v3 || v1 && (v2 || v3)) {
      throw corrupt(place, "it claims to have two kinds of checksums at once");
    }
    if ((v2 || v3)
        && JournalSuperblock.checksumType(block) != JournalSuperblock.CHECKSUM_TYPE_CRC32C) {
      throw unsupported(
          place, "its checksums have the unknown type " + JournalSuperblock.checksumType(block));
    }
    if (JournalSuperblock.userCount(block) > 1) {
      throw unsupported(
          place,
          "it is shared by "
              + JournalSuperblock.userCount(block)
              + " file systems, as only an external journal can be");
    }
  }

  private static void checkNumbers(JournalPlace place, MemorySegment block)
      throws JournalException {
    long size = JournalSuperblock.blockSizeBytes(block);
    if (size != place.blockSizeBytes()) {
      throw corrupt(
          place, "its block size is " + size + ", the file system's " + place.blockSizeBytes());
    }
    long length = JournalSuperblock.lengthBlocks(block);
    long there = Math.min(place.location().lengthBlocks(), place.fileSystemBlocks());
    if (length > there) {
      throw corrupt(place, "it claims " + length + " blocks, but only " + there + " are there");
    }
    long first = JournalSuperblock.first(block);
    long end = length - JournalSuperblock.fastCommitBlocks(block);
    if (first < 1 || end - first < MIN_LOG_BLOCKS) {
      throw corrupt(
          place,
          "a log from block " + first + " to " + end + " of " + length + " blocks is impossible");
    }
    long start = JournalSuperblock.start(block);
    if (start != 0 && (start < first || start >= end)) {
      throw corrupt(
          place, "it starts at block " + start + ", outside its log of " + first + " to " + end);
    }
  }

  private static JournalException corrupt(JournalPlace place, String what) {
    return new JournalException(Kind.CORRUPT, place.name() + ": bad journal: " + what);
  }

  private static JournalException unsupported(JournalPlace place, String what) {
    return new JournalException(Kind.UNSUPPORTED, place.name() + ": cannot use journal: " + what);
  }

  LogDevice log() {
    return log;
  }

  /// The superblock's bytes; who changes them calls [#write].
  MemorySegment bytes() {
    return block;
  }

  long first() {
    return JournalSuperblock.first(block);
  }

  long end() {
    return JournalSuperblock.lengthBlocks(block) - JournalSuperblock.fastCommitBlocks(block);
  }

  long next(long logBlock) {
    return logBlock + 1 == end() ? first() : logBlock + 1;
  }

  boolean fastCommits() {
    return (JournalSuperblock.incompat(block) & JournalSuperblock.INCOMPAT_FAST_COMMIT) != 0;
  }

  LogFormat format() {
    long incompat = JournalSuperblock.incompat(block);
    Checksums checksums = Checksums.NONE;
    if ((incompat & JournalSuperblock.INCOMPAT_CSUM_V3) != 0) {
      checksums = Checksums.V3;
    } else if ((incompat & JournalSuperblock.INCOMPAT_CSUM_V2) != 0) {
      checksums = Checksums.V2;
    } else if ((JournalSuperblock.compat(block) & JournalSuperblock.COMPAT_CHECKSUM) != 0) {
      checksums = Checksums.V1;
    }
    boolean wide = (incompat & JournalSuperblock.INCOMPAT_64BIT) != 0;
    return new LogFormat(log.blockSizeBytes(), wide, checksums, JournalSuperblock.uuid(block));
  }

  /// Writes the superblock to the journal; durable on return with `fua`.
  void write(boolean fua) throws IOException {
    JournalSuperblock.seal(block);
    log.writeBlock(0, block, fua);
  }
}
