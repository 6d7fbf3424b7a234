package dev.extant.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.ext4.format.Superblock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The command fsck: what it says, and its exit codes.
class FsckCommandTest {
  /// bg_free_blocks_count of the first group: blocks have 1 KiB.
  private static final long FREE_BLOCKS = 2 * Superblock.OFFSET + 0x0C;

  @TempDir Path host;

  private Path image;
  private Cli cli;

  @BeforeEach
  void make() throws IOException {
    image = host.resolve("data.img");
    cli = ImageFixture.make(image, 16 << 20);
    cli.run("mkdir", image + ":/d").ok();
  }

  @Test
  void aCleanImageIsClean() {
    Cli.Result result = cli.run("fsck", "-n", "-f", "-v", image).ok();
    assertThat(result.text()).contains("directories").contains(image + ": clean, ");
  }

  @Test
  void anErrorIsNamedWithItsPlace() throws IOException {
    damage(FREE_BLOCKS);
    Cli.Result result = cli.run("fsck", image);
    assertThat(result.code()).isEqualTo(4);
    assertThat(result.text())
        .contains("free blocks count wrong for group: group #0")
        .contains(" errors, ");
    Cli.Result json = cli.run("fsck", "--json", image);
    assertThat(json.code()).isEqualTo(4);
    assertThat(json.text())
        .contains("\"exitCode\": 4")
        .contains("\"problem\": \"FREE_BLOCKS\"")
        .contains("\"structure\": \"group descriptor\"");
  }

  @Test
  void checkingChangesNothing() throws IOException {
    byte[] before = Files.readAllBytes(image);
    cli.run("fsck", image).ok();
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  @Test
  void whatIsNoFileSystemCannotBeChecked() throws IOException {
    Files.write(image, new byte[1 << 20]);
    Cli.Result result = cli.run("fsck", image);
    assertThat(result.code()).isEqualTo(8);
    assertThat(result.err()).contains("cannot be checked").contains("magic");
    assertThat(cli.run("fsck", host.resolve("missing")).code()).isEqualTo(8);
  }

  @Test
  void wrongUsageHasACodeOfItsOwn() {
    assertThat(cli.run("fsck").code()).isEqualTo(16);
    assertThat(cli.run("fsck", "--repair", image).code()).isEqualTo(16);
  }

  private void damage(long offset) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.seek(offset);
      int octet = file.read();
      file.seek(offset);
      file.write(octet ^ 0x15);
    }
  }
}
