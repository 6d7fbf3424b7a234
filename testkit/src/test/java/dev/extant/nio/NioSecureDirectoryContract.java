package dev.extant.nio;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.ClosedDirectoryStreamException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Secure directory streams: operations relative to an open directory.
interface NioSecureDirectoryContract extends NioFixture {
  private SecureDirectoryStream<Path> open(String name) throws IOException {
    return (SecureDirectoryStream<Path>) Files.newDirectoryStream(path(name));
  }

  private Path relative(String name) {
    return directory().getFileSystem().getPath(name);
  }

  private void write(SecureDirectoryStream<Path> stream, String name, String content)
      throws IOException {
    try (SeekableByteChannel channel =
        stream.newByteChannel(relative(name), Set.of(WRITE, CREATE))) {
      channel.write(ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8)));
    }
  }

  private String read(SecureDirectoryStream<Path> stream, String name, OpenOption... options)
      throws IOException {
    try (SeekableByteChannel channel = stream.newByteChannel(relative(name), Set.of(options))) {
      ByteBuffer buffer = ByteBuffer.allocate(100);
      channel.read(buffer);
      return StandardCharsets.UTF_8.decode(buffer.flip()).toString();
    }
  }

  @Test
  default void theDirectoryIsFoundWhereverItIs() throws IOException {
    Files.createDirectories(path("a/sub"));
    Files.writeString(path("a/file"), "abc");
    try (SecureDirectoryStream<Path> stream = open("a")) {
      Files.move(path("a"), path("b"));
      Files.createDirectory(path("a"));
      assertThat(read(stream, "file")).isEqualTo("abc");
      write(stream, "new", "new");
      write(stream, "sub/below", "below");
      assertThat(path("b/new")).hasContent("new");
      assertThat(path("b/sub/below")).hasContent("below");
      assertThat(path("a")).isEmptyDirectory();
      stream.deleteFile(relative("file"));
      stream.deleteFile(relative("sub/below"));
      stream.deleteDirectory(relative("sub"));
      assertThat(path("b/file")).doesNotExist();
      assertThat(path("b/sub")).doesNotExist();
      assertThat(stream).extracting(Path::getFileName).containsExactly(relative("new"));
    }
  }

  @Test
  default void aRemovedDirectoryIsEmpty() throws IOException {
    Files.createDirectory(path("a"));
    try (SecureDirectoryStream<Path> stream = open("a")) {
      Files.delete(path("a"));
      Files.createDirectory(path("a"));
      Files.createFile(path("a/file"));
      assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> read(stream, "file"));
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> write(stream, "new", ""));
      var view = stream.getFileAttributeView(BasicFileAttributeView.class);
      assertThat(view.readAttributes().isDirectory()).isTrue();
      assertThat(view.readAttributes().fileKey())
          .isNotEqualTo(Files.getAttribute(path("a"), "fileKey"));
      assertThat(stream).isEmpty();
    }
    assertThat(path("a/file")).exists();
  }

  @Test
  default void openingRelativeToIt() throws IOException {
    Files.createDirectories(path("a/sub"));
    Files.createSymbolicLink(path("a/link"), relative("sub"));
    Files.createSymbolicLink(path("a/out"), relative("../file"));
    Files.writeString(path("a/sub/file"), "abc");
    Files.writeString(path("file"), "outside");
    try (SecureDirectoryStream<Path> stream = open("a")) {
      try (SecureDirectoryStream<Path> sub = stream.newDirectoryStream(relative("sub"))) {
        assertThat(sub).containsExactly(path("a/sub/file"));
        assertThat(read(sub, "file", READ)).isEqualTo("abc");
        assertThat(read(sub, "../../file", READ)).isEqualTo("outside");
      }
      try (SecureDirectoryStream<Path> sub = stream.newDirectoryStream(relative("link"))) {
        assertThat(sub).containsExactly(path("a/link/file"));
      }
      assertThatExceptionOfType(FileSystemException.class)
          .isThrownBy(() -> stream.newDirectoryStream(relative("link"), NOFOLLOW_LINKS));
      assertThatExceptionOfType(FileSystemException.class)
          .isThrownBy(() -> stream.newDirectoryStream(relative("sub/file")));
      assertThat(read(stream, "out")).isEqualTo("outside");
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> read(stream, "out", READ, NOFOLLOW_LINKS));
      assertThat(read(stream, path("file").toString())).as("absolute").isEqualTo("outside");
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> stream.newDirectoryStream(relative("missing")));
    }
  }

  @Test
  default void makingFilesRelativeToIt() throws IOException {
    Files.createDirectory(path("a"));
    var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r--------"));
    try (SecureDirectoryStream<Path> stream = open("a")) {
      stream.newByteChannel(relative("file"), Set.of(WRITE, CREATE_NEW), mode).close();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path("a/file"))))
          .isEqualTo("r--------");
      assertThatExceptionOfType(FileAlreadyExistsException.class)
          .isThrownBy(() -> stream.newByteChannel(relative("file"), Set.of(WRITE, CREATE_NEW)));
    }
  }

  @Test
  default void deletingRelativeToIt() throws IOException {
    Files.createDirectories(path("a/full/x"));
    Files.createFile(path("a/file"));
    Files.createSymbolicLink(path("a/link"), relative("full"));
    try (SecureDirectoryStream<Path> stream = open("a")) {
      assertThatExceptionOfType(FileSystemException.class)
          .isThrownBy(() -> stream.deleteFile(relative("full")));
      assertThatExceptionOfType(FileSystemException.class)
          .isThrownBy(() -> stream.deleteDirectory(relative("file")));
      assertThatExceptionOfType(DirectoryNotEmptyException.class)
          .isThrownBy(() -> stream.deleteDirectory(relative("full")));
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> stream.deleteFile(relative("missing")));
      stream.deleteFile(relative("link"));
      stream.deleteFile(relative("file"));
      stream.deleteDirectory(relative("full/x"));
      stream.deleteDirectory(relative("full"));
    }
    assertThat(path("a")).isEmptyDirectory();
  }

  @Test
  default void movingBetweenThem() throws IOException {
    Files.createDirectories(path("a/directory"));
    Files.createDirectories(path("b/full/x"));
    Files.writeString(path("a/file"), "abc");
    Files.writeString(path("b/old"), "old");
    try (SecureDirectoryStream<Path> a = open("a");
        SecureDirectoryStream<Path> b = open("b")) {
      Files.move(path("b"), path("c"));
      a.move(relative("file"), b, relative("new"));
      assertThat(path("c/new")).hasContent("abc");
      b.move(relative("new"), b, relative("old"));
      assertThat(path("c/old")).hasContent("abc");
      a.move(relative("directory"), b, relative("moved"));
      assertThat(path("c/moved")).isDirectory();
      assertThatExceptionOfType(NoSuchFileException.class)
          .isThrownBy(() -> a.move(relative("missing"), b, relative("y")));
      assertThatExceptionOfType(FileSystemException.class)
          .isThrownBy(() -> b.move(relative("moved"), b, relative("full")));
      assertThatExceptionOfType(NullPointerException.class)
          .isThrownBy(() -> a.move(relative("x"), null, relative("y")));
    }
  }

  @Test
  default void attributesRelativeToIt() throws IOException {
    Files.createDirectory(path("a"));
    Files.writeString(path("a/file"), "abc");
    Files.createSymbolicLink(path("a/link"), relative("file"));
    FileTime time = FileTime.fromMillis(1_000_000_000L);
    try (SecureDirectoryStream<Path> stream = open("a")) {
      Files.move(path("a"), path("b"));
      var file = stream.getFileAttributeView(relative("file"), PosixFileAttributeView.class);
      assertThat(file.name()).isEqualTo("posix");
      assertThat(file.readAttributes().size()).isEqualTo(3);
      file.setTimes(time, null, null);
      file.setPermissions(PosixFilePermissions.fromString("rwx------"));
      file.setOwner(file.getOwner());
      assertThat(Files.getLastModifiedTime(path("b/file"))).isEqualTo(time);
      assertThat(PosixFilePermissions.toString(file.readAttributes().permissions()))
          .isEqualTo("rwx------");
      var link =
          stream.getFileAttributeView(
              relative("link"), BasicFileAttributeView.class, NOFOLLOW_LINKS);
      assertThat(link.readAttributes().isSymbolicLink()).isTrue();
      var self = stream.getFileAttributeView(FileOwnerAttributeView.class);
      assertThat(self.getOwner()).isEqualTo(Files.getOwner(path("b")));
      assertThat(stream.getFileAttributeView(AclFileAttributeView.class)).isNull();
      assertThat(stream.getFileAttributeView(relative("x"), AclFileAttributeView.class)).isNull();
    }
  }

  @Test
  default void aClosedSecureStreamSaysSo() throws IOException {
    Files.createDirectory(path("a"));
    Files.createFile(path("a/file"));
    SecureDirectoryStream<Path> stream = open("a");
    SecureDirectoryStream<Path> other = open("a");
    var self = stream.getFileAttributeView(BasicFileAttributeView.class);
    var view = stream.getFileAttributeView(relative("file"), BasicFileAttributeView.class);
    stream.close();
    stream.close();
    List<org.assertj.core.api.ThrowableAssert.ThrowingCallable> uses =
        List.of(
            () -> read(stream, "file"),
            () -> stream.newDirectoryStream(relative("x")),
            () -> stream.deleteFile(relative("file")),
            () -> stream.deleteDirectory(relative("file")),
            () -> stream.move(relative("file"), other, relative("x")),
            () -> other.move(relative("file"), stream, relative("x")),
            self::readAttributes,
            view::readAttributes);
    for (var use : uses) {
      assertThatExceptionOfType(ClosedDirectoryStreamException.class).isThrownBy(use);
    }
    assertThat(path("a/file")).exists();
    other.close();
  }
}
