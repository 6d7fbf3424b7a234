package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException.Kind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileDeviceTest {
  @TempDir Path directory;

  private Path image() throws IOException {
    Path image = directory.resolve("image");
    FileDevice.create(image, 1 << 20).close();
    return image;
  }

  @Test
  void keepsTheBytesOverAReopen() throws IOException {
    Path image = image();
    try (FileDevice device = FileDevice.open(image, false)) {
      device.write(512, List.of(segment("hello".getBytes())), true);
    }
    try (FileDevice device = FileDevice.open(image, true)) {
      assertThat(read(device, 512, 5)).isEqualTo("hello".getBytes());
      assertThat(device.sizeBytes()).isEqualTo(1 << 20);
    }
  }

  @Test
  void makesAHugeSparseImage() throws IOException {
    Path image = directory.resolve("huge");
    try (FileDevice device = FileDevice.create(image, 1L << 42)) {
      device.write((1L << 41) + 1, List.of(segment(new byte[] {7})), false);
      assertThat(read(device, 1L << 41, 3)).containsExactly(0, 7, 0);
      assertThat(device.sizeBytes()).isEqualTo(1L << 42);
    }
  }

  @Test
  void emptiesAnExistingFileOnCreate() throws IOException {
    Path image = directory.resolve("image");
    Files.write(image, new byte[] {1, 2, 3});
    try (FileDevice device = FileDevice.create(image, 4096)) {
      assertThat(read(device, 0, 4096)).containsOnly(0);
    }
  }

  @Test
  void refusesToWriteWhenReadOnly() throws IOException {
    try (FileDevice device = FileDevice.open(image(), true)) {
      assertThat(device.readOnly()).isTrue();
      assertThatThrownBy(() -> device.write(0, List.of(segment(new byte[1])), false))
          .isInstanceOf(DeviceException.class)
          .hasMessageContaining("read-only");
      device.flush();
    }
  }

  @Test
  void letsOneWriterOrManyReadersIn() throws IOException {
    Path image = image();
    try (FileDevice writer = FileDevice.open(image, false)) {
      assertInUse(image, false);
      assertInUse(image, true);
      assertThatThrownBy(() -> FileDevice.create(image, 512))
          .hasMessageContaining("is in use by another mount");
      writer.write(0, List.of(segment(new byte[1])), false);
    }
    FileDevice first = FileDevice.open(image, true);
    try (FileDevice second = FileDevice.open(image, true)) {
      assertInUse(image, false);
      first.close();
      assertInUse(image, false);
      assertThat(read(second, 0, 1)).containsExactly(0);
    }
    FileDevice.open(image, false).close();
  }

  @Test
  void refusesWhatAnotherDescriptorOfThisProcessLocked() throws IOException {
    Path image = image();
    try (FileChannel other = FileChannel.open(image, StandardOpenOption.WRITE)) {
      other.lock();
      assertInUse(image, false);
    }
    FileDevice.open(image, false).close();
  }

  @Test
  void refusesAnImageThatAnotherProcessWrites() throws Exception {
    Path image = image();
    Process other =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                image.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(other.inputReader().readLine()).isEqualTo("open");
      assertInUse(image, false);
      assertInUse(image, true);
      assertInUse(image, false);
    } finally {
      other.outputWriter().close();
      assertThat(other.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    FileDevice.open(image, false).close();
  }

  /// The other process: holds the image until its input ends.
  static final class Holder {
    public static void main(String[] args) throws IOException {
      try (FileDevice device = FileDevice.open(Path.of(args[0]), false)) {
        System.out.println("open");
        while (System.in.read() >= 0) {
          continue;
        }
        device.flush();
      }
    }
  }

  @Test
  void anInterruptClosesNothing() throws IOException {
    try (FileDevice device = FileDevice.open(image(), false)) {
      Thread.currentThread().interrupt();
      device.write(0, List.of(segment(new byte[] {5})), true);
      device.flush();
      assertThat(read(device, 0, 1)).containsExactly(5);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(read(device, 0, 1)).containsExactly(5);
    }
  }

  @Test
  void saysWhatFailed() throws IOException {
    Path image = image();
    try (FileDevice device = FileDevice.open(image, false)) {
      try (FileChannel other = FileChannel.open(image, StandardOpenOption.WRITE)) {
        other.truncate(4096);
      }
      assertThatThrownBy(() -> read(device, 4000, 512))
          .isInstanceOf(DeviceException.class)
          .hasMessageContaining(image.toString())
          .hasMessageContaining("offset 4000")
          .hasMessageContaining("512 bytes");
    }
  }

  @Test
  void refusesWhatIsNotAnImage() {
    assertThatThrownBy(() -> FileDevice.open(directory, false))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("directory");
    assertThatThrownBy(() -> FileDevice.open(directory.resolve("none"), false))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> FileDevice.create(directory, 4096))
        .isInstanceOf(DeviceException.class);
  }

  private static void assertInUse(Path image, boolean readOnly) {
    assertThatThrownBy(() -> FileDevice.open(image, readOnly).close())
        .isInstanceOfSatisfying(
            DeviceException.class, e -> assertThat(e.kind()).isEqualTo(Kind.REFUSED))
        .hasMessage(image + ": open failed: it is in use by another mount");
  }

  private static MemorySegment segment(byte[] data) {
    return Arena.ofAuto().allocate(data.length).copyFrom(MemorySegment.ofArray(data));
  }

  private static byte[] read(BlockDevice device, long offset, int length) throws IOException {
    MemorySegment target = Arena.ofAuto().allocate(length);
    device.read(offset, target);
    return target.toArray(ValueLayout.JAVA_BYTE);
  }
}
