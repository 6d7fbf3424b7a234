package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.RecordedWrite;
import dev.extant.testkit.RecordingDevice;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the device is told to be free, and when.
class DiscardTest {
  private static final int BLOCK_BYTES = 1024;
  private static final int SIZE_BYTES = 24 << 20;
  private static final NewFile OWNER = new NewFile(0644, 0, 0);

  /// So that nothing is committed behind the test's back.
  private static final String NO_TIMER = "commit=0";

  @TempDir Path folder;

  private final RamDevice ram = new RamDevice("ram", SIZE_BYTES);

  @BeforeEach
  void make() throws IOException {
    make("extent");
  }

  @AfterEach
  void release() {
    ram.close();
  }

  private void make(String features) throws IOException {
    Mkfs.make(
        ram,
        MkfsOptions.builder()
            .blockSizeBytes(BLOCK_BYTES)
            .inodesCount(1024)
            .features(features)
            .build());
  }

  private RecordingDevice device() {
    return new RecordingDevice(DelegatingDevice.withoutClose(ram));
  }

  private static Node file(Volume volume, String name, int blocks) throws FsException {
    try (Node root = volume.root()) {
      Node file = volume.create(root, FileName.of(name), OWNER);
      byte[] bytes = new byte[blocks * BLOCK_BYTES];
      Arrays.fill(bytes, (byte) (name.hashCode() | 1));
      volume.append(file, MemorySegment.ofArray(bytes));
      volume.fsync(file, false).join();
      return file;
    }
  }

  private static void unlink(Volume volume, String name) throws FsException {
    try (Node root = volume.root()) {
      volume.unlink(root, FileName.of(name));
    }
  }

  /// The blocks that hold nothing but the content of [#file].
  private BitSet blocksOf(String name) {
    BitSet blocks = new BitSet();
    byte[] content = new byte[BLOCK_BYTES];
    Arrays.fill(content, (byte) (name.hashCode() | 1));
    for (int block = 0; block < SIZE_BYTES / BLOCK_BYTES; block++) {
      MemorySegment bytes = ram.memory().asSlice((long) block * BLOCK_BYTES, BLOCK_BYTES);
      if (bytes.mismatch(MemorySegment.ofArray(content)) < 0) {
        blocks.set(block);
      }
    }
    return blocks;
  }

  private static BitSet blocks(List<RecordedWrite> discards) {
    BitSet blocks = new BitSet();
    for (RecordedWrite discard : discards) {
      assertThat(discard.offset() % BLOCK_BYTES).isZero();
      int first = (int) (discard.offset() / BLOCK_BYTES);
      blocks.set(first, first + (int) (discard.lengthBytes() / BLOCK_BYTES));
    }
    return blocks;
  }

  private static BitSet awaitDiscards(RecordingDevice device, int blocks)
      throws InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (blocks(device.discards()).cardinality() < blocks && System.nanoTime() < end) {
      Thread.sleep(5);
    }
    return blocks(device.discards());
  }

  @Test
  void freedBlocksAreDiscardedOnceThatIsDurable() throws IOException, InterruptedException {
    RecordingDevice device = device();
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.parse("discard," + NO_TIMER))) {
      file(volume, "kept", 40).close();
      Node open = file(volume, "gone", 100);
      BitSet blocks = blocksOf("gone");
      assertThat(blocks.cardinality()).isEqualTo(100);

      unlink(volume, "gone");
      volume.sync();
      Thread.sleep(50);
      assertThat(device.discards()).as("while the file is open").isEmpty();

      open.close();
      Thread.sleep(50);
      assertThat(device.discards()).as("before the commit").isEmpty();

      volume.sync();
      assertThat(awaitDiscards(device, 100)).isEqualTo(blocks);
      assertThat(blocksOf("kept").cardinality()).isEqualTo(40);
    }
    Images.requireClean(ram);
  }

  /// By the end of the mount at the latest.
  @Test
  void closingDiscardsWhatIsLeft() throws IOException {
    RecordingDevice device = device();
    BitSet blocks;
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.parse("discard," + NO_TIMER))) {
      file(volume, "gone", 70).close();
      blocks = blocksOf("gone");
      unlink(volume, "gone");
    }
    assertThat(blocks(device.discards())).isEqualTo(blocks);
    Images.requireClean(ram);
  }

  @Test
  void withoutTheOptionNothingIsDiscarded() throws IOException {
    RecordingDevice device = device();
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.defaults())) {
      file(volume, "gone", 70).close();
      unlink(volume, "gone");
      volume.sync();
    }
    assertThat(device.discards()).isEmpty();
  }

  @Test
  void trimLeavesOutWhatIsNotDurablyFree() throws IOException {
    RecordingDevice device = device();
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.parse(NO_TIMER))) {
      file(volume, "kept", 40).close();
      file(volume, "gone", 100).close();
      BitSet blocks = blocksOf("gone");
      unlink(volume, "gone");

      long first = volume.trim(0);
      BitSet trimmed = blocks(device.discards());
      assertThat(first).isEqualTo((long) trimmed.cardinality() * BLOCK_BYTES);
      assertThat(trimmed.intersects(blocks))
          .as("blocks of a file that a crash brings back")
          .isFalse();
      assertThat(blocksOf("gone")).isEqualTo(blocks);

      volume.sync();
      assertThat(volume.trim(0)).isEqualTo(first + 100L * BLOCK_BYTES);
      assertThat(blocksOf("gone").cardinality()).isZero();
      assertThat(blocksOf("kept").cardinality()).isEqualTo(40);
    }
    Images.requireClean(ram);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "extent",
        "^flex_bg,^resize_inode",
        "bigalloc",
        "^has_journal,uninit_bg,^metadata_csum"
      })
  void trimTellsExactlyWhatDumpe2fsCallsFree(String features) throws IOException {
    make(features);
    try (Ext4Volume volume =
        Ext4.mount(DelegatingDevice.withoutClose(ram), MountOptions.defaults())) {
      for (int i = 0; i < 60; i++) {
        file(volume, "file" + i, 1 + i % 13).close();
      }
      for (int i = 0; i < 60; i += 3) {
        unlink(volume, "file" + i);
      }
    }
    RecordingDevice device = device();
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.defaults())) {
      long bytes = volume.trim(0);
      BitSet free = freeByDumpe2fs(features.equals("bigalloc") ? 16 : 1);
      assertThat(bytes).isEqualTo((long) free.cardinality() * BLOCK_BYTES);
      free.xor(blocks(device.discards()));
      assertThat(free).as("blocks that only one of both calls free").isEqualTo(new BitSet());
    }
    Images.requireClean(ram);
  }

  /// It shows a free cluster by its first block.
  private BitSet freeByDumpe2fs(int blocksPerCluster) throws IOException {
    Path image = folder.resolve("image");
    Images.copy(ram, image);
    BitSet free = new BitSet();
    String groups = Oracles.run("dumpe2fs", image).expect(0).output();
    Matcher lines = Pattern.compile("(?m)^ +Free blocks: (.*)$").matcher(groups);
    while (lines.find()) {
      Matcher ranges = Pattern.compile("(\\d+)(?:-(\\d+))?").matcher(lines.group(1));
      while (ranges.find()) {
        int first = Integer.parseInt(ranges.group(1));
        int last = ranges.group(2) == null ? first : Integer.parseInt(ranges.group(2));
        free.set(first, (last / blocksPerCluster + 1) * blocksPerCluster);
      }
    }
    assertThat(free.cardinality()).isPositive();
    return free;
  }

  @Test
  void shortRunsMayBeLeftOut() throws IOException {
    RecordingDevice device = device();
    try (Ext4Volume volume = Ext4.mount(device, MountOptions.defaults())) {
      for (int i = 0; i < 20; i++) {
        file(volume, "f" + i, 3).close();
      }
      for (int i = 0; i < 20; i += 2) {
        unlink(volume, "f" + i);
      }
      volume.sync();
      volume.trim(100 * BLOCK_BYTES);
      assertThat(device.discards()).isNotEmpty();
      assertThat(device.discards())
          .allSatisfy(
              run -> assertThat(run.lengthBytes()).isGreaterThanOrEqualTo(100 * BLOCK_BYTES));
      int longRuns = blocks(device.discards()).cardinality();
      assertThat(volume.trim(0)).isGreaterThan((long) longRuns * BLOCK_BYTES);
    }
  }
}
