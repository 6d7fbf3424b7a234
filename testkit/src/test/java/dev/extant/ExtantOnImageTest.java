package dev.extant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The whole stack over images from mke2fs: changed by us, checked by e2fsck.
class ExtantOnImageTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "4096, 256, metadata_csum",
    "1024, 256, metadata_csum",
    "2048, 128, ^metadata_csum",
    "4096, 256, ^64bit",
    "1024, 128, ^has_journal",
    "4096, 256, orphan_file"
  })
  void changedImagesStayClean(int blockSize, int inodeSize, String features) throws Exception {
    Path image = folder.resolve("fs.img");
    Oracles.run(
            "mke2fs", "-q", "-F", "-t", "ext4", "-b", blockSize, "-I", inodeSize, "-O", features,
            image, "64M")
        .expect(0);
    byte[] big = new byte[5_000_001];
    new Random(blockSize).nextBytes(big);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      change(mount.fileSystem(), big);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    try (Extant mount = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      FileSystem fs = mount.fileSystem();
      assertThat(Files.readAllBytes(fs.getPath("/big"))).isEqualTo(Arrays.copyOf(big, 1_234_567));
      assertThat(Files.readString(fs.getPath("/d0/moved"))).isEqualTo(content(5));
      assertThat(Files.readString(fs.getPath("/link"))).isEqualTo(content(7));
      try (var names = Files.list(fs.getPath("/d1"))) {
        assertThat(names.count()).isEqualTo(300 - 100 - 1);
      }
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void change(FileSystem fs, byte[] big) throws Exception {
    for (int d = 0; d < 3; d++) {
      Path directory = Files.createDirectory(fs.getPath("/d" + d));
      for (int i = 0; i < 300; i++) {
        Files.writeString(directory.resolve("a-file-with-a-name-" + i), content(i));
      }
    }
    Files.write(fs.getPath("/big"), big);
    try (FileChannel channel = FileChannel.open(fs.getPath("/big"), StandardOpenOption.WRITE)) {
      channel.truncate(1_234_567);
      channel.force(true);
    }
    Files.createSymbolicLink(fs.getPath("/link"), fs.getPath("d1/a-file-with-a-name-7"));
    Files.createSymbolicLink(fs.getPath("/long-link"), fs.getPath("/" + "x/".repeat(60)));
    Files.move(fs.getPath("/d1/a-file-with-a-name-5"), fs.getPath("/d0/moved"));
    for (int i = 100; i < 200; i++) {
      Files.delete(fs.getPath("/d1/a-file-with-a-name-" + i));
    }
  }

  private static String content(int i) {
    byte[] bytes = new byte[i * 31];
    Arrays.fill(bytes, (byte) ('a' + i % 26));
    return new String(bytes, StandardCharsets.US_ASCII);
  }
}
