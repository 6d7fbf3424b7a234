package dev.extant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.FileDevice;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Several mounts at a time: of different images they do not disturb each other, of the same image
/// only the first is let in.
@Timeout(60)
class MountsTogetherTest {
  private static final MountOptions READ_WRITE = MountOptions.defaults();

  @TempDir Path folder;
  private Path image;

  @BeforeEach
  void make() throws IOException {
    image = newImage("fs.img");
  }

  private Path newImage(String name) throws IOException {
    Path path = folder.resolve(name);
    Extant.mkfs(path, 8 << 20, MkfsOptions.builder().blockSizeBytes(1024).build());
    return path;
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw", "ro"})
  void anImageIsNotMountedBesideItsWriter(String options) throws IOException {
    try (Extant first = Extant.open(image, READ_WRITE)) {
      assertThatThrownBy(() -> Extant.open(image, MountOptions.parse(options)))
          .hasMessageContaining(image.toString())
          .hasMessageContaining("in use by another mount");
      Files.writeString(first.fileSystem().getPath("/still"), "works");
    }
    Extant.open(image, READ_WRITE).close();
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw", "ro"})
  void norByAnotherProcess(String options) throws IOException {
    try (Extant first = Extant.open(image, READ_WRITE)) {
      // Refusing in this process must not give up what keeps the other one out.
      assertThatThrownBy(() -> Extant.open(image, READ_WRITE)).hasMessageContaining("in use");
      assertThat(otherProcess(options)).startsWith("EBUSY").contains("in use by another mount");
      Files.writeString(first.fileSystem().getPath("/still"), "works");
    }
    assertThat(otherProcess(options)).isEqualTo("mounted");
  }

  private String otherProcess(String options) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            SecondOpen.class.getName(),
            image.toString(),
            options);
    return Oracles.run(command, Map.of()).expect(0).output().strip();
  }

  @Test
  void aMountThatFailedKeepsNobodyOut() throws IOException {
    Path empty = folder.resolve("empty.img");
    FileDevice.create(empty, 8 << 20).close();
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> Extant.open(empty, READ_WRITE))
          .hasMessageContaining(empty.toString())
          .message()
          .doesNotContain("in use");
    }
    Extant.mkfs(empty, 8 << 20, MkfsOptions.builder().build());
    Extant.open(empty, READ_WRITE).close();
  }

  @Test
  void readersShareAnImage() throws IOException {
    MountOptions readOnly = READ_WRITE.withReadOnly(true);
    try (Extant first = Extant.open(image, readOnly);
        Extant second = Extant.open(image, readOnly)) {
      assertThat(Files.exists(first.fileSystem().getPath("/lost+found"))).isTrue();
      assertThat(Files.exists(second.fileSystem().getPath("/lost+found"))).isTrue();
      assertThatThrownBy(() -> Extant.open(image, READ_WRITE)).hasMessageContaining("in use");
    }
    Extant.open(image, READ_WRITE).close();
  }

  @Test
  void aMountIsClosedWhileOthersWork() throws Exception {
    Path other = newImage("other.img");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Extant busy = Extant.open(other, READ_WRITE)) {
      Future<?> work =
          threads.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  Files.writeString(busy.fileSystem().getPath("/file-" + i % 50), "content " + i);
                }
                return null;
              });
      for (int i = 0; i < 5; i++) {
        try (Extant mount = Extant.open(image, READ_WRITE)) {
          Files.writeString(mount.fileSystem().getPath("/file"), "content " + i);
        }
      }
      work.get();
      assertThat(Files.readString(busy.fileSystem().getPath("/file-49"))).isEqualTo("content 299");
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    Oracles.run("e2fsck", "-fn", other).expect(0);
  }
}
