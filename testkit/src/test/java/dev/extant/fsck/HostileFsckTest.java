package dev.extant.fsck;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.testkit.FsckBases;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whatever the bytes are, a check ends soon with a report: `-Dextant.fsck.mutations=N` images,
/// each with up to 40 words overwritten where metadata lies.
class HostileFsckTest {
  private static final long[] NASTY = {
    0, 1, 2, 0xff, 0xffff, 0x7fff_ffffL, 0x8000_0000L, 0xffff_ffffL, 0xf30a, 0xea02_0000L
  };

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @Test
  void everyCheckEnds() throws IOException {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
    int mutations = Integer.getInteger("extant.fsck.mutations", 600);
    long seed = Seeds.fixed(11);
    RamDevice[] bases = new RamDevice[FsckBases.ALL.size()];
    for (int i = 0; i < mutations; i++) {
      int base = i % bases.length;
      if (bases[base] == null) {
        Path image = folder.resolve("base.img");
        FsckBases.make(FsckBases.ALL.get(base), image, folder.resolve("tree" + base));
        bases[base] = Mke2fs.load(image);
      }
      check(bases[base], seed, i);
    }
  }

  private static void check(RamDevice device, long seed, int index) {
    RandomGenerator random =
        RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 1_000_003 + index);
    int words = 1 + random.nextInt(40);
    MemorySegment memory = device.memory();
    long[] places = new long[words];
    int[] before = new int[words];
    for (int i = 0; i < words; i++) {
      places[i] = place(random, memory.byteSize());
      before[i] = Le.i32(memory, places[i]);
      Le.put32(memory, places[i], value(random));
    }
    FsckReport report =
        Assertions.assertTimeoutPreemptively(
            ofSeconds(30),
            () -> Fsck.check(device, FsckOptions.defaults(), FsckProgress.NONE),
            () -> "image " + index);
    assertThat(report).isNotNull();
    for (int i = words - 1; i >= 0; i--) {
      Le.put32(memory, places[i], before[i]);
    }
  }

  /// Mostly where numbers are: in the first 2 MiB lie descriptors, inodes and directories.
  private static long place(RandomGenerator random, long sizeBytes) {
    long limit =
        switch (random.nextInt(8)) {
          case 0 -> sizeBytes;
          case 1 -> 8192;
          default -> 2L << 20;
        };
    long from = random.nextInt(16) == 0 ? 1024 : 2048;
    return (from + random.nextLong(limit - from - 4)) / 2 * 2;
  }

  private static long value(RandomGenerator random) {
    return switch (random.nextInt(3)) {
      case 0 -> NASTY[random.nextInt(NASTY.length)];
      case 1 -> random.nextInt(4096);
      default -> random.nextInt();
    };
  }
}
