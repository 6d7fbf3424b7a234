package dev.extant.testkit;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Everything in a small file system, by path; read from a [Volume] or where the kernel mounted it.
///
/// `lost+found` is left out.
public record TreeSnapshot(SortedMap<String, Entry> entries) {
  /// `content` is what is in a file, or the target of a symbolic link; empty for others.
  public record Entry(FileType type, long ino, int nlink, byte[] content) {}

  private static final String LOST_AND_FOUND = "lost+found";
  private static final long MAX_FILE_BYTES = 4L << 20;

  public static TreeSnapshot of(Volume volume) throws FsException {
    TreeSnapshot tree = new TreeSnapshot(new TreeMap<>());
    try (Node root = volume.root()) {
      tree.readDirectory(volume, root, "");
    }
    return tree;
  }

  private void readDirectory(Volume volume, Node directory, String prefix) throws FsException {
    List<FileName> names = new ArrayList<>();
    volume.readDirectory(directory, 0, (name, ino, type, cookie) -> names.add(name));
    for (FileName name : names) {
      String path = prefix + name;
      if (name.isDot() || name.isDotDot() || path.equals(LOST_AND_FOUND)) {
        continue;
      }
      try (Node node = volume.lookup(directory, name)) {
        Attributes attributes = volume.attributes(node);
        byte[] content = content(volume, node, attributes.sizeBytes());
        Entry entry = new Entry(node.type(), node.ino(), attributes.nlink(), content);
        if (entries.put(path, entry) != null) {
          throw new AssertionError(path + " is there twice");
        }
        if (node.type() == FileType.DIRECTORY) {
          readDirectory(volume, node, path + "/");
        }
      }
    }
  }

  private static byte[] content(Volume volume, Node node, long sizeBytes) throws FsException {
    return switch (node.type()) {
      case REGULAR -> {
        if (sizeBytes > MAX_FILE_BYTES) {
          throw new AssertionError("inode " + node.ino() + " has " + sizeBytes + " bytes");
        }
        byte[] content = new byte[(int) sizeBytes];
        int count = volume.read(node, 0, MemorySegment.ofArray(content));
        if (count != sizeBytes) {
          throw new AssertionError(
              "inode " + node.ino() + " gave " + count + " of " + sizeBytes + " bytes");
        }
        yield content;
      }
      case SYMLINK -> volume.readlink(node);
      default -> new byte[0];
    };
  }

  /// Fails unless `other` has the same paths with the same types, links and content. Inode numbers
  /// may differ.
  public void requireSame(String where, TreeSnapshot other) {
    if (!entries.keySet().equals(other.entries.keySet())) {
      throw new AssertionError(
          where + ": expected " + entries.keySet() + ", found " + other.entries.keySet());
    }
    entries.forEach(
        (path, entry) -> {
          Entry now = other.entries.get(path);
          if (now.type != entry.type
              || now.nlink != entry.nlink
              || !Arrays.equals(now.content, entry.content)) {
            throw new AssertionError(where + ": " + path + " is not as it was");
          }
        });
  }

  /// What is below a directory of the machine's own file system.
  public static TreeSnapshot of(Path directory) throws IOException {
    TreeSnapshot tree = new TreeSnapshot(new TreeMap<>());
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        String name = directory.relativize(path).toString();
        if (!name.isEmpty() && !name.equals(LOST_AND_FOUND)) {
          tree.entries.put(name, entry(path));
        }
      }
    }
    return tree;
  }

  private static Entry entry(Path path) throws IOException {
    var attributes = Files.readAttributes(path, "unix:mode,ino,nlink", LinkOption.NOFOLLOW_LINKS);
    FileType type = FileType.ofMode((Integer) attributes.get("mode"));
    byte[] content =
        switch (type) {
          case REGULAR -> Files.readAllBytes(path);
          case SYMLINK -> Files.readSymbolicLink(path).toString().getBytes(StandardCharsets.UTF_8);
          default -> new byte[0];
        };
    return new Entry(
        type, (Long) attributes.get("ino"), (Integer) attributes.get("nlink"), content);
  }
}
