package dev.extant.journal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Blocks of the log, read in runs.
final class LogWindow {
  private static final int WINDOW_BYTES = 512 << 10;

  private final LogHeader header;
  private final int blockSizeBytes;
  private final int windowBlocks;
  private final MemorySegment memory;
  private long from = -1;
  private long to = -1;

  LogWindow(LogHeader header) {
    this.header = header;
    this.blockSizeBytes = header.log().blockSizeBytes();
    this.windowBlocks = WINDOW_BYTES / blockSizeBytes;
    this.memory = Arena.ofAuto().allocate(WINDOW_BYTES, 4096);
  }

  /// The block's bytes, valid until the next call.
  MemorySegment block(long logBlock) throws IOException {
    if (logBlock < from || logBlock >= to) {
      long count = Math.min(windowBlocks, header.end() - logBlock);
      to = -1;
      header.log().read(logBlock, memory.asSlice(0, count * blockSizeBytes));
      from = logBlock;
      to = logBlock + count;
    }
    return memory.asSlice((logBlock - from) * blockSizeBytes, blockSizeBytes);
  }
}
