package dev.extant.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/// Named figures, shown one a line or as JSON.
final class Figures {
  private final Map<String, Object> byLabel = new LinkedHashMap<>();
  private final Map<String, Object> byKey = new LinkedHashMap<>();

  /// `shown` is what people read, `value` what programs do.
  void add(String label, String key, Object shown, Object value) {
    byLabel.put(label, shown);
    byKey.put(key, value);
  }

  void add(String label, String key, Object value) {
    add(label, key, value, value);
  }

  void print(Console console, boolean json) throws IOException {
    if (json) {
      console.printLine(Json.of(byKey));
      return;
    }
    int width = byLabel.keySet().stream().mapToInt(String::length).max().orElse(0) + 2;
    for (Map.Entry<String, Object> figure : byLabel.entrySet()) {
      console.printLine(
          String.format("%-" + width + "s%s", figure.getKey() + ":", figure.getValue()));
    }
  }
}
