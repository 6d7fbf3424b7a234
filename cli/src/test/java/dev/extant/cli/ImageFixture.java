package dev.extant.cli;

import dev.extant.Extant;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.file.Path;

/// Real images for the contracts of the commands.
final class ImageFixture {
  private ImageFixture() {}

  static Cli make(Path image, long sizeBytes) throws IOException {
    Extant.mkfs(image, sizeBytes, MkfsOptions.builder().zeroed(true).build());
    return new Cli(new MountedImages());
  }

  static void check(Path image) throws IOException {
    if (Oracles.find("e2fsck").isPresent()) {
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }
}
