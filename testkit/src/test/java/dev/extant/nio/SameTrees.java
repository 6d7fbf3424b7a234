package dev.extant.nio;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Makes the same small trees on any file system, and describes what became of them.
enum SameTrees {
  MISSING,
  FILE,
  EMPTY_DIRECTORY,
  FULL_DIRECTORY,
  LINK_TO_FILE,
  LINK_TO_DIRECTORY,
  DANGLING_LINK;

  private static final String LINKED_FILE = "linked-file";
  private static final String LINKED_DIRECTORY = "linked-directory";

  /// Makes what the links of this kind lead to.
  static void makeCommon(Path directory) throws IOException {
    Files.writeString(directory.resolve(LINKED_FILE), "linked");
    Files.createDirectory(directory.resolve(LINKED_DIRECTORY));
    Files.writeString(directory.resolve(LINKED_DIRECTORY).resolve("inside"), "inside");
  }

  /// Makes one of this kind.
  void make(Path path) throws IOException {
    switch (this) {
      case MISSING -> {}
      case FILE -> Files.writeString(path, "of " + path.getFileName());
      case EMPTY_DIRECTORY -> Files.createDirectory(path);
      case FULL_DIRECTORY -> Files.writeString(Files.createDirectory(path).resolve("x"), "x");
      case LINK_TO_FILE -> link(path, LINKED_FILE);
      case LINK_TO_DIRECTORY -> link(path, LINKED_DIRECTORY);
      case DANGLING_LINK -> link(path, "nowhere");
    }
  }

  private static void link(Path path, String target) throws IOException {
    Files.createSymbolicLink(path, path.getFileSystem().getPath(target));
  }

  /// Every name below a directory, with its type and content.
  static Map<String, String> describe(Path directory) throws IOException {
    Map<String, String> tree = new TreeMap<>();
    try (Stream<Path> walk = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) walk::iterator) {
        String content;
        if (Files.isSymbolicLink(path)) {
          content = "-> " + Files.readSymbolicLink(path);
        } else if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
          content = "directory";
        } else {
          content = Files.readString(path);
        }
        tree.put(directory.relativize(path).toString(), content);
      }
    }
    return tree;
  }

  /// Empties a directory.
  static void clear(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException failure)
              throws IOException {
            if (!visited.equals(directory)) {
              Files.delete(visited);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
