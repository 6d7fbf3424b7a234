package dev.extant.fsck;

import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import java.lang.foreign.MemorySegment;

/// Blocks of a device.
final class DeviceBlocks implements BlockReader {
  private final BlockDevice device;
  private final FsLayout layout;

  DeviceBlocks(BlockDevice device, FsLayout layout) {
    this.device = device;
    this.layout = layout;
  }

  @Override
  public MemorySegment read(long blockNr) throws DeviceException {
    if (blockNr < 0 || blockNr >= layout.blocksCount()) {
      throw new DeviceException(
          DeviceException.Kind.REFUSED,
          DeviceException.Operation.READ,
          device.name(),
          -1,
          layout.blockSizeBytes(),
          "block " + blockNr + " is outside the file system",
          null);
    }
    MemorySegment block = MemorySegment.ofArray(new byte[layout.blockSizeBytes()]);
    device.read(blockNr * layout.blockSizeBytes(), block);
    return block;
  }
}
