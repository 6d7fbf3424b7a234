package dev.extant.cli;

import java.io.IOException;
import java.nio.file.Path;

class ImageCopyTest extends CopyContract {
  @Override
  Cli make(Path image) throws IOException {
    return ImageFixture.make(image, 110L << 20);
  }

  @Override
  void checkImage() throws IOException {
    ImageFixture.check(image);
  }
}
