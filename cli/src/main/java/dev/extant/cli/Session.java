package dev.extant.cli;

import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/// The images one command uses, each opened once, and all of them closed at its end.
final class Session implements AutoCloseable {
  private final Images images;
  private final boolean write;
  private final Map<Path, Volume> open = new LinkedHashMap<>();

  Session(Images images, boolean write) {
    this.images = images;
    this.write = write;
  }

  Volume volume(Path image) throws IOException {
    return volume(image, write);
  }

  /// For a command that only reads from this image. It counts only when the image is opened here.
  Volume volume(Path image, boolean forWriting) throws IOException {
    requireImage(image);
    Path key = image.toRealPath();
    Volume volume = open.get(key);
    if (volume == null) {
      volume = images.open(image, MountOptions.defaults().withReadOnly(!forWriting));
      open.put(key, volume);
    }
    return volume;
  }

  /// Fails with a sentence unless there is a file that could be an image.
  static void requireImage(Path image) throws CommandFailure {
    if (!Files.exists(image)) {
      throw new CommandFailure(image + ": no such image");
    }
    if (Files.isDirectory(image)) {
      throw new CommandFailure(image + ": is a directory, not an image");
    }
  }

  /// Makes everything durable. The first failure is thrown, but every image is closed.
  @Override
  public void close() throws FsException {
    FsException first = null;
    for (Volume volume : open.values()) {
      try {
        volume.close();
      } catch (FsException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    open.clear();
    if (first != null) {
      throw first;
    }
  }
}
