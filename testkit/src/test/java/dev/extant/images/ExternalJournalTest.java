package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.TuneOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A file system whose journal is on another device is not written, and not read as long as
/// something is in that journal; the device of the journal is no file system.
class ExternalJournalTest {
  @TempDir Path folder;
  private Path image;
  private Path journal;
  private String loop;

  @BeforeEach
  void make() throws IOException {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "losetup", "xfs_io");
    image = folder.resolve("fs.img");
    journal = folder.resolve("journal.img");
    Oracles.run("mke2fs", "-q", "-F", "-O", "journal_dev", "-b", 4096, journal, "8M").expect(0);
    loop = Oracles.run("losetup", "-f", "--show", journal).expect(0).output().strip();
    Oracles.run(
            "mke2fs", "-q", "-F", "-t", "ext4", "-b", 4096, "-J", "device=" + loop, image, "32M")
        .expect(0);
  }

  @AfterEach
  void detach() throws IOException {
    if (loop != null) {
      Oracles.run("losetup", "-d", loop).expect(0);
    }
  }

  private void write(boolean crash) throws IOException {
    try (KernelMount kernel = KernelMount.of(image, "noatime")) {
      Files.writeString(
          kernel.root().resolve("file"),
          "content",
          StandardOpenOption.CREATE,
          StandardOpenOption.WRITE,
          StandardOpenOption.SYNC);
      if (crash) {
        Oracles.run("xfs_io", "-x", "-c", "shutdown -f", kernel.root()).expect(0);
      }
    }
  }

  private void assertRefused(ThrowingCallable call, Path path, String reason) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .hasMessageContaining(path.toString())
        .hasMessageContaining(reason);
  }

  private void assertReadable(String options) throws IOException {
    try (Extant mount = Extant.open(image, MountOptions.parse(options))) {
      assertThat(Files.readString(mount.fileSystem().getPath("/file"))).isEqualTo("content");
    }
  }

  @Test
  void whatNeedsNoRecoveryIsOnlyRead() throws IOException {
    write(false);
    byte[] before = Files.readAllBytes(image);
    assertRefused(
        () -> Extant.open(image, MountOptions.defaults()), image, "external journal (device 0x7");
    assertRefused(
        () -> Extant.tune(image, TuneOptions.builder().label("new").build()),
        image,
        "external journal");
    assertReadable("ro");
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  @Test
  void whatNeedsRecoveryIsRefused() throws IOException {
    write(true);
    byte[] before = Files.readAllBytes(image);
    for (String options : new String[] {"rw", "ro"}) {
      assertRefused(
          () -> Extant.open(image, MountOptions.parse(options)), image, "replayed by e2fsck");
    }
    try (Extant mount = Extant.open(image, MountOptions.parse("noload"))) {
      assertThat(mount.volume().readOnly()).isTrue();
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
    Oracles.run("e2fsck", "-fy", "-j", loop, image).expect(0, 1);
    assertReadable("ro");
  }

  @Test
  void theJournalsDeviceIsNoFileSystem() {
    for (String options : new String[] {"rw", "ro", "noload"}) {
      assertRefused(
          () -> Extant.open(journal, MountOptions.parse(options)),
          journal,
          "external journal of a file system (feature journal_dev)");
    }
  }
}
