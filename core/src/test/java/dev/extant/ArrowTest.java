package dev.extant;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Reads the main sources of all modules and holds them to the arrows of ARCHITECTURE.md.
class ArrowTest {
  private static final String ROOT = "(root)";

  /// For each package below `dev.extant`, the others that it may name.
  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          entry("util", Set.of()),
          entry("vfs", Set.of("util")),
          entry("block", Set.of("util")),
          entry("cache", Set.of("block", "util")),
          entry("journal.format", Set.of("util", "vfs")),
          entry("journal.batching", Set.of("vfs")),
          entry(
              "journal",
              Set.of("journal.batching", "journal.format", "cache", "block", "util", "vfs")),
          entry("ext4.format", Set.of("util", "vfs")),
          entry(
              "ext4",
              Set.of(
                  "ext4.format",
                  "journal",
                  "journal.batching",
                  "journal.format",
                  "cache",
                  "block",
                  "util",
                  "vfs")),
          entry("mkfs", Set.of("ext4.format", "journal.format", "block", "util", "vfs")),
          entry("fsck", Set.of("ext4.format", "journal.format", "block", "util", "vfs")),
          entry("nio", Set.of("vfs", "util")),
          entry(
              ROOT,
              Set.of(
                  "ext4",
                  "ext4.format",
                  "journal",
                  "journal.format",
                  "cache",
                  "block",
                  "mkfs",
                  "nio",
                  "util",
                  "vfs")),
          entry("testkit", Set.of("ext4.format", "journal.format", "block", "fsck", "util", "vfs")),
          entry(
              "bench",
              Set.of(
                  ROOT,
                  "testkit",
                  "mkfs",
                  "nio",
                  "journal",
                  "journal.batching",
                  "block",
                  "util",
                  "vfs")),
          entry(
              "cli",
              Set.of(
                  ROOT,
                  "bench",
                  "testkit",
                  "mkfs",
                  "fsck",
                  "nio",
                  "ext4.format",
                  "journal.format",
                  "block",
                  "util",
                  "vfs")));

  private static final Pattern PACKAGE =
      Pattern.compile("package dev\\.extant(?:\\.([a-z0-9.]+))?;");
  private static final Pattern USE =
      Pattern.compile("\\bdev\\.extant\\.((?:[a-z][a-z0-9]*\\.)*)[A-Z*]");

  @Test
  void sourcesNameOnlyWhatThePictureAllows() throws IOException {
    List<String> forbidden = new ArrayList<>();
    Set<String> seen = new TreeSet<>();
    for (Path source : sources()) {
      String own = null;
      for (String line : Files.readAllLines(source)) {
        if (own == null) {
          Matcher declaration = PACKAGE.matcher(line);
          own = declaration.matches() ? packageOf(declaration.group(1)) : null;
        } else if (!line.strip().startsWith("//")) {
          seen.add(own);
          collect(source, own, line, forbidden);
        }
      }
    }
    assertThat(seen).contains("block", "vfs", "cli");
    assertThat(forbidden).as("arrows that are not in the picture").isEmpty();
  }

  private static void collect(Path source, String own, String line, List<String> forbidden) {
    assertThat(ARROWS).as("packages in the picture (%s)", source).containsKey(own);
    Matcher uses = USE.matcher(line);
    while (uses.find()) {
      String used = packageOf(uses.group(1).replaceAll("\\.$", ""));
      if (!used.equals(own) && !ARROWS.get(own).contains(used)) {
        forbidden.add(own + " -> " + used + ": " + source.getFileName() + ": " + line.strip());
      }
    }
  }

  private static String packageOf(String belowRoot) {
    return belowRoot == null || belowRoot.isEmpty() ? ROOT : belowRoot;
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : List.of("core", "testkit", "bench", "cli")) {
      Path root = Path.of("..", module, "src", "main", "java");
      if (Files.exists(root)) {
        try (Stream<Path> files = Files.walk(root)) {
          files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
        }
      }
    }
    return sources;
  }
}
