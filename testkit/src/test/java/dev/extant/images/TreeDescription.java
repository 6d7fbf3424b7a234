package dev.extant.images;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/// What a tree looks like from outside: a line per path with type, mode, owners, links, size,
/// times, target and a checksum of the content; the same for the host's file system, a kernel mount
/// and ours. The root itself and `lost+found` are left out.
final class TreeDescription {
  /// Which times of what are compared.
  enum Times {
    /// Modification times of all but directories and symbolic links, in seconds: what a copy of a
    /// tree keeps. No link counts of directories, since not every file system of a host counts
    /// them.
    COPIED,
    /// Modification and change times of everything, in nanoseconds: of one and the same tree.
    EXACT
  }

  private final Path root;
  private final Times times;
  private final Map<Object, String> firstNames = new HashMap<>();
  private final Map<String, String> lines = new TreeMap<>();

  private TreeDescription(Path root, Times times) {
    this.root = root;
    this.times = times;
  }

  static Map<String, String> of(Path root, Times times) throws IOException {
    TreeDescription description = new TreeDescription(root, times);
    description.addBelow(root);
    return description.lines;
  }

  /// @throws AssertionError showing the lines that differ
  static void requireSame(Map<String, String> expected, Map<String, String> found) {
    StringBuilder differences = new StringBuilder();
    TreeSet<String> names = new TreeSet<>(expected.keySet());
    names.addAll(found.keySet());
    for (String name : names) {
      if (!Objects.equals(expected.get(name), found.get(name))) {
        differences.append(
            "\n%s\n  expected %s\n  found    %s"
                .formatted(name, expected.get(name), found.get(name)));
      }
    }
    if (!differences.isEmpty()) {
      throw new AssertionError("the trees differ:" + differences);
    }
  }

  private void addBelow(Path directory) throws IOException {
    List<Path> children = new ArrayList<>();
    try (Stream<Path> list = Files.list(directory)) {
      list.forEach(children::add);
    }
    children.sort((one, other) -> one.toString().compareTo(other.toString()));
    for (Path child : children) {
      String name = root.relativize(child).toString();
      if (name.equals("lost+found")) {
        continue;
      }
      Map<String, Object> attributes =
          Files.readAttributes(child, "unix:*", LinkOption.NOFOLLOW_LINKS);
      lines.put(name, describe(child, name, attributes));
      if ((boolean) attributes.get("isDirectory")) {
        addBelow(child);
      }
    }
  }

  private String describe(Path path, String name, Map<String, Object> attributes)
      throws IOException {
    boolean directory = (boolean) attributes.get("isDirectory");
    StringBuilder line = new StringBuilder();
    line.append(Integer.toOctalString((int) attributes.get("mode")))
        .append(" owner ")
        .append(attributes.get("uid"))
        .append(':')
        .append(attributes.get("gid"));
    if (times == Times.EXACT || !directory) {
      line.append(" links ").append(attributes.get("nlink"));
    }
    if (times == Times.EXACT) {
      line.append(" mtime ").append(attributes.get("lastModifiedTime"));
      line.append(" ctime ").append(attributes.get("ctime"));
    } else if (!directory && !(boolean) attributes.get("isSymbolicLink")) {
      FileTime modified = (FileTime) attributes.get("lastModifiedTime");
      line.append(" mtime ").append(modified.toInstant().truncatedTo(ChronoUnit.SECONDS));
    }
    if (directory) {
      return line.toString();
    }
    line.append(" size ").append(attributes.get("size"));
    line.append(" same as ").append(firstNames.computeIfAbsent(attributes.get("ino"), i -> name));
    if ((boolean) attributes.get("isSymbolicLink")) {
      line.append(" -> ").append(Files.readSymbolicLink(path));
    } else if ((boolean) attributes.get("isRegularFile")) {
      line.append(" crc32c ").append(Long.toHexString(checksum(path)));
    }
    return line.toString();
  }

  private static long checksum(Path file) throws IOException {
    CRC32C checksum = new CRC32C();
    byte[] buffer = new byte[256 << 10];
    try (InputStream in = Files.newInputStream(file)) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        checksum.update(buffer, 0, count);
      }
    }
    return checksum.getValue();
  }
}
