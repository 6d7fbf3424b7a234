package dev.extant.cli;

import java.io.IOException;
import java.nio.file.Path;

class ImageCommandsTest extends CommandsContract {
  @Override
  Cli make(Path image) throws IOException {
    return ImageFixture.make(image, 32L << 20);
  }

  @Override
  void checkImage() throws IOException {
    ImageFixture.check(image);
  }
}
