package dev.extant.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Directory streams and tree walks.
interface NioDirectoryContract extends NioFixture {
  private void files(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      Files.createFile(path("f" + i));
    }
  }

  @Test
  default void everyEntryIsSeenOnce() throws IOException {
    files(1000);
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory())) {
      List<Path> expected = IntStream.range(0, 1000).mapToObj(i -> path("f" + i)).toList();
      assertThat(stream).containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  @Test
  default void entriesExtendThePathGiven() throws IOException {
    Files.createDirectories(path("a/b"));
    Files.createSymbolicLink(path("link"), directory().getFileSystem().getPath("a"));
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(path("link"))) {
      assertThat(stream).containsExactly(path("link/b"));
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(path("a/b"))) {
      assertThat(stream).isEmpty();
    }
  }

  @Test
  default void filters() throws IOException {
    files(12);
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory(), "f1*")) {
      assertThat(stream).containsExactlyInAnyOrder(path("f1"), path("f10"), path("f11"));
    }
    DirectoryStream.Filter<Path> failing =
        path -> {
          throw new IOException("refused");
        };
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory(), failing)) {
      Iterator<Path> iterator = stream.iterator();
      assertThatExceptionOfType(DirectoryIteratorException.class)
          .isThrownBy(iterator::hasNext)
          .havingCause()
          .withMessage("refused");
    }
  }

  @Test
  default void theIteratorsContract() throws IOException {
    files(1);
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory())) {
      Iterator<Path> iterator = stream.iterator();
      assertThatIllegalStateException().isThrownBy(stream::iterator);
      assertThat(iterator.hasNext()).isTrue();
      assertThat(iterator.hasNext()).isTrue();
      assertThat(iterator.next()).isEqualTo(path("f0"));
      assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(iterator::remove);
      assertThat(iterator.hasNext()).isFalse();
      assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(iterator::next);
    }
  }

  @Test
  default void aClosedStreamEnds() throws IOException {
    files(5);
    DirectoryStream<Path> stream = Files.newDirectoryStream(directory());
    Iterator<Path> iterator = stream.iterator();
    iterator.next();
    stream.close();
    stream.close();
    int left = 0;
    while (iterator.hasNext()) {
      iterator.next();
      left++;
    }
    assertThat(left).as("read ahead").isLessThanOrEqualTo(1);
    assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(iterator::next);
    DirectoryStream<Path> unused = Files.newDirectoryStream(directory());
    unused.close();
    assertThatIllegalStateException().isThrownBy(unused::iterator);
  }

  @Test
  default void onlyDirectoriesAreListed() throws IOException {
    files(1);
    assertThatExceptionOfType(NotDirectoryException.class)
        .isThrownBy(() -> Files.newDirectoryStream(path("f0")));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.newDirectoryStream(path("missing")));
  }

  @Test
  default void namesPresentAllTheTimeAreSeenOnceWhileOthersComeAndGo() throws IOException {
    files(600);
    List<Path> seen = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory())) {
      int i = 0;
      for (Path path : stream) {
        seen.add(path);
        if (i < 300) {
          Files.createFile(path("new" + i));
          Files.deleteIfExists(path("f" + (2 * i + 1)));
        }
        i++;
      }
    }
    assertThat(seen).doesNotHaveDuplicates();
    assertThat(seen).containsAll(IntStream.range(0, 300).mapToObj(i -> path("f" + 2 * i)).toList());
  }

  @Test
  default void deletingWhileIterating() throws IOException {
    files(700);
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory())) {
      for (Path path : stream) {
        Files.delete(path);
      }
    }
    assertThat(directory()).isEmptyDirectory();
  }

  @Test
  default void treesAreWalked() throws IOException {
    Files.createDirectories(path("a/b/c"));
    Files.writeString(path("a/b/file"), "x");
    Files.createSymbolicLink(path("a/loop"), directory().getFileSystem().getPath("../a"));
    try (Stream<Path> walk = Files.walk(directory())) {
      assertThat(walk.map(path -> directory().relativize(path).toString()))
          .containsExactlyInAnyOrder("", "a", "a/b", "a/b/c", "a/b/file", "a/loop");
    }
    TreeSet<String> left = new TreeSet<>();
    Files.walkFileTree(
        directory(),
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
            left.add(directory().relativize(visited).toString());
            if (!visited.equals(directory())) {
              Files.delete(visited);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(left).containsExactly("", "a", "a/b", "a/b/c");
    assertThat(directory()).isEmptyDirectory();
  }
}
