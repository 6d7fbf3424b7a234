package dev.extant.cli;

import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;

/// Real images.
final class MountedImages implements Images {
  @Override
  public Volume open(Path image, MountOptions options) throws IOException {
    throw new CommandFailure(image + ": cannot be opened yet");
  }
}
