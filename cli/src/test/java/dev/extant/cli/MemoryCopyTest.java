package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class MemoryCopyTest extends CopyContract {
  private final MemoryImages images = new MemoryImages(90L << 20);

  @Override
  Cli make(Path image) throws IOException {
    Files.createFile(image);
    return new Cli(images);
  }

  @Override
  void checkImage() {
    assertThat(images.leaks()).as("inodes not given back").isZero();
  }
}
