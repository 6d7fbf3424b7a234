package dev.extant.cli;

import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;

/// Opens images for the commands.
interface Images {
  /// Mounts an image. Read-only options never write to it: a journal that needs replay is replayed
  /// in memory.
  Volume open(Path image, MountOptions options) throws IOException;
}
