package dev.extant.mkfs;

import dev.extant.block.BlockDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Writes blocks of a file system in the making.
final class BlockWriter {
  private final BlockDevice device;
  private final int blockSizeBytes;
  private final boolean zeroed;

  BlockWriter(BlockDevice device, int blockSizeBytes, boolean zeroed) {
    this.device = device;
    this.blockSizeBytes = blockSizeBytes;
    this.zeroed = zeroed;
  }

  String deviceName() {
    return device.name();
  }

  /// Writes one block or more from `blockNr` on.
  void write(long blockNr, MemorySegment blocks) throws IOException {
    device.write(blockNr * blockSizeBytes, List.of(blocks), false);
  }

  /// Makes blocks zero that were not written yet.
  void clear(long blockNr, long count) throws IOException {
    if (!zeroed) {
      device.writeZeroes(blockNr * blockSizeBytes, count * blockSizeBytes);
    }
  }
}
