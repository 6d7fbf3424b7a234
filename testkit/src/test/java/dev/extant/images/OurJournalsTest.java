package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.FileDevice;
import dev.extant.block.OverlayDevice;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordingDevice;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Our journals, cut at any point after they wrapped at least twice, recover under the kernel and
/// e2fsck to what we recover to.
///
/// More cuts: `-Dextant.cuts=500`; see [dev.extant.testkit.PowerCutSweep] for the whole command.
class OurJournalsTest {
  /// Of each variant.
  private static final int CUTS = Integer.getInteger("extant.cuts", 5);

  private static final int JOURNAL_BYTES = 4 << 20;

  @TempDir Path folder;

  @BeforeEach
  void needs() {
    Oracles.require("mke2fs", "e2fsck");
    Oracles.requireRoot();
  }

  @ParameterizedTest
  @CsvSource({
    "4096, metadata_csum, ordered, 1",
    "4096, '^metadata_csum,^64bit', ordered, 2",
    "1024, '^metadata_csum,orphan_file', journal, 3",
    "4096, 'metadata_csum,orphan_file', journal, 4"
  })
  void recoverUnderOthersAsUnderUs(
      int blockSize, String features, String dataMode, long defaultSeed) throws IOException {
    long seed = Seeds.fixed(defaultSeed);
    Path image = folder.resolve("fs.img");
    Path cut = folder.resolve("cut.img");
    Oracles.run(
            "mke2fs", "-q", "-F", "-t", "ext4", "-b", blockSize, "-O", features, "-J", "size=4",
            image, "40M")
        .expect(0);
    try (FileDevice base = FileDevice.open(image, true)) {
      RecordingDevice device = new RecordingDevice(new OverlayDevice(CrashedImage.shared(base)));
      Span span = work(device, blockSize, dataMode, seed);
      CutStates states = new CutStates(base, device.log());
      Random random = new Random(seed);
      for (int i = 0; i < CUTS; i++) {
        long tick = random.nextLong(span.wrapped(), span.end());
        try (BlockDevice state = states.materialise(tick, seed + i)) {
          Images.copy(state, cut);
          Recoveries.compare(cut);
        } catch (AssertionError | IOException e) {
          throw new AssertionError(
              "seed " + seed + ", cut " + i + " at tick " + tick + ": " + e.getMessage(), e);
        }
      }
    }
  }

  /// Ticks: the journal has wrapped twice, and the file system, with changes, is about to be
  /// closed.
  private record Span(long wrapped, long end) {}

  private static Span work(RecordingDevice device, int blockSize, String dataMode, long seed)
      throws IOException {
    MountOptions options = MountOptions.parse("commit=0,noatime,data=" + dataMode);
    Extant mount = Extant.open(device, options);
    Random random = new Random(seed);
    int round = 0;
    while (mount.journalStatistics().blocksLogged() * blockSize < 2L * JOURNAL_BYTES) {
      changes(mount, random, round++);
    }
    long wrapped = device.ticks();
    for (int i = 0; i < 30; i++) {
      changes(mount, random, round++);
    }
    assertThat(mount.journalStatistics().checkpoints()).isPositive();
    long end = device.ticks();
    mount.close();
    assertThat(end).isGreaterThan(wrapped);
    return new Span(wrapped, end);
  }

  private static void changes(Extant mount, Random random, int round) throws IOException {
    FileSystem fs = mount.fileSystem();
    Path directory = Files.createDirectories(fs.getPath("/directory-" + round % 7));
    for (int i = 0; i < 6; i++) {
      Path file = directory.resolve("a-file-with-the-number-" + random.nextInt(40));
      byte[] bytes = new byte[random.nextInt(12_000)];
      random.nextBytes(bytes);
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.wrap(bytes), random.nextInt(20_000));
        if (random.nextInt(4) == 0) {
          channel.truncate(random.nextInt(20_000));
        }
        if (random.nextInt(3) == 0) {
          channel.force(true);
        }
      }
      Path other = directory.resolve("moved-" + random.nextInt(20));
      switch (random.nextInt(6)) {
        case 0 -> Files.move(file, other, StandardCopyOption.ATOMIC_MOVE);
        case 1 -> Files.delete(file);
        case 2 -> Files.deleteIfExists(other);
        case 3 -> {
          Files.deleteIfExists(other);
          Files.createSymbolicLink(other, fs.getPath("to/" + "somewhere/".repeat(round % 20)));
        }
        default -> {}
      }
    }
    if (round % 3 == 0) {
      mount.volume().sync();
    }
  }
}
