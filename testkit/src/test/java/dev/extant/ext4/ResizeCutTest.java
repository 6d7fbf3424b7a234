package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordingDevice;
import dev.extant.testkit.TreeSnapshot;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A power cut while a file system grows or shrinks leaves the old size or another, and all files.
class ResizeCutTest {
  private static final long MIB = 1L << 20;
  private static final int CUTS = Integer.getInteger("extant.cuts", 40);

  @TempDir Path directory;

  private BlockDevice base() throws IOException {
    RamDevice ram = new RamDevice("growing", 120 * MIB);
    MkfsOptions options =
        MkfsOptions.builder().sizeBytes(20 * MIB).blockSizeBytes(1024).journalMebibytes(4).build();
    Mkfs.make(ram, options);
    try (Extant mounted =
        Extant.open(DelegatingDevice.withoutClose(ram), MountOptions.defaults())) {
      Path root = mounted.fileSystem().getPath("/");
      for (int i = 0; i < 50; i++) {
        Files.writeString(root.resolve("file" + i), "content " + i);
      }
    }
    return ram;
  }

  @Test
  void leavesTheOldSizeOrTheNewOne() throws IOException {
    Oracles.require("e2fsck");
    BlockDevice base = base();
    long before = Ext4.sizeBytes(base);
    RecordingDevice recording =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
    long after = Ext4.grow(recording, 120 * MIB, Long.MAX_VALUE);
    assertThat(after).isGreaterThan(before);
    TreeSet<Long> seen = sizesAfterCuts(base, recording, CUTS);
    assertThat(seen).containsExactly(before, after);
  }

  /// Half a dozen files of half a megabyte, and the journal, lie behind the end.
  @ParameterizedTest
  @ValueSource(
      strings = {"", "-O ^extent,^flex_bg,^64bit,^metadata_csum", "-O meta_bg,^resize_inode"})
  void leavesTheOldSizeOrASmallerOneWhenItShrinks(String options) throws IOException {
    Oracles.require("mke2fs", "e2fsck");
    Path image = directory.resolve("shrinking.img");
    BlockDevice base =
        Mke2fs.load(Mke2fs.make(image, options + " -b 1024 -J size=4 -g 4096", "40M"));
    fillToShrink(base);
    long before = Ext4.sizeBytes(base);
    RecordingDevice recording =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
    long after = Ext4.shrink(recording, 16 * MIB);
    assertThat(after).isLessThanOrEqualTo(16 * MIB);
    TreeSet<Long> seen = sizesAfterCuts(base, recording, CUTS / 2);
    assertThat(seen).contains(before, after);
    assertThat(seen.first()).isEqualTo(after);
    assertThat(seen.last()).isEqualTo(before);
  }

  private static void fillToShrink(BlockDevice base) throws IOException {
    byte[] content = new byte[512 << 10];
    try (Extant mounted =
        Extant.open(DelegatingDevice.withoutClose(base), MountOptions.defaults())) {
      Path root = mounted.fileSystem().getPath("/");
      for (int i = 0; i < 56; i++) {
        Arrays.fill(content, (byte) i);
        Files.write(root.resolve("large" + i), content);
      }
      for (int i = 0; i < 50; i++) {
        Files.writeString(root.resolve("file" + i), "content " + i);
        Files.createLink(root.resolve("link" + i), root.resolve("file" + i));
      }
      for (int i = 0; i < 50; i++) {
        Files.delete(root.resolve("large" + i));
      }
    }
  }

  private TreeSet<Long> sizesAfterCuts(BlockDevice base, RecordingDevice recording, int cuts)
      throws IOException {
    TreeSnapshot tree = tree(base, true);
    CutStates states = new CutStates(base, recording.log());
    TreeSet<Long> seen = new TreeSet<>();
    long last = states.lastTick();
    for (int i = 0; i <= cuts; i++) {
      long tick = last * i / cuts;
      Path image = directory.resolve("cut.img");
      try (BlockDevice state = states.materialise(tick, i)) {
        tree.requireSame("cut at tick " + tick, tree(state, false));
        seen.add(Ext4.sizeBytes(state));
        Images.copy(state, image);
      }
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
    return seen;
  }

  private static TreeSnapshot tree(BlockDevice device, boolean readOnly) throws IOException {
    MountOptions options = MountOptions.defaults().withReadOnly(readOnly);
    try (Extant mounted = Extant.open(DelegatingDevice.withoutClose(device), options)) {
      return TreeSnapshot.of(mounted.volume());
    }
  }
}
