package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.RamDevice;
import dev.extant.testkit.PowerCutSweep.Workload;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Random operations and power cuts on images of mke2fs whose layout is not the usual one; e2fsck
/// has the last word. How to run more of them: see [ModelCheck] and [PowerCutSweep].
class GeometriesTest {
  private static final DeviceOpener EXT4 =
      (device, options) -> Extant.open(device, options).volume();

  private static final long OPERATIONS = Long.getLong("extant.operations", 4_000);
  private static final int CUTS = Integer.getInteger("extant.cuts", 9);

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck");
  }

  @ParameterizedTest
  @CsvSource({
    "-m 0 -b 4096 -O bigalloc -C 16384, 64M",
    "-m 0 -b 1024 -O bigalloc -C 16384, 24M",
    "-m 0 -b 1024 -O bigalloc -C 2048 -N 1000, 40001K",
    "-m 0 -b 1024 -O bigalloc;^has_journal -C 65536, 24M",
    "-m 0 -b 2048 -O bigalloc;meta_bg;^resize_inode -C 4096 -g 4096, 50M",
    "-b 1024 -g 256 -N 2000 -O meta_bg;^resize_inode, 12001K",
    "-b 1024 -g 256 -N 2000 -O meta_bg;^resize_inode;^flex_bg;^64bit, 15000K",
    "-b 1024 -O sparse_super2 -E num_backup_sb=0, 24M",
    "-b 1024 -O sparse_super2 -E num_backup_sb=1, 24M",
    "-b 1024 -O sparse_super2 -E num_backup_sb=2, 40M",
    "-b 1024 -N 2000 -O ^sparse_super;^resize_inode, 40M",
    "-b 1024 -N 2000 -O ^metadata_csum;uninit_bg;^64bit;^flex_bg, 40M",
    "-b 2048 -N 2000 -O ^metadata_csum;uninit_bg -G 2 -g 2048, 40M",
    "-b 1024 -g 1024 -G 4 -N 3000, 33300K",
    "-b 1024 -g 768 -G 1 -N 3000 -I 1024, 20100K",
    "-b 4096 -I 4096 -N 600, 40M",
    "-b 2048 -I 512 -N 900 -O stable_inodes;^huge_file, 20M",
    "-b 8192 -N 900, 64M",
    "-b 16384 -N 900, 64M",
    "-b 32768 -N 900 , 96M",
    "-b 65536 -N 1024 -m 0 -J size=64, 160M",
    "-b 65536 -N 1024 -J size=64 -O ^metadata_csum;^64bit, 160M",
    "-b 65536 -N 4096 -O bigalloc;^has_journal -C 262144 -I 1024, 300M",
  })
  void doesWhatTheModelDoes(String options, String size) throws IOException {
    modelCheck(Mke2fs.make(folder.resolve("mke2fs.img"), withCommas(options), size));
  }

  /// As a file system that grew: some descriptors in front, the others in their meta groups.
  @Test
  void doesSoWhereMetaGroupsBeginInTheMiddle() throws IOException {
    String options = "-b 1024 -g 256 -N 2000 -O meta_bg,^resize_inode";
    Path image = Mke2fs.make(folder.resolve("mke2fs.img"), options, "12001K");
    Oracles.run("debugfs", "-w", "-R", "ssv first_meta_bg 1", image).expect(0);
    Oracles.run("e2fsck", "-fy", image).expect(0, 1);
    modelCheck(image);
  }

  private void modelCheck(Path image) throws IOException {
    try (RamDevice device = Mke2fs.load(image)) {
      ModelCheck check = new ModelCheck(EXT4, device, Seeds.fixed(17));
      ModelCheck.Report report = check.run(OPERATIONS);
      assertThat(report.refused()).isPositive();
      e2fsck(device);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "-b 4096 -O bigalloc -C 16384 -J size=4, 32M, 16384",
    "-b 1024 -O bigalloc -C 8192 -J size=4, 24M, 8192",
    "-b 65536 -J size=64 -N 1024, 160M, 65536",
  })
  void keepsWhatWasAcknowledged(String options, String size, int unitBytes) throws IOException {
    long seed = Seeds.fixed(18);
    Path made = Mke2fs.make(folder.resolve("mke2fs.img"), withCommas(options), size);
    try (RamDevice device = Mke2fs.load(made)) {
      Workload workload = new Workload(2, 300, "commit=1,noatime", seed).withUnitBytes(unitBytes);
      PowerCutSweep sweep = new PowerCutSweep(EXT4, device, workload);
      sweep.record();
      for (int i = 0; i < CUTS; i++) {
        cut(sweep, 1 + i * sweep.lastTick() / CUTS, seed + i, i % 3 == 0);
      }
    }
  }

  /// Commas separate the columns of the tables here.
  private static String withCommas(String options) {
    return options.replace(';', ',');
  }

  private void cut(PowerCutSweep sweep, long tick, long stateSeed, boolean byE2fsck)
      throws IOException {
    try (BlockDevice state = sweep.materialise(tick, stateSeed)) {
      if (byE2fsck) {
        recoverByE2fsck(sweep, state, tick);
      }
      sweep.recover(state, tick);
      e2fsck(state);
    } catch (AssertionError | IOException | RuntimeException e) {
      throw new AssertionError("tick " + tick + ", seed " + stateSeed + ": " + e.getMessage(), e);
    }
  }

  private void recoverByE2fsck(PowerCutSweep sweep, BlockDevice state, long tick)
      throws IOException {
    Path image = folder.resolve("image");
    Images.copy(state, image);
    Oracles.run("e2fsck", "-fy", image).expect(0, 1);
    try (FileDevice device = FileDevice.open(image, true);
        Volume volume = EXT4.open(device, MountOptions.parse("ro"))) {
      sweep.check(TreeSnapshot.of(volume), tick);
    }
  }

  private void e2fsck(BlockDevice device) throws IOException {
    Path image = folder.resolve("image");
    Images.copy(device, image);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }
}
