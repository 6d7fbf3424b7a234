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
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordingDevice;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A power cut while a file system grows leaves the old size or the new one.
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
    CutStates states = new CutStates(base, recording.log());
    TreeSet<Long> seen = new TreeSet<>();
    long last = states.lastTick();
    for (int i = 0; i <= CUTS; i++) {
      long tick = last * i / CUTS;
      Path image = directory.resolve("cut.img");
      try (BlockDevice state = states.materialise(tick, i)) {
        try (Extant mounted =
            Extant.open(DelegatingDevice.withoutClose(state), MountOptions.defaults())) {
          Path file = mounted.fileSystem().getPath("/file49");
          assertThat(Files.readString(file)).as("cut at tick " + tick).isEqualTo("content 49");
        }
        seen.add(Ext4.sizeBytes(state));
        Images.copy(state, image);
      }
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
    assertThat(seen).containsExactly(before, after);
  }
}
