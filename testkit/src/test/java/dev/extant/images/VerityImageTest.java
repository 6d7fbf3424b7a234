package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files with fs-verity have hashes behind their end, at the next multiple of 64 KiB: readers see
/// nothing of them, and the file system is not written.
class VerityImageTest {
  private static final int SIZE = 100_000;
  private static final int HASHES = 128 << 10;

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  @Test
  void theContentEndsWhereItsSizeSays() throws IOException {
    Path image = folder.resolve("image");
    Oracles.run("mke2fs", "-q", "-F", "-t", "ext4", "-O", "verity", image, "16M").expect(0);
    byte[] content = new byte[SIZE];
    Arrays.fill(content, (byte) 'c');
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Path file = kernel.root().resolve("file");
      Files.write(file, content);
      try (RandomAccessFile longer = new RandomAccessFile(file.toFile(), "rw")) {
        longer.seek(HASHES);
        longer.write("the hashes".repeat(1000).getBytes());
      }
    }
    // Both fields at once, since each alone would be damage.
    Oracles.run("debugfs", "-w", "-R", "sif /file flags 0x180000", image).expect(0);
    Oracles.run("debugfs", "-w", "-R", "sif /file size " + SIZE, image).expect(0);
    Oracles.run("e2fsck", "-fn", image).expect(0);
    byte[] before = Files.readAllBytes(image);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      assertThat(mount.mountReport().warnings()).anyMatch(text -> text.contains("verity"));
      Path file = mount.fileSystem().getPath("/file");
      assertThat(Files.readAllBytes(file)).isEqualTo(content);
      try (FileChannel channel = FileChannel.open(file)) {
        assertThat(channel.read(ByteBuffer.allocate(10), HASHES)).isEqualTo(-1);
      }
      assertThatThrownBy(() -> Files.write(file, content))
          .isInstanceOf(ReadOnlyFileSystemException.class);
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }
}
