package dev.extant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A mount with `ro` leaves the image file as it was, byte for byte and with its time, whatever is
/// read and whether or not its journal needs a replay.
class ReadOnlyTest {
  private static final FileTime OLD = FileTime.from(Instant.parse("2020-02-02T02:02:02Z"));
  private static final int FILES = 100;

  @TempDir private Path folder;
  private Path image;
  private byte[] before;

  /// An image whose journal holds what is not yet at home, as a crash leaves it.
  @BeforeEach
  void crash() throws Exception {
    image = folder.resolve("fs.img");
    try (RamDevice device = new RamDevice("ram", 16 << 20)) {
      Mkfs.make(device, MkfsOptions.builder().build());
      Extant mount =
          Extant.open(DelegatingDevice.withoutClose(device), MountOptions.parse("commit=0"));
      Path directory = Files.createDirectory(mount.fileSystem().getPath("/directory"));
      for (int i = 0; i < FILES; i++) {
        Files.writeString(directory.resolve("file" + i), "content " + i);
      }
      Files.createSymbolicLink(directory.resolve("link"), directory.resolve("file7"));
      Extant.syncAll();
      Images.copy(device, image);
      mount.close();
    }
    Files.setLastModifiedTime(image, OLD);
    before = Files.readAllBytes(image);
  }

  /// Reads all there is; returns the number of regular files.
  private static int readAll(FileSystem fileSystem) throws IOException {
    int files = 0;
    try (Stream<Path> walk = Files.walk(fileSystem.getPath("/"))) {
      for (Path path : (Iterable<Path>) walk::iterator) {
        Files.readAttributes(path, "unix:*", LinkOption.NOFOLLOW_LINKS);
        if (Files.isSymbolicLink(path)) {
          assertThat(Files.readString(path)).isEqualTo("content 7");
        } else if (Files.isRegularFile(path)) {
          assertThat(Files.readString(path)).startsWith("content ");
          files++;
        }
      }
    }
    assertThat(Files.getFileStore(fileSystem.getPath("/")).getUsableSpace()).isPositive();
    assertThatExceptionOfType(ReadOnlyFileSystemException.class)
        .isThrownBy(() -> Files.createFile(fileSystem.getPath("/new")));
    return files;
  }

  private void requireUntouched() throws IOException {
    assertThat(Files.getLastModifiedTime(image)).isEqualTo(OLD);
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {"ro " + FILES, "ro,noload 0"})
  void aWalkWritesNothing(String options, int files) throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.parse(options))) {
      assertThat(readAll(mount.fileSystem())).isEqualTo(files);
      mount.volume().sync();
      assertThat(mount.statistics().space().freeBlocks()).isPositive();
    }
    requireUntouched();
  }

  @Test
  void norDoesOneOfACleanImage() throws IOException {
    Extant.open(image, MountOptions.defaults()).close();
    Files.setLastModifiedTime(image, OLD);
    before = Files.readAllBytes(image);
    try (Extant mount = Extant.open(image, MountOptions.parse("ro"))) {
      assertThat(mount.mountReport().recovery()).isNull();
      assertThat(readAll(mount.fileSystem())).isEqualTo(FILES);
    }
    requireUntouched();
  }

  @Test
  void throughFileSystems() throws IOException {
    try (FileSystem byPath = FileSystems.newFileSystem(image, Map.of("ro", true))) {
      assertThat(readAll(byPath)).isEqualTo(FILES);
    }
    URI uri = URI.create("extant:" + image.toUri() + "?ro&commit=30");
    try (FileSystem byUri = FileSystems.newFileSystem(uri, Map.of())) {
      assertThat(readAll(byUri)).isEqualTo(FILES);
    }
    requireUntouched();
  }

  /// Root may write a file whatever its permissions say, so a device that was opened for reading
  /// stands for it.
  @Test
  void anImageThatCannotBeWrittenIsReadOnly() throws IOException {
    BlockDevice device = FileDevice.open(image, true);
    try (Extant mount = Extant.open(device, MountOptions.defaults())) {
      assertThat(readAll(mount.fileSystem())).isEqualTo(FILES);
    }
    requireUntouched();
  }
}
