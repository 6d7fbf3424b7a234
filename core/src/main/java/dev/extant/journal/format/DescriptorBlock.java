package dev.extant.journal.format;

import dev.extant.util.Be;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A descriptor block (Linux documentation, "Journal (jbd2)"): a header, then one tag per log block
/// that follows, then (checksums v2, v3) a tail.
///
/// | size of a tag | when | fields |
/// | --- | --- | --- |
/// | 16 | checksums v3 | t_blocknr, t_flags (32 bits), t_blocknr_high, t_checksum (32 bits) |
/// | 12 | 64-bit | t_blocknr, t_checksum (16 bits), t_flags (16 bits), t_blocknr_high |
/// | 8 | else | t_blocknr, t_checksum (16 bits), t_flags (16 bits) |
/// | +2 | checksums v2 | two bytes of nothing at the end (an accident that became the format) |
/// | +16 | without the flag SAME_UUID | the journal's uuid |
public final class DescriptorBlock {
  private static final long ESCAPE = 1;
  private static final long SAME_UUID = 2;
  private static final long DELETED = 4;
  private static final long LAST_TAG = 8;

  private DescriptorBlock() {}

  private static int tagSize(LogFormat format) {
    if (format.checksums() == LogFormat.Checksums.V3) {
      return 16;
    }
    return (format.wide() ? 12 : 8) + (format.checksums() == LogFormat.Checksums.V2 ? 2 : 0);
  }

  /// How many tags one descriptor block holds.
  public static int capacity(LogFormat format) {
    int room = format.endOfRecords() - BlockHeader.SIZE - LogFormat.UUID_SIZE;
    return room / tagSize(format);
  }

  /// Makes `block` the descriptor of the given tags, at most [#capacity] and at least one.
  public static void write(LogFormat format, MemorySegment block, long tid, List<BlockTag> tags) {
    block.fill((byte) 0);
    BlockHeader.write(block, BlockHeader.DESCRIPTOR, tid);
    int at = BlockHeader.SIZE;
    for (int i = 0; i < tags.size(); i++) {
      BlockTag tag = tags.get(i);
      long flags =
          (tag.escaped() ? ESCAPE : 0)
              | (tag.deleted() ? DELETED : 0)
              | (i > 0 ? SAME_UUID : 0)
              | (i == tags.size() - 1 ? LAST_TAG : 0);
      writeTag(format, block, at, tag, flags);
      at += tagSize(format);
      if (i == 0) {
        MemorySegment.copy(MemorySegment.ofArray(format.uuid()), 0, block, at, LogFormat.UUID_SIZE);
        at += LogFormat.UUID_SIZE;
      }
    }
    BlockTail.seal(format, block);
  }

  private static void writeTag(
      LogFormat format, MemorySegment block, int at, BlockTag tag, long flags) {
    Be.put32(block, at, tag.blockNr());
    if (format.checksums() == LogFormat.Checksums.V3) {
      Be.put32(block, at + 4, flags);
      Be.put32(block, at + 8, format.wide() ? tag.blockNr() >>> 32 : 0);
      Be.put32(block, at + 12, tag.checksum());
    } else {
      Be.put16(block, at + 4, tag.checksum());
      Be.put16(block, at + 6, (int) flags);
      if (format.wide()) {
        Be.put32(block, at + 8, tag.blockNr() >>> 32);
      }
    }
  }

  /// True if the block's own checksum fits, or the log has none.
  public static boolean valid(LogFormat format, MemorySegment block) {
    return BlockTail.valid(format, block);
  }

  /// The tags, up to the one that says it is the last or to the end of the block.
  public static List<BlockTag> tags(LogFormat format, MemorySegment block) {
    List<BlockTag> tags = new ArrayList<>();
    int size = tagSize(format);
    boolean v3 = format.checksums() == LogFormat.Checksums.V3;
    int at = BlockHeader.SIZE;
    while (at + size <= format.endOfRecords()) {
      long flags = v3 ? Be.u32(block, at + 4) : Be.u16(block, at + 6);
      long high = format.wide() ? Be.u32(block, at + 8) : 0;
      int checksum = v3 ? Be.i32(block, at + 12) : Be.u16(block, at + 4);
      long blockNr = Be.u32(block, at) | high << 32;
      tags.add(new BlockTag(blockNr, (flags & ESCAPE) != 0, (flags & DELETED) != 0, checksum));
      at += size + ((flags & SAME_UUID) != 0 ? 0 : LogFormat.UUID_SIZE);
      if ((flags & LAST_TAG) != 0) {
        break;
      }
    }
    return tags;
  }
}
