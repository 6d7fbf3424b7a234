package dev.extant.cli;

import java.util.Iterator;
import java.util.List;
import java.util.Map;

/// Writes JSON: maps (in their order), lists, strings, numbers, booleans and null.
final class Json {
  private final StringBuilder text = new StringBuilder();

  private Json() {}

  static String of(Object value) {
    Json json = new Json();
    json.value(value, 0);
    return json.text.toString();
  }

  private void value(Object value, int depth) {
    switch (value) {
      case null -> text.append("null");
      case Map<?, ?> map -> map(map, depth);
      case List<?> list -> list(list, depth);
      case Number number -> text.append(number);
      case Boolean bool -> text.append(bool);
      default -> string(value.toString());
    }
  }

  private void map(Map<?, ?> map, int depth) {
    text.append('{');
    Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<?, ?> entry = entries.next();
      newLine(depth + 1);
      string(entry.getKey().toString());
      text.append(": ");
      value(entry.getValue(), depth + 1);
      text.append(entries.hasNext() ? "," : "");
    }
    if (!map.isEmpty()) {
      newLine(depth);
    }
    text.append('}');
  }

  private void list(List<?> list, int depth) {
    text.append('[');
    Iterator<?> items = list.iterator();
    while (items.hasNext()) {
      newLine(depth + 1);
      value(items.next(), depth + 1);
      text.append(items.hasNext() ? "," : "");
    }
    if (!list.isEmpty()) {
      newLine(depth);
    }
    text.append(']');
  }

  private void newLine(int depth) {
    text.append('\n').append("  ".repeat(depth));
  }

  private void string(String string) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\t' -> text.append("\\t");
        default -> text.append(c < ' ' || c == 0x7F ? String.format("\\u%04x", (int) c) : c);
      }
    }
    text.append('"');
  }
}
