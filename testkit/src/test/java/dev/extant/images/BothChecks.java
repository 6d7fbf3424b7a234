package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.FileDevice;
import dev.extant.fsck.Fsck;
import dev.extant.fsck.FsckOptions;
import dev.extant.fsck.FsckProgress;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.nio.file.Path;

/// That an image is sound by e2fsck and by our own check.
final class BothChecks {
  private BothChecks() {}

  static void pass(Path image) throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (FileDevice device = FileDevice.open(image, true)) {
      assertThat(Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE).findings())
          .isEmpty();
    }
  }
}
