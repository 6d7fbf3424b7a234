package dev.extant.journal;

import dev.extant.journal.format.BlockTag;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Sees the blocks of one transaction of the log in their order. Segments are valid during the
/// call.
interface LogVisitor {
  /// A revoke block whose count is possible.
  void revoke(MemorySegment block) throws IOException;

  /// A copy of a block as it stands in the log; `bytes` is null if the walk is without data.
  void copy(BlockTag tag, long logBlock, MemorySegment bytes) throws IOException;
}
