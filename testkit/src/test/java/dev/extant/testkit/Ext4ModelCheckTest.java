package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// 100,000 random operations on ext4 beside the model, in several geometries; e2fsck has the last
/// word. How to run more of them: see [ModelCheck].
class Ext4ModelCheckTest {
  private static final long OPERATIONS = Long.getLong("extant.operations", 100_000);
  private static final UUID SOME_UUID = UUID.fromString("6d6f6465-6c20-6368-6563-6b2074776963");

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    // MiB, block size, inode size, inodes, changes of features, share of the operations in percent
    "64, 4096, 256, 4096, extent, 30",
    "32, 1024, 256, 4096, extent, 25",
    "32, 1024, 128, 4096, ^metadata_csum, 15",
    "32, 2048, 128, 4096, ^64bit, 10",
    "8, 1024, 256, 400, ^has_journal, 10",
    "12, 4096, 256, 600, ^orphan_file, 10",
  })
  void doesWhatTheModelDoes(
      int mebibytes, int blockSize, int inodeSize, int inodes, String features, int percent)
      throws IOException {
    String geometry = mebibytes + " MiB, blocks " + blockSize + ", inodes " + inodeSize;
    try (RamDevice device = new RamDevice(geometry + ", " + features, (long) mebibytes << 20)) {
      MkfsOptions options =
          MkfsOptions.builder()
              .blockSizeBytes(blockSize)
              .inodeSizeBytes(inodeSize)
              .inodesCount(inodes)
              .features(features)
              .reservedPercent(0)
              .uuid(SOME_UUID)
              .hashSeed(SOME_UUID)
              .time(Instant.parse("2025-01-01T00:00:00Z"))
              .build();
      Mkfs.make(device, options);
      ModelCheck check = new ModelCheck(Ext4ModelCheckTest::open, device, Seeds.fixed(mebibytes));
      ModelCheck.Report report = check.run(OPERATIONS * percent / 100);
      assertThat(report.refused()).isPositive();
      Path image = directory.resolve("image");
      Images.copy(device, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }

  private static Volume open(
      dev.extant.block.BlockDevice device, dev.extant.vfs.MountOptions options) throws IOException {
    return Extant.open(device, options).volume();
  }
}
