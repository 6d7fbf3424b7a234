package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// The documentation tells of every difference that the contract allows, with its reason.
class DifferencesTest {
  @Test
  void areDocumented() throws IOException {
    String text = Files.readString(Path.of("..", "docs", "nio.md")).replaceAll("\\s+", " ");
    for (Difference difference : Difference.values()) {
      assertThat(text).contains("| " + difference.name() + " | " + difference.reason + " |");
    }
  }
}
