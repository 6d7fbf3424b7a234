package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Makes trees of all kinds of files on the host, and describes trees so that they can be compared.
final class HostTree {
  private final Random random;
  private final List<Path> files = new ArrayList<>();
  private final boolean root = "root".equals(System.getProperty("user.name"));

  HostTree(long seed) {
    this.random = new Random(seed);
  }

  /// Makes a tree with about so many files.
  void make(Path directory, int count) throws IOException {
    List<Path> directories = new ArrayList<>(List.of(Files.createDirectories(directory)));
    for (int i = 0; i < count; i++) {
      Path parent = directories.get(random.nextInt(directories.size()));
      Path path = parent.resolve(name(i));
      switch (random.nextInt(12)) {
        case 0, 1 -> directories.add(Files.createDirectory(path));
        case 2 -> Files.createSymbolicLink(path, Path.of(target()));
        case 3 -> link(path);
        case 4 -> sparse(path);
        default -> files.add(Files.write(path, bytes(size())));
      }
    }
    List<Path> all;
    try (Stream<Path> walk = Files.walk(directory)) {
      all = new ArrayList<>(walk.toList());
    }
    for (Path path : all.reversed()) {
      dress(path);
    }
  }

  private String name(int i) {
    return switch (random.nextInt(10)) {
      case 0 -> "Ünïcode-☃-" + i;
      case 1 -> "x".repeat(200) + i;
      case 2 -> " white space\t" + i;
      default -> "file" + i;
    };
  }

  private String target() {
    return "t"
        .repeat(1 + random.nextInt(random.nextBoolean() ? 59 : 1000))
        .replaceAll("t{50}", "/a");
  }

  private void link(Path path) throws IOException {
    if (files.isEmpty()) {
      files.add(Files.createFile(path));
    } else {
      Files.createLink(path, files.get(random.nextInt(files.size())));
    }
  }

  private void sparse(Path path) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int i = random.nextInt(4); i >= 0; i--) {
        channel.write(ByteBuffer.wrap(bytes(random.nextInt(9000))), random.nextInt(1 << 19));
      }
      if (random.nextBoolean()) {
        channel.write(ByteBuffer.allocate(1), 3 << 18);
      }
    }
    files.add(path);
  }

  private int size() {
    return switch (random.nextInt(20)) {
      case 0 -> 0;
      case 1 -> 1 << 18;
      case 2 -> random.nextInt(1 << 20);
      case 3 -> 4096;
      default -> random.nextInt(10_000);
    };
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private void dress(Path path) throws IOException {
    boolean link = Files.isSymbolicLink(path);
    if (root) {
      Files.setAttribute(path, "unix:uid", random.nextInt(70_000), LinkOption.NOFOLLOW_LINKS);
      Files.setAttribute(path, "unix:gid", random.nextInt(70_000), LinkOption.NOFOLLOW_LINKS);
    }
    if (!link) {
      int permissions = 0400 | random.nextInt(07777);
      Files.setAttribute(
          path, "unix:mode", Files.isDirectory(path) ? permissions | 0700 : permissions);
    }
    Instant time =
        Instant.ofEpochSecond(random.nextLong(2_000_000_000L), random.nextInt(1_000_000_000));
    Files.getFileAttributeView(path, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .setTimes(FileTime.from(time), FileTime.from(time.plusNanos(1)), null);
  }

  /// What differs between two trees, by path.
  static Map<String, String> differences(Path expected, Path actual) throws IOException {
    Map<String, String> wanted = describe(expected);
    Map<String, String> found = describe(actual);
    Map<String, String> differences = new TreeMap<>();
    wanted.forEach(
        (path, value) -> {
          if (!value.equals(found.get(path))) {
            differences.put(path, "expected " + value + ", found " + found.get(path));
          }
        });
    found.forEach(
        (path, value) -> {
          if (!wanted.containsKey(path)) {
            differences.put(path, "not expected: " + value);
          }
        });
    return differences;
  }

  /// All that a copy must keep of each file, by its path.
  private static Map<String, String> describe(Path directory) throws IOException {
    Map<String, String> description = new TreeMap<>();
    Map<Long, String> firstNames = new TreeMap<>();
    List<Path> all;
    try (Stream<Path> walk = Files.walk(directory)) {
      all = walk.sorted().toList();
    }
    for (Path path : all) {
      String name = directory.relativize(path).toString();
      Attributes attributes = HostFiles.attributes(path, false);
      String first = firstNames.computeIfAbsent(attributes.ino(), _ -> name);
      String content =
          switch (attributes.type()) {
            case REGULAR -> attributes.sizeBytes() + " " + digest(path);
            case SYMLINK -> Files.readSymbolicLink(path).toString();
            default -> "";
          };
      description.put(
          name,
          String.join(
              " ",
              attributes.type().toString(),
              Integer.toOctalString(attributes.mode()),
              attributes.type() == FileType.DIRECTORY ? "" : Integer.toString(attributes.nlink()),
              attributes.uid() + ":" + attributes.gid(),
              attributes.times().modified().toString(),
              "as " + first,
              content));
    }
    return description;
  }

  private static String digest(Path path) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(Files.readAllBytes(path)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
