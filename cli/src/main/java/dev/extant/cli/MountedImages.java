package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Real images.
final class MountedImages implements Images {
  @Override
  public Volume open(Path image, MountOptions options) throws IOException {
    return mount(image, options).volume();
  }

  /// Mounts, or fails with the reason why an image to be changed can only be read.
  static Extant mount(Path image, MountOptions options) throws IOException {
    Session.requireImage(image);
    Extant mounted = Extant.open(image, options);
    if (!options.readOnly()) {
      requireWritable(mounted, image);
    }
    return mounted;
  }

  /// Closes it and fails with the reason if it can only be read.
  static void requireWritable(Extant mounted, Path image) throws IOException {
    if (mounted.volume().readOnly()) {
      List<String> warnings = mounted.mountReport().warnings();
      mounted.close();
      throw new CommandFailure(
          warnings.isEmpty() ? image + ": can only be read, not changed" : warnings.getFirst());
    }
  }
}
