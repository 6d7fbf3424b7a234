package dev.extant.cli;

import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;

/// Opens images for the commands.
interface Images {
  /// Mounts an image. With `write` false the image is never written: a journal that needs replay is
  /// replayed in memory.
  Volume open(Path image, boolean write) throws IOException;
}
