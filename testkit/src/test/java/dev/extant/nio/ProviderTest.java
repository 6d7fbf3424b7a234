package dev.extant.nio;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.ProviderNotFoundException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.spi.FileSystemProvider;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Opening images through [FileSystems], URIs, the registry.
class ProviderTest {
  @TempDir private Path temporary;
  private Path image;

  @BeforeEach
  void makeImage() throws IOException {
    image = Files.writeString(temporary.resolve("data ä!.img"), MemoryVolumeOpener.MAGIC);
  }

  private static URI extant(Path image) {
    return URI.create("extant:" + image.toUri());
  }

  @Test
  void isInstalled() {
    assertThat(FileSystemProvider.installedProviders())
        .anyMatch(provider -> provider.getScheme().equals("extant"));
  }

  @Test
  void opensByPath() throws IOException {
    Path inside;
    try (FileSystem fileSystem = FileSystems.newFileSystem(image, Map.of("commit", 7))) {
      assertThat(fileSystem).isInstanceOf(ExtantFileSystem.class);
      inside = fileSystem.getPath("/a!/b c");
      Files.createDirectories(inside);
      assertThat(Files.getFileStore(inside).type()).isEqualTo("memory");
      assertThat(inside.toUri().toString()).startsWith(extant(image) + "!/").endsWith("/b%20c");
      assertThat(Path.of(inside.toUri())).isEqualTo(inside);
      assertThat(FileSystems.getFileSystem(extant(image))).isSameAs(fileSystem);
      assertThat(FileSystems.getFileSystem(inside.toUri())).isSameAs(fileSystem);
    }
    URI gone = inside.toUri();
    assertThatExceptionOfType(FileSystemNotFoundException.class)
        .isThrownBy(() -> FileSystems.getFileSystem(extant(image)));
    assertThatExceptionOfType(FileSystemNotFoundException.class).isThrownBy(() -> Path.of(gone));
  }

  @Test
  void opensByUri() throws IOException {
    try (FileSystem fileSystem = FileSystems.newFileSystem(extant(image), Map.of("ro", "true"))) {
      assertThat(fileSystem.isReadOnly()).isTrue();
      Path roundabout = temporary.resolve("x/../").resolve(image.getFileName());
      assertThatExceptionOfType(FileSystemAlreadyExistsException.class)
          .isThrownBy(() -> FileSystems.newFileSystem(extant(image), Map.of()));
      Path link = Files.createSymbolicLink(temporary.resolve("link"), image);
      assertThat(FileSystems.getFileSystem(extant(link))).isSameAs(fileSystem);
      assertThatExceptionOfType(FileSystemAlreadyExistsException.class)
          .isThrownBy(() -> FileSystems.newFileSystem(link, Map.of()));
      assertThat(roundabout).isNotEqualTo(image);
    }
    FileSystems.newFileSystem(extant(image), Map.of()).close();
  }

  @Test
  void optionsInUris() throws IOException {
    URI uri = URI.create(extant(image) + "?ro&umask=0&uid=7");
    try (FileSystem fileSystem = FileSystems.newFileSystem(uri, Map.of())) {
      assertThat(fileSystem.isReadOnly()).isTrue();
      assertThat(FileSystems.getFileSystem(uri)).isSameAs(fileSystem);
      assertThat(Path.of(URI.create(uri + "!/file"))).isEqualTo(fileSystem.getPath("/file"));
    }
    try (FileSystem fileSystem = FileSystems.newFileSystem(uri, Map.of("rw", true, "uid", 8))) {
      Path file = Files.createFile(fileSystem.getPath("/file"));
      assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(8);
      assertThat((int) Files.getAttribute(file, "unix:mode") & 0777).isEqualTo(0666);
      assertThat(file.toUri()).isEqualTo(URI.create(extant(image) + "!/file"));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> FileSystems.newFileSystem(URI.create(extant(image) + "?colour=red"), Map.of()))
        .withMessageContaining("colour=red");
  }

  @Test
  void badUrisAreRefused() {
    for (String uri : new String[] {"extant:/x", "extant:file:///x!/y"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> FileSystems.newFileSystem(URI.create(uri), Map.of()));
    }
  }

  @Test
  void leavesOtherFilesToOtherProviders() throws IOException {
    Path other = Files.writeString(temporary.resolve("other"), "no image");
    assertThatExceptionOfType(ProviderNotFoundException.class)
        .isThrownBy(() -> FileSystems.newFileSystem(other, Map.of()));
    FileSystemProvider ours = ExtantFileSystemProvider.installed();
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> ours.newFileSystem(other, Map.of()));
    assertThatExceptionOfType(UnsupportedOperationException.class)
        .isThrownBy(() -> ours.newFileSystem(temporary, Map.of()));
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> ours.newFileSystem(temporary.resolve("missing"), Map.of()));
    Path zip = temporary.resolve("x.zip");
    try (FileSystem archive = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      assertThat(archive.provider().getScheme()).isEqualTo("jar");
    }
  }

  @Test
  void aFailedOpeningLeavesNothingBehind() throws IOException {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FileSystems.newFileSystem(image, Map.of("batching", "never")))
        .withMessageContaining("batching");
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> FileSystems.newFileSystem(image, Map.of("options", "noload")))
        .withMessageContaining("in use");
    FileSystems.newFileSystem(image, Map.of()).close();
  }

  @Test
  void ownerAndUmaskOfNewFiles() throws IOException {
    Map<String, Object> env = Map.of("uid", 1000, "gid", "4294967295", "umask", "077");
    try (FileSystem fileSystem = FileSystems.newFileSystem(image, env)) {
      Path file = Files.createFile(fileSystem.getPath("/file"));
      Path directory = Files.createDirectory(fileSystem.getPath("/directory"));
      assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(1000);
      assertThat(Files.getAttribute(file, "posix:group").toString()).isEqualTo("4294967295");
      assertThat((int) Files.getAttribute(file, "unix:mode") & 07777).isEqualTo(0600);
      assertThat((int) Files.getAttribute(directory, "unix:mode") & 07777).isEqualTo(0700);
    }
    for (String key : new String[] {"uid", "gid", "umask"}) {
      for (Object wrong : new Object[] {"x", -1, 1L << 32}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> FileSystems.newFileSystem(image, Map.of(key, wrong)))
            .withMessageContaining(key);
      }
    }
  }

  @Test
  void twoImagesAtOnce() throws IOException {
    Path second = Files.writeString(temporary.resolve("two"), MemoryVolumeOpener.MAGIC);
    try (FileSystem one = FileSystems.newFileSystem(image, Map.of());
        FileSystem two = FileSystems.newFileSystem(second, Map.of())) {
      Files.writeString(one.getPath("/file"), "one");
      Files.writeString(two.getPath("/file"), "two");
      assertThat(one.getPath("/file")).hasContent("one").isNotEqualTo(two.getPath("/file"));
      assertThat(Files.isSameFile(one.getPath("/file"), two.getPath("/file"))).isFalse();
      assertThat(Files.getFileStore(one.getPath("/")))
          .isNotEqualTo(Files.getFileStore(two.getPath("/")));
    }
  }

  @Test
  void pathsOfOtherProvidersAreRefused() throws IOException {
    try (FileSystem fileSystem = FileSystems.newFileSystem(image, Map.of())) {
      Path inside = fileSystem.getPath("/file");
      assertThatExceptionOfType(ProviderMismatchException.class)
          .isThrownBy(() -> inside.resolve(image));
      assertThatExceptionOfType(ProviderMismatchException.class)
          .isThrownBy(() -> fileSystem.provider().delete(image));
      assertThat(inside.startsWith(image)).isFalse();
      assertThat(inside.equals(image)).isFalse();
      assertThat(Files.isSameFile(Files.createFile(inside), image)).isFalse();
      Files.copy(image, fileSystem.getPath("/copy"));
      assertThat(fileSystem.getPath("/copy")).hasContent(MemoryVolumeOpener.MAGIC);
      Files.move(fileSystem.getPath("/copy"), temporary.resolve("back"));
      assertThat(temporary.resolve("back")).hasSameTextualContentAs(image);
      assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(inside::toFile);
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(fileSystem::newWatchService);
    }
  }

  @Test
  void attributesGoToAndFromOtherProviders() throws IOException {
    FileTime time = FileTime.fromMillis(1_234_567_890_000L);
    Path outside = Files.writeString(temporary.resolve("outside"), "abc");
    Files.setLastModifiedTime(outside, time);
    Files.setPosixFilePermissions(outside, PosixFilePermissions.fromString("rwx---r--"));
    try (FileSystem fileSystem = FileSystems.newFileSystem(image, Map.of())) {
      Path inside = fileSystem.getPath("/inside");
      Files.copy(outside, inside, COPY_ATTRIBUTES);
      assertThat(Files.getLastModifiedTime(inside)).isEqualTo(time);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(inside)))
          .isEqualTo("rwx---r--");
      Path back = temporary.resolve("back");
      Files.move(inside, back);
      assertThat(Files.getLastModifiedTime(back)).isEqualTo(time);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(back)))
          .isEqualTo("rwx---r--");
      assertThat(back).hasContent("abc");
    }
  }
}
