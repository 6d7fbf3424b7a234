package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Making, removing, linking, moving and copying names.
interface NioNamespaceContract extends NioFixture {
  private Path file(String name, String content) throws IOException {
    return Files.writeString(path(name), content);
  }

  private Path link(String name, String target) throws IOException {
    return Files.createSymbolicLink(path(name), path(name).getFileSystem().getPath(target));
  }

  private Path dir(String name) throws IOException {
    return Files.createDirectories(path(name));
  }

  @Test
  default void directoriesAreMade() throws IOException {
    Files.createDirectory(path("a"));
    assertThat(path("a")).isDirectory();
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.createDirectory(path("a")))
        .withMessageContaining("a");
    file("file", "");
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.createDirectory(path("file")));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.createDirectory(path("missing/b")));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.createDirectory(path("file/b")));
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.createDirectory(directory().getRoot()));
    Files.createDirectories(path("x/y/z"));
    Files.createDirectories(path("x/y/z"));
  }

  @Test
  default void initialAttributes() throws IOException {
    var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x---"));
    Files.createDirectory(path("a"), mode);
    Files.createFile(path("b"), mode);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path("a"))))
        .isEqualTo("rwx--x---");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path("b"))))
        .isEqualTo("rwx--x---");
    FileAttribute<FileTime> time =
        new FileAttribute<>() {
          @Override
          public String name() {
            return "basic:lastModifiedTime";
          }

          @Override
          public FileTime value() {
            return FileTime.fromMillis(0);
          }
        };
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.createFile(path("c"), time));
    assertThat(path("c")).doesNotExist();
  }

  @Test
  default void deleting() throws IOException {
    file("file", "x");
    dir("empty");
    file(dir("full").resolve("file").toString(), "");
    link("link", "full");
    for (String name : List.of("file", "empty", "link")) {
      Files.delete(path(name));
      assertThat(Files.exists(path(name), NOFOLLOW_LINKS)).isFalse();
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> Files.delete(path(name)));
    }
    assertThatExceptionOfType(DirectoryNotEmptyException.class)
        .isThrownBy(() -> Files.delete(path("full")));
    assertThat(Files.deleteIfExists(path("missing"))).isFalse();
    assertThat(Files.deleteIfExists(path("full/file"))).isTrue();
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.delete(path("full/.")));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.delete(directory().getRoot()));
  }

  @Test
  default void symbolicLinks() throws IOException {
    file("file", "abc");
    link("link", "file");
    link("dangling", "nowhere");
    link("odd", "/a/../b/./c");
    assertThat(Files.readSymbolicLink(path("link")).toString()).isEqualTo("file");
    assertThat(Files.readSymbolicLink(path("odd")).toString()).isEqualTo("/a/../b/./c");
    assertThat(Files.readString(path("link"))).isEqualTo("abc");
    assertThat(Files.isSymbolicLink(path("link"))).isTrue();
    assertThat(Files.size(path("link"))).isEqualTo(3);
    assertThat(Files.exists(path("dangling"))).isFalse();
    assertThat(Files.exists(path("dangling"), NOFOLLOW_LINKS)).isTrue();
    assertThatExceptionOfType(NotLinkException.class)
        .isThrownBy(() -> Files.readSymbolicLink(path("file")));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.readSymbolicLink(path("missing")));
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> link("link", "other"));
    String longTarget = "x/".repeat(500) + "y";
    link("long", longTarget);
    assertThat(Files.readSymbolicLink(path("long")).toString()).isEqualTo(longTarget);
  }

  @Test
  default void walkingThroughLinks() throws IOException {
    file(dir("a/b").resolve("file").toString(), "abc");
    link("toB", "a/b");
    link("toAbsolute", path("toB").toAbsolutePath().toString());
    link("a/up", "../toB");
    link("toFile", "a/b/file");
    assertThat(path("toB/file")).hasContent("abc");
    assertThat(path("toAbsolute/file")).hasContent("abc");
    assertThat(path("toB/../up/file")).hasContent("abc");
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.size(path("toFile/x")));
    Files.createFile(path("toB/new"));
    assertThat(path("a/b/new")).exists();
  }

  private Class<? extends FileSystemException> loopException() {
    return differs(Difference.LOOPS) ? FileSystemLoopException.class : FileSystemException.class;
  }

  @Test
  default void linksInALoop() throws IOException {
    link("a", "b");
    link("b", "a");
    assertThatExceptionOfType(loopException()).isThrownBy(() -> Files.size(path("a")));
    assertThatExceptionOfType(loopException()).isThrownBy(() -> Files.createDirectory(path("a/x")));
    file("0", "end");
    for (int i = 1; i <= 41; i++) {
      link(Integer.toString(i), Integer.toString(i - 1));
    }
    assertThat(path("40")).hasContent("end");
    assertThatExceptionOfType(loopException()).isThrownBy(() -> Files.size(path("41")));
  }

  @Test
  default void hardLinks() throws IOException {
    file("file", "abc");
    link("symbolic", "file");
    dir("directory");
    Files.createLink(path("directory/hard"), path("file"));
    file("file", "changed");
    assertThat(path("directory/hard")).hasContent("changed");
    assertThat(Files.isSameFile(path("file"), path("directory/hard"))).isTrue();
    assertThat(Files.isSameFile(path("file"), path("symbolic"))).isTrue();
    Files.createLink(path("second"), path("symbolic"));
    assertThat(Files.isSymbolicLink(path("second"))).isTrue();
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.createLink(path("new"), path("directory")));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.createLink(path("new"), path("missing")));
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.createLink(path("second"), path("file")))
        .withMessageContaining("second");
  }

  @Test
  default void namesThatAreTooLong() throws IOException {
    Files.createFile(path("x".repeat(255)));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.createFile(path("x".repeat(256))));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.size(path("x".repeat(256))));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  default void moving(boolean atomic) throws IOException {
    CopyOption[] options = atomic ? new CopyOption[] {ATOMIC_MOVE} : new CopyOption[0];
    file("file", "abc");
    file(dir("directory").resolve("x").toString(), "x");
    link("link", "file");
    Files.move(path("link"), path("link2"), options);
    assertThat(Files.isSymbolicLink(path("link2"))).isTrue();
    Files.move(path("file"), path("directory/moved"), options);
    assertThat(path("directory/moved")).hasContent("abc");
    assertThat(path("file")).doesNotExist();
    Files.move(path("directory"), path("other"), options);
    assertThat(path("other/moved")).hasContent("abc");
    Files.move(path("other"), path("other"), options);
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.move(path("missing"), path("y"), options));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.move(path("other"), path("missing/y"), options));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.move(path("other"), path("other/inside"), options));
    assertThat(path("other/moved")).exists();
  }

  @Test
  default void movingOntoWhatIsThere() throws IOException {
    file("a", "a");
    file("b", "b");
    dir("empty");
    file(dir("full").resolve("x").toString(), "x");
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.move(path("a"), path("b")))
        .withMessageContaining("b");
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.move(path("a"), path("empty")));
    Files.move(path("a"), path("b"), REPLACE_EXISTING);
    assertThat(path("b")).hasContent("a");
    Files.move(path("b"), path("empty"), REPLACE_EXISTING);
    assertThat(path("empty")).hasContent("a");
    assertThatExceptionOfType(DirectoryNotEmptyException.class)
        .isThrownBy(() -> Files.move(path("empty"), path("full"), REPLACE_EXISTING));
    Files.move(path("full"), path("empty"), REPLACE_EXISTING);
    assertThat(path("empty/x")).hasContent("x");
    file("c", "c");
    Files.createLink(path("d"), path("c"));
    Files.move(path("c"), path("d"), REPLACE_EXISTING);
    assertThat(path("c")).hasContent("c");
  }

  private Class<? extends FileSystemException> notEmptyException() {
    return differs(Difference.NOT_EMPTY)
        ? DirectoryNotEmptyException.class
        : FileSystemException.class;
  }

  @Test
  default void movingAtomicallyReplaces() throws IOException {
    file("a", "a");
    file("b", "b");
    dir("one");
    file(dir("full").resolve("x").toString(), "x");
    Files.move(path("a"), path("b"), ATOMIC_MOVE);
    assertThat(path("b")).hasContent("a");
    Files.move(path("full"), path("one"), ATOMIC_MOVE);
    assertThat(path("one/x")).hasContent("x");
    dir("two");
    assertThatExceptionOfType(notEmptyException())
        .isThrownBy(() -> Files.move(path("two"), path("one"), ATOMIC_MOVE));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.move(path("b"), path("two"), ATOMIC_MOVE));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.move(path("two"), path("b"), ATOMIC_MOVE));
  }

  @Test
  default void unsupportedOptionsOfCopiesAndMoves() throws IOException {
    file("a", "a");
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.copy(path("a"), path("b"), ATOMIC_MOVE));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> Files.move(path("a"), path("b"), new CopyOption() {}));
    assertThatExceptionOfType(NullPointerException.class)
        .isThrownBy(() -> Files.copy(path("a"), path("b"), (CopyOption) null));
  }

  @Test
  default void copying() throws IOException {
    file("file", "abc");
    file(dir("directory").resolve("x").toString(), "x");
    link("link", "file");
    Files.copy(path("file"), path("copy"));
    assertThat(path("copy")).hasContent("abc");
    Files.copy(path("directory"), path("directory2"));
    assertThat(path("directory2")).isEmptyDirectory();
    Files.copy(path("link"), path("followed"));
    assertThat(path("followed")).isRegularFile().hasContent("abc");
    assertThat(Files.isSymbolicLink(path("followed"))).isFalse();
    Files.copy(path("link"), path("link2"), NOFOLLOW_LINKS);
    assertThat(Files.readSymbolicLink(path("link2")).toString()).isEqualTo("file");
    Files.copy(path("file"), path("file"));
    assertThatExceptionOfType(FileAlreadyExistsException.class)
        .isThrownBy(() -> Files.copy(path("file"), path("copy")))
        .withMessageContaining("copy");
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> Files.copy(path("missing"), path("y")));
    assertThatExceptionOfType(DirectoryNotEmptyException.class)
        .isThrownBy(() -> Files.copy(path("file"), path("directory"), REPLACE_EXISTING));
    file("other", "other");
    Files.copy(path("other"), path("link2"), REPLACE_EXISTING);
    assertThat(Files.isSymbolicLink(path("link2"))).isFalse();
    assertThat(path("file")).hasContent("abc");
  }

  @Test
  default void copyingAttributes() throws IOException {
    file("file", "abc");
    FileTime old = FileTime.fromMillis(1_234_567_000L);
    Files.setLastModifiedTime(path("file"), old);
    Files.setPosixFilePermissions(path("file"), PosixFilePermissions.fromString("rw-rw-rwx"));
    Files.copy(path("file"), path("with"), COPY_ATTRIBUTES);
    Files.copy(path("file"), path("without"));
    assertThat(Files.getLastModifiedTime(path("with"))).isEqualTo(old);
    assertThat(Files.getPosixFilePermissions(path("with")))
        .isEqualTo(Files.getPosixFilePermissions(path("file")));
    assertThat(Files.getLastModifiedTime(path("without"))).isGreaterThan(old);
  }

  @Test
  default void toAnotherFileSystem() throws IOException {
    Path other = otherDirectory();
    assumeTrue(other != null, "there is but one file system of this kind");
    file("file", "abc");
    link("link", "file");
    file(dir("full").resolve("x").toString(), "x");
    dir("empty");
    assertThatExceptionOfType(AtomicMoveNotSupportedException.class)
        .isThrownBy(() -> Files.move(path("file"), other.resolve("file"), ATOMIC_MOVE));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> Files.createLink(other.resolve("hard"), path("file")));
    Files.copy(path("file"), other.resolve("copy"));
    Files.move(path("file"), other.resolve("file"));
    Files.move(path("link"), other.resolve("link"));
    Files.move(path("empty"), other.resolve("empty"));
    assertThat(other.resolve("copy")).hasContent("abc");
    assertThat(other.resolve("link")).hasContent("abc");
    assertThat(Files.isSymbolicLink(other.resolve("link"))).isTrue();
    assertThat(path("file")).doesNotExist();
    assertThatExceptionOfType(DirectoryNotEmptyException.class)
        .isThrownBy(() -> Files.move(path("full"), other.resolve("full")));
    assertThat(path("full/x")).exists();
    assertThat(other.resolve("full")).doesNotExist();
  }
}
