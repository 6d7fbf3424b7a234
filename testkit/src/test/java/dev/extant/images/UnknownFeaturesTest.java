package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.Extant;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Superblock;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// An image with a feature that is not supported is refused, or opened for reading where that is
/// safe, and the feature is named.
class UnknownFeaturesTest {
  @TempDir Path folder;
  private Path image;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "debugfs");
  }

  @BeforeEach
  void makeImage() throws IOException {
    image = folder.resolve("fs.img");
    Oracles.run("mke2fs", "-q", "-F", "-t", "ext4", "-b", 1024, image, "8M").expect(0);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Files.writeString(mount.fileSystem().getPath("/file"), "content");
    }
  }

  private void setBits(int compat, int incompat, int roCompat) throws IOException {
    byte[] bytes = CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE);
    MemorySegment superblock = MemorySegment.ofArray(bytes);
    Features old = Superblock.features(superblock);
    Superblock.features(
        superblock,
        new Features(old.compat() | compat, old.incompat() | incompat, old.roCompat() | roCompat));
    Superblock.seal(superblock);
    CrashedImage.write(image, Superblock.OFFSET, bytes);
  }

  private void assertRefused(String feature) {
    for (String options : new String[] {"rw", "ro"}) {
      assertThatThrownBy(() -> Extant.open(image, MountOptions.parse(options)))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
          .hasMessageContaining(image.toString())
          .hasMessageContaining(feature);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"dirdata", "compression"})
  void aKnownFeatureThatIsNotSupportedIsRefused(String feature) throws IOException {
    Oracles.run("debugfs", "-w", "-R", "feature " + feature, image).expect(0);
    assertRefused(feature);
  }

  @Test
  void anUnknownIncompatibleFeatureIsRefused() throws IOException {
    setBits(0, 1 << 30, 0);
    assertRefused("FEATURE_I30 (0x40000000 in s_feature_incompat)");
  }

  @ParameterizedTest
  @CsvSource({
    "0x40000000, FEATURE_R30 (0x40000000 in s_feature_ro_compat)",
    "0x4000, shared_blocks",
    "0x100, quota",
    "0x2000, project",
    "0x8000, verity",
    "0x1000, read-only"
  })
  void aFeatureThatOnlyReadersMayIgnoreMakesTheMountReadOnly(String bit, String feature)
      throws IOException {
    setBits(0, 0, Integer.decode(bit));
    byte[] before = Files.readAllBytes(image);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      assertThat(mount.volume().readOnly()).isTrue();
      assertThat(mount.mountReport().warnings()).anyMatch(warning -> warning.contains(feature));
      Path file = mount.fileSystem().getPath("/file");
      assertThat(Files.readString(file)).isEqualTo("content");
      assertThatThrownBy(() -> Files.writeString(file, "other"))
          .isInstanceOfAny(FileSystemException.class, ReadOnlyFileSystemException.class);
      assertThatThrownBy(() -> Files.delete(file))
          .isInstanceOfAny(FileSystemException.class, ReadOnlyFileSystemException.class);
    }
    assertThat(Files.readAllBytes(image)).isEqualTo(before);
  }

  @Test
  void anUnknownCompatibleFeatureIsNoObstacle() throws IOException {
    setBits(1 << 30, 0, 0);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      assertThat(mount.volume().readOnly()).isFalse();
      Files.writeString(mount.fileSystem().getPath("/file"), "other");
    }
    byte[] superblock = CrashedImage.read(image, Superblock.OFFSET, Superblock.SIZE);
    assertThat(Superblock.features(MemorySegment.ofArray(superblock)).compat() & 1 << 30)
        .isNotZero();
  }
}
