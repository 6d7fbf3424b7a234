package dev.extant.testkit;

import dev.extant.block.BlockDevice;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;

/// Mounts the file system on a device: all that a test needs to know of an implementation.
@FunctionalInterface
public interface DeviceOpener {
  /// The volume takes the device over and closes it, also when mounting fails.
  Volume open(BlockDevice device, MountOptions options) throws IOException;
}
