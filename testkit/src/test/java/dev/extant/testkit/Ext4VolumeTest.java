package dev.extant.testkit;

import dev.extant.Extant;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/// The contract of volumes on ext4 in an image file.
class Ext4VolumeTest extends VolumeContract {
  @TempDir private Path folder;

  @Override
  protected Volume newVolume() throws IOException {
    Path image = folder.resolve("image");
    Extant.mkfs(image, 64L << 20, MkfsOptions.builder().build());
    return Extant.open(image, MountOptions.defaults()).volume();
  }
}
