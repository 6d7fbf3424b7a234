package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import java.io.IOException;

/// Makes a file system on a device, always the same for the same arguments, with blocks of 1 KiB in
/// groups of 2,048.
@FunctionalInterface
public interface DeviceFormatter {
  /// `type` as after mke2fs's `-t`, `features` as after its `-O`. The device stays open.
  void format(BlockDevice device, String type, String features) throws IOException;
}
