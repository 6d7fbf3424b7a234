package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What [Files] builds from the operations of a provider.
interface NioFilesContract extends NioFixture {
  private Path file(String name, String content) throws IOException {
    return Files.writeString(path(name), content);
  }

  @Test
  default void temporaryFilesAndDirectories() throws IOException {
    Set<Path> made = new HashSet<>();
    for (int i = 0; i < 50; i++) {
      Path file = Files.createTempFile(directory(), "pre", ".suf");
      assertThat(file.getParent()).isEqualTo(directory());
      assertThat(file.getFileName().toString()).startsWith("pre").endsWith(".suf");
      assertThat(file).isEmptyFile();
      assertThat(made.add(file)).isTrue();
      Path folder = Files.createTempDirectory(directory(), null);
      assertThat(folder).isEmptyDirectory();
      assertThat(made.add(folder)).isTrue();
    }
    var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r--r-----"));
    Path given = Files.createTempFile(directory(), null, null, mode);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(given)))
        .isEqualTo("r--r-----");
    Path plain = Files.createTempFile(directory(), "plain", null);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(plain)))
        .isEqualTo(differs(Difference.TEMPORARY) ? "rw-r--r--" : "rw-------");
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.createTempFile(path("missing"), "a", "b"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Files.createTempFile(directory(), "a/b", null));
  }

  @ParameterizedTest
  @CsvSource({"0, 0, -1", "1, 0, 0", "5000, 5000, -1", "5000, 4999, 4999", "100000, 70000, 70000"})
  default void mismatches(int one, int two, long expected) throws IOException {
    byte[] content = new byte[100_000];
    new Random(7).nextBytes(content);
    Files.write(path("one"), Arrays.copyOf(content, one));
    Files.write(path("two"), Arrays.copyOf(content, two));
    assertThat(Files.mismatch(path("one"), path("two"))).isEqualTo(expected);
    assertThat(Files.mismatch(path("one"), path("one"))).isEqualTo(-1);
    if (two > 9000) {
      content[9000]++;
      Files.write(path("two"), Arrays.copyOf(content, two));
      assertThat(Files.mismatch(path("one"), path("two"))).isEqualTo(9000);
    }
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.mismatch(path("one"), path("missing")));
  }

  @Test
  default void sameFiles() throws IOException {
    file("a", "");
    file("b", "");
    Files.createDirectory(path("d"));
    Files.createSymbolicLink(path("link"), path("a").getFileName());
    assertThat(Files.isSameFile(path("a"), path("a"))).isTrue();
    assertThat(Files.isSameFile(path("a"), path("d/../a"))).isTrue();
    assertThat(Files.isSameFile(path("a"), path("link"))).isTrue();
    assertThat(Files.isSameFile(path("a"), path("b"))).isFalse();
    assertThat(Files.isSameFile(path("a"), path("d"))).isFalse();
    assertThat(Files.isSameFile(path("missing"), path("missing"))).isTrue();
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.isSameFile(path("a"), path("missing")));
  }

  @Test
  default void typesOfFiles() throws IOException {
    file("a", "abc");
    Files.createSymbolicLink(path("link"), path("a").getFileName());
    Files.createSymbolicLink(path("dangling"), path("missing").getFileName());
    assertThat(Files.isRegularFile(path("link"))).isTrue();
    assertThat(Files.isRegularFile(path("link"), NOFOLLOW_LINKS)).isFalse();
    assertThat(Files.isDirectory(path("a"))).isFalse();
    assertThat(Files.isSymbolicLink(path("dangling"))).isTrue();
    assertThat(Files.notExists(path("dangling"))).isTrue();
    assertThat(Files.size(path("link"))).isEqualTo(3);
    assertThat(Files.probeContentType(path("x.txt"))).isEqualTo("text/plain");
    assertThat(Files.probeContentType(path("x.html"))).isEqualTo("text/html");
    assertThat(Files.probeContentType(path("x.no-such-type"))).isNull();
  }

  @Test
  default void linesAndText() throws IOException {
    file("text", "one\ntwo\r\nthree\n\nlast ä€😀");
    try (Stream<String> lines = Files.lines(path("text"))) {
      assertThat(lines).containsExactly("one", "two", "three", "", "last ä€😀");
    }
    try (Stream<String> lines = Files.lines(path("text")).parallel()) {
      assertThat(lines.filter(line -> line.contains("o")).count()).isEqualTo(2);
    }
    assertThat(Files.readAllLines(path("text"))).hasSize(5);
    try (BufferedWriter writer = Files.newBufferedWriter(path("text"), APPEND)) {
      writer.write("\nmore");
    }
    try (BufferedReader reader = Files.newBufferedReader(path("text"))) {
      assertThat(reader.lines().toList()).hasSize(6).endsWith("more");
    }
    Files.write(path("latin"), "grün".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(Files.readString(path("latin"), StandardCharsets.ISO_8859_1)).isEqualTo("grün");
    assertThatExceptionOfType(MalformedInputException.class)
        .isThrownBy(() -> Files.readString(path("latin")));
  }

  @Test
  default void streamsIntoAndOutOfFiles() throws IOException {
    byte[] content = new byte[300_000];
    new Random(3).nextBytes(content);
    assertThat(Files.copy(new ByteArrayInputStream(content), path("in"))).isEqualTo(300_000);
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.copy(InputStream.nullInputStream(), path("in")));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(Files.copy(path("in"), out)).isEqualTo(300_000);
    assertThat(out.toByteArray()).isEqualTo(content);
    Files.copy(new ByteArrayInputStream(new byte[5]), path("in"), REPLACE_EXISTING);
    assertThat(Files.size(path("in"))).isEqualTo(5);
    try (OutputStream stream = Files.newOutputStream(path("new"), CREATE_NEW)) {
      stream.write(content, 100, 1000);
    }
    try (InputStream stream = Files.newInputStream(path("new"))) {
      assertThat(stream.available()).isEqualTo(1000);
      assertThat(stream.readNBytes(10)).isEqualTo(Arrays.copyOfRange(content, 100, 110));
      assertThat(stream.transferTo(OutputStream.nullOutputStream())).isEqualTo(990);
    }
    Files.createDirectory(path("directory"));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> Files.readAllBytes(path("directory")));
    Files.write(path("lines"), (Iterable<String>) Stream.of("a", "b")::iterator);
    assertThat(path("lines")).hasContent("a\nb\n");
  }

  private List<String> found(Stream<Path> paths) {
    return paths.map(path -> directory().relativize(path).toString()).sorted().toList();
  }

  @Test
  default void walkingAndFinding() throws IOException {
    Files.createDirectories(path("a/b/c"));
    file("a/b/x.txt", "");
    file("a/y.txt", "");
    Files.createSymbolicLink(path("a/b/up"), directory().getFileSystem().getPath("../.."));
    try (Stream<Path> walk = Files.walk(path("a"), 1)) {
      assertThat(found(walk)).containsExactly("a", "a/b", "a/y.txt");
    }
    try (Stream<Path> list = Files.list(path("a/b"))) {
      assertThat(found(list)).containsExactly("a/b/c", "a/b/up", "a/b/x.txt");
    }
    try (Stream<Path> find =
        Files.find(directory(), 10, (path, attributes) -> attributes.isRegularFile())) {
      assertThat(found(find)).containsExactly("a/b/x.txt", "a/y.txt");
    }
    try (Stream<Path> walk = Files.walk(directory(), FileVisitOption.FOLLOW_LINKS)) {
      assertThatExceptionOfType(UncheckedIOException.class)
          .isThrownBy(walk::count)
          .withCauseInstanceOf(FileSystemLoopException.class);
    }
    List<String> failed = new ArrayList<>();
    Files.walkFileTree(
        directory(),
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure) {
            failed.add(directory().relativize(file).toString());
            assertThat(failure).isInstanceOf(FileSystemLoopException.class);
            return FileVisitResult.CONTINUE;
          }
        });
    assertThat(failed).containsExactly("a/b/up");
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.walk(path("missing")));
  }

  @Test
  default void aTreeIsCopied() throws IOException {
    Files.createDirectories(path("from/a/b"));
    FileTime time = FileTime.fromMillis(1_000_000_000L);
    for (String name : List.of("one", "a/two", "a/b/three")) {
      Files.setLastModifiedTime(file("from/" + name, name), time);
    }
    Files.createSymbolicLink(path("from/link"), path("one").getFileName());
    Path to = otherDirectory() == null ? path("to") : otherDirectory().resolve("to");
    Files.walkFileTree(
        path("from"),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(directory, target(directory), COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(file, target(file), COPY_ATTRIBUTES, NOFOLLOW_LINKS);
            return FileVisitResult.CONTINUE;
          }

          private Path target(Path source) {
            return to.resolve(path("from").relativize(source).toString());
          }
        });
    for (String name : List.of("one", "a/two", "a/b/three")) {
      assertThat(to.resolve(name)).hasContent(name);
      assertThat(Files.getLastModifiedTime(to.resolve(name))).isEqualTo(time);
    }
    assertThat(Files.readSymbolicLink(to.resolve("link")).toString()).isEqualTo("one");
  }

  @Test
  default void directoriesTwice() throws IOException {
    Files.createDirectories(path("a/b"));
    Files.createSymbolicLink(path("link"), path("a").getFileName());
    Files.createDirectories(path("link/b/c"));
    Files.createDirectories(path("a"));
    assertThat(path("a/b/c")).isDirectory();
    file("file", "");
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.createDirectories(path("file")));
    assertThatExceptionOfType(DirectoryNotEmptyException.class)
        .isThrownBy(() -> Files.deleteIfExists(path("a")));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4095, 4096, 4097, 1_000_000})
  default void copiesOfAnySize(int size) throws IOException {
    byte[] content = new byte[size];
    new Random(size).nextBytes(content);
    Files.write(path("file"), content);
    Files.copy(path("file"), path("copy"));
    assertThat(Files.readAllBytes(path("copy"))).isEqualTo(content);
    Files.move(path("copy"), path("moved"));
    assertThat(Files.readAllBytes(path("moved"))).isEqualTo(content);
  }

  /// An interrupt is for channels; whoever copies goes on and finds it set.
  @Test
  default void aCopyIsNotInterrupted() throws IOException {
    file("file", "abc");
    Thread.currentThread().interrupt();
    try {
      Files.copy(path("file"), path("copy"), REPLACE_EXISTING);
      Files.move(path("copy"), path("moved"));
      Files.setLastModifiedTime(path("moved"), FileTime.fromMillis(1000));
      assertThat(Files.exists(path("moved"))).isTrue();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(path("moved")).hasContent("abc");
  }
}
