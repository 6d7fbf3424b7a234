package dev.extant.ext4.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// docs/format.md says of every feature what the code does with it.
class FeatureTableTest {
  private static final Pattern ROW =
      Pattern.compile("^\\| `([^`]+)` \\| (written|read|refused) \\|", Pattern.MULTILINE);

  private static String opened(Feature feature) {
    return switch (feature.support()) {
      case WRITE -> "written";
      case READ -> "read";
      case REFUSE -> "refused";
    };
  }

  @Test
  void everyFeatureHasItsRow() throws IOException {
    String text = Files.readString(Path.of("..", "docs", "format.md"));
    Map<String, String> documented =
        ROW.matcher(text)
            .results()
            .collect(
                Collectors.toMap(
                    row -> row.group(1),
                    row -> row.group(2),
                    (one, other) -> {
                      throw new AssertionError("a feature has two rows");
                    },
                    LinkedHashMap::new));
    Map<String, String> coded =
        Arrays.stream(Feature.values())
            .collect(Collectors.toMap(Feature::spelling, FeatureTableTest::opened));
    assertThat(documented).containsExactlyInAnyOrderEntriesOf(coded);
  }
}
