package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImagesTest {
  @TempDir Path directory;

  @Test
  void copiesEveryByte() throws IOException {
    RamDevice device = new RamDevice("ram", 300 * 512);
    Blocks.write(device, 130, 3, 7);
    Blocks.write(device, 299, 1, 9);
    Path image = directory.resolve("image");
    Images.copy(device, image);
    assertThat(Files.readAllBytes(image)).isEqualTo(device.memory().toArray(ValueLayout.JAVA_BYTE));
  }
}
