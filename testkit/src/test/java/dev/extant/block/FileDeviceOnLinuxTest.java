package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.block.DeviceException.Kind;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What needs a block device or a medium that is really full.
final class FileDeviceOnLinuxTest {
  @TempDir Path directory;

  @BeforeEach
  void needsRoot() {
    Oracles.requireRoot();
  }

  @Test
  void aFullMediumFailsTheWriteAndAllAfterIt() throws IOException {
    Oracles.run("mount", "-t", "tmpfs", "-o", "size=1m", "extant-test", directory).expect(0);
    try (FileDevice device = FileDevice.create(directory.resolve("image"), 16 << 20)) {
      MemorySegment data = MemorySegment.ofArray(new byte[2 << 20]);
      assertNoSpace(() -> device.write(4096, List.of(data), false), "2097152 bytes at offset 4096");
      assertNoSpace(() -> device.write(0, List.of(data.asSlice(0, 1)), false), "earlier");
      assertNoSpace(device::flush, "earlier");
      device.read(0, data);
    } finally {
      Oracles.run("umount", directory).expect(0);
    }
  }

  private static void assertNoSpace(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            DeviceException.class, e -> assertThat(e.kind()).isEqualTo(Kind.NO_SPACE))
        .hasMessageContaining(message);
  }

  @Test
  void aBlockDeviceIsAsLargeAsItIs() throws IOException {
    Oracles.require("losetup");
    Path file = directory.resolve("file");
    try (RandomAccessFile backing = new RandomAccessFile(file.toFile(), "rw")) {
      backing.setLength(3 << 20);
    }
    Oracles.Result attached = Oracles.run("losetup", "--find", "--show", file).expect(0);
    Path loop = Path.of(attached.output().strip());
    try {
      try (FileDevice device = FileDevice.open(loop, false)) {
        assertThat(device.sizeBytes()).isEqualTo(3 << 20);
        device.write((3 << 20) - 3, List.of(MemorySegment.ofArray(new byte[] {1, 2, 3})), true);
        assertThatThrownBy(() -> FileDevice.open(loop, false)).hasMessageContaining("in use");
      }
      assertThatThrownBy(() -> FileDevice.create(loop, 1 << 20))
          .hasMessageContaining("not a regular file");
    } finally {
      Oracles.run("losetup", "--detach", loop).expect(0);
    }
    byte[] bytes = Files.readAllBytes(file);
    assertThat(bytes[bytes.length - 1]).isEqualTo((byte) 3);
  }
}
