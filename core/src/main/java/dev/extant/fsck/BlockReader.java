package dev.extant.fsck;

import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;

/// Reads blocks of the file system under check, as they are once the journal is replayed. May be
/// called by any thread.
@FunctionalInterface
interface BlockReader {
  /// A copy of one block that the caller may keep. The number lies within the file system.
  MemorySegment read(long blockNr) throws DeviceException;
}
