package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Copies, moves, links and deletions of every kind of file onto every other.
class CopyAndMoveComparisonTest extends HostComparison {
  /// All subsets.
  private static List<CopyOption[]> subsets(CopyOption... options) {
    List<CopyOption[]> subsets = new ArrayList<>();
    for (int bits = 0; bits < 1 << options.length; bits++) {
      List<CopyOption> subset = new ArrayList<>();
      for (int i = 0; i < options.length; i++) {
        if ((bits >> i & 1) != 0) {
          subset.add(options[i]);
        }
      }
      subsets.add(subset.toArray(CopyOption[]::new));
    }
    return subsets;
  }

  @FunctionalInterface
  private interface Step {
    void run(Path source, Path target) throws IOException;
  }

  /// Compares the outcomes of a step between two names, and what it leaves whether it throws or
  /// not.
  private void compare(String what, SameTrees source, SameTrees target, Step step) {
    String full = what + " " + source + " onto " + target;
    compare(
        full,
        directory -> {
          prepare(directory, source, target);
          step.run(directory.resolve("source"), directory.resolve("target"));
          return null;
        });
    compare("after " + full, SameTrees::describe);
  }

  private static void prepare(Path directory, SameTrees source, SameTrees target)
      throws IOException {
    SameTrees.clear(directory);
    SameTrees.makeCommon(directory);
    source.make(directory.resolve("source"));
    target.make(directory.resolve("target"));
  }

  private void compareAll(String what, Step step) {
    for (SameTrees source : SameTrees.values()) {
      for (SameTrees target : SameTrees.values()) {
        compare(what, source, target, step);
      }
    }
  }

  @Test
  void copies() {
    for (CopyOption[] options : subsets(REPLACE_EXISTING, NOFOLLOW_LINKS, COPY_ATTRIBUTES)) {
      compareAll("copy " + Arrays.toString(options), (from, to) -> Files.copy(from, to, options));
    }
  }

  @Test
  void moves() {
    for (CopyOption[] options : subsets(REPLACE_EXISTING, ATOMIC_MOVE, NOFOLLOW_LINKS)) {
      compareAll("move " + Arrays.toString(options), (from, to) -> Files.move(from, to, options));
    }
    compareAll("move with attributes", (from, to) -> Files.move(from, to, COPY_ATTRIBUTES));
    compareAll("atomic copy", (from, to) -> Files.copy(from, to, ATOMIC_MOVE));
  }

  @Test
  void ontoItself() {
    for (CopyOption[] options : subsets(REPLACE_EXISTING, NOFOLLOW_LINKS)) {
      compareAll(
          "copy of itself",
          (from, _) -> {
            // Difference.SELF_COPY
            if (!Files.isSymbolicLink(from) || !List.of(options).contains(REPLACE_EXISTING)) {
              Files.copy(from, from, options);
            }
          });
      compareAll("move of itself", (from, _) -> Files.move(from, from, options));
      compareAll("copy into itself", (from, _) -> Files.copy(from, from.resolve("below"), options));
      compareAll("move into itself", (from, _) -> Files.move(from, from.resolve("below"), options));
      compareAll("through a dot", (from, to) -> Files.move(from, to.resolve("."), options));
    }
  }

  @Test
  void otherOperationsOnNames() {
    compareAll("create", (_, to) -> Files.createFile(to));
    compareAll("create directory", (_, to) -> Files.createDirectory(to));
    compareAll("create directories", (_, to) -> Files.createDirectories(to.resolve("a/b")));
    compareAll("symbolic link", (from, to) -> Files.createSymbolicLink(to, from.getFileName()));
    compareAll("hard link", (from, to) -> Files.createLink(to, from));
    compareAll("delete", (_, to) -> Files.delete(to));
    compareAll("delete if there", (_, to) -> Files.deleteIfExists(to));
    compareAll("delete below", (_, to) -> Files.delete(to.resolve("inside")));
    compareAll("read link", (_, to) -> Files.readSymbolicLink(to));
    compareAll("list", (_, to) -> Files.newDirectoryStream(to).close());
    compareAll("real path", (_, to) -> to.toRealPath());
    compareAll("real path, not followed", (_, to) -> to.toRealPath(NOFOLLOW_LINKS));
    compareAll("same file", (from, to) -> Files.isSameFile(from, to));
    compareAll("mismatch", (from, to) -> Files.mismatch(from, to));
    compareAll("size", (_, to) -> Files.getAttribute(to, "unix:nlink"));
    compareAll("size, not followed", (_, to) -> Files.getAttribute(to, "isOther", NOFOLLOW_LINKS));
  }
}
