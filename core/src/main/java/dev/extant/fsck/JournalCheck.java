package dev.extant.fsck;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.BlockHeader;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// Checks where the journal is and what its superblock says. What is in the log is for who replays
/// it.
final class JournalCheck {
  /// Shorter ones are refused everywhere (JBD2_MIN_JOURNAL_BLOCKS).
  private static final int MIN_BLOCKS = 1024;

  private static final int S_JOURNAL_UUID = 0xD0;

  private static final long KNOWN_INCOMPAT =
      JournalSuperblock.INCOMPAT_REVOKE
          | JournalSuperblock.INCOMPAT_64BIT
          | JournalSuperblock.INCOMPAT_ASYNC_COMMIT
          | JournalSuperblock.INCOMPAT_CSUM_V2
          | JournalSuperblock.INCOMPAT_CSUM_V3
          | JournalSuperblock.INCOMPAT_FAST_COMMIT;

  private static final long BOTH_CHECKSUMS =
      JournalSuperblock.INCOMPAT_CSUM_V2 | JournalSuperblock.INCOMPAT_CSUM_V3;

  private final CheckContext context;
  private final long ino;

  JournalCheck(CheckContext context) {
    this.context = context;
    this.ino = Superblock.journalInode(context.superblock());
  }

  /// Cannot check if the journal is on another device.
  void run() throws CannotCheckException {
    if (Le.u64(context.superblock(), S_JOURNAL_UUID) != 0
        || Le.u64(context.superblock(), S_JOURNAL_UUID + Long.BYTES) != 0) {
      tell(Problem.JOURNAL_INODE, 0, "s_journal_uuid says that it is on another device");
    }
    if (!context.features().has(Feature.HAS_JOURNAL)) {
      if (ino != 0) {
        tell(Problem.JOURNAL_WITHOUT_FEATURE, 0, "s_journal_inum is " + ino);
      }
      if (context.features().has(Feature.NEEDS_RECOVERY)) {
        tell(Problem.JOURNAL_RECOVERY_FLAG, 0, "there is no journal");
      }
      if (ino == 0) {
        return;
      }
    }
    long device = Superblock.journalDevice(context.superblock());
    if (ino == 0 && device != 0) {
      throw new CannotCheckException(
          "the journal is on another device (0x"
              + Long.toHexString(device)
              + "), which is not supported");
    }
    long blockNr = findSuperblock();
    MemorySegment block = blockNr == 0 ? null : context.readBlock(blockNr, ino);
    if (block != null) {
      checkSuperblock(block, blockNr);
    }
  }

  /// Where the journal's superblock is; 0, with a finding, if the inode can be none of a journal.
  private long findSuperblock() {
    MemorySegment raw = context.readInode(ino);
    if (raw == null) {
      tell(Problem.JOURNAL_INODE, 0, "its number is " + ino);
      return 0;
    }
    ScannedInode inode = new ScannedInode(ino, raw, true);
    int blockSizeBytes = context.layout().blockSizeBytes();
    if (!inode.regular() || RawInode.linksCount(raw) == 0) {
      tell(Problem.JOURNAL_INODE, 0, "it is no regular file in use");
      return 0;
    }
    if (Long.divideUnsigned(inode.size(), blockSizeBytes) < MIN_BLOCKS) {
      tell(Problem.JOURNAL_INODE, 0, "i_size is " + inode.size());
      return 0;
    }
    Mapping mapping = new Mapping();
    FileBlocks.walk(context, inode, mapping);
    if (mapping.next * blockSizeBytes < inode.size() || mapping.first == 0) {
      tell(Problem.JOURNAL_INODE, 0, "logical block " + mapping.next + " is not mapped");
      return 0;
    }
    return mapping.first;
  }

  /// Whether the log has no hole.
  private static final class Mapping implements FileBlocks.Visitor {
    private long first;
    private long next;

    @Override
    public void data(long logical, long blockNr, long count, boolean unwritten) {
      if (logical == 0) {
        first = blockNr;
      }
      if (logical == next) {
        next += count;
      }
    }
  }

  private void checkSuperblock(MemorySegment block, long blockNr) {
    MemorySegment sb = block.asSlice(0, JournalSuperblock.SIZE);
    long type = BlockHeader.type(sb);
    if (!BlockHeader.hasMagic(sb)
        || type != BlockHeader.SUPERBLOCK_V1 && type != BlockHeader.SUPERBLOCK_V2) {
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, "magic number or type");
      return;
    }
    checkFeatures(sb, blockNr);
    if (!JournalSuperblock.valid(sb)) {
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, "its checksum is wrong");
    }
    checkPlaces(sb, blockNr);
    if (JournalSuperblock.errno(sb) != 0) {
      tell(Problem.JOURNAL_ERROR, blockNr, "s_errno is " + JournalSuperblock.errno(sb));
    }
    if (JournalSuperblock.userCount(sb) > 1) {
      String text = "it has " + JournalSuperblock.userCount(sb) + " users";
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, text);
    }
    if (JournalSuperblock.start(sb) != 0 && !context.features().has(Feature.NEEDS_RECOVERY)) {
      tell(Problem.JOURNAL_RECOVERY_FLAG, blockNr, "the journal has data");
    }
  }

  private void checkFeatures(MemorySegment sb, long blockNr) {
    long incompat = JournalSuperblock.incompat(sb);
    if ((incompat & ~KNOWN_INCOMPAT) != 0) {
      tell(Problem.JOURNAL_FEATURES, blockNr, "incompatible 0x" + Long.toHexString(incompat));
    }
    if (JournalSuperblock.roCompat(sb) != 0) {
      long roCompat = JournalSuperblock.roCompat(sb);
      tell(Problem.JOURNAL_FEATURES, blockNr, "read-only 0x" + Long.toHexString(roCompat));
    }
    boolean checksummed = (incompat & BOTH_CHECKSUMS) != 0;
    if ((incompat & BOTH_CHECKSUMS) == BOTH_CHECKSUMS) {
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, "it has checksums of versions 2 and 3");
    } else if (checksummed
        && JournalSuperblock.checksumType(sb) != JournalSuperblock.CHECKSUM_TYPE_CRC32C) {
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, "its type of checksum is unknown");
    }
  }

  private void checkPlaces(MemorySegment sb, long blockNr) {
    if (JournalSuperblock.blockSizeBytes(sb) != context.layout().blockSizeBytes()) {
      String text = "its block size is " + JournalSuperblock.blockSizeBytes(sb);
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, text);
      return;
    }
    MemorySegment raw = context.readInode(ino);
    long blocks = Long.divideUnsigned(RawInode.size(raw), context.layout().blockSizeBytes());
    long length = JournalSuperblock.lengthBlocks(sb);
    if (length > blocks) {
      String text = "s_maxlen is " + length + ", the file has " + blocks + " blocks";
      tell(Problem.JOURNAL_SUPERBLOCK, blockNr, text);
    } else if (length < MIN_BLOCKS) {
      tell(Problem.JOURNAL_SHORT, blockNr, "s_maxlen is " + length);
    }
    long start = JournalSuperblock.start(sb);
    long first = JournalSuperblock.first(sb);
    if (first < 1 || first >= length || start != 0 && (start < first || start >= length)) {
      String text = "the log starts at " + start + " of " + first + " to " + length;
      tell(Problem.JOURNAL_PLACES, blockNr, text);
    }
  }

  private void tell(Problem problem, long blockNr, String detail) {
    context.report(problem, ino, blockNr, detail);
  }
}
