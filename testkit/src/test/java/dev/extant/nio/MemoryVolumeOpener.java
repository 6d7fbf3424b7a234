package dev.extant.nio;

import dev.extant.testkit.MemoryVolume;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeOpener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Opens "images" that are a text file of one line, as volumes in memory; found by the provider
/// like any other opener.
public final class MemoryVolumeOpener implements VolumeOpener {
  static final String MAGIC = "an image of the type memory\n";

  @Override
  public String type() {
    return "memory";
  }

  @Override
  public boolean recognises(Path image) throws IOException {
    return Files.size(image) == MAGIC.length() && Files.readString(image).equals(MAGIC);
  }

  @Override
  public Volume open(Path image, MountOptions options) throws FsException {
    if (options.noload()) {
      throw new FsException(Errno.EBUSY, "this image is in use");
    }
    return new MemoryVolume(options, MemoryVolume.DEFAULT_CAPACITY_BYTES);
  }
}
