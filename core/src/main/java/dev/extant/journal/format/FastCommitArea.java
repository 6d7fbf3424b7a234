package dev.extant.journal.format;

import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The first tag of the fast commit area (Linux documentation, "Journal (jbd2)", "Fast commits").
/// Unlike the rest of the journal it is little-endian.
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | fc_tag, 9 = EXT4_FC_TAG_HEAD |
/// | 0x2 | fc_len |
/// | 0x4 | fc_features |
/// | 0x8 | fc_tid: the transaction after which these fast commits apply |
public final class FastCommitArea {
  private static final int TAG_HEAD = 9;

  private FastCommitArea() {}

  /// True if the area that begins with `block` holds fast commits made while `tid` was running.
  public static boolean belongsTo(MemorySegment block, long tid) {
    return Le.u16(block, 0) == TAG_HEAD && Le.u32(block, 8) == (tid & 0xffff_ffffL);
  }
}
