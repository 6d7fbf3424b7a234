package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.journal.JournalStatistics;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Hundreds of threads at random work on a mounted file system. Afterwards every acknowledged byte
/// is there, no reference is left over, no handle was too small for its changes, and e2fsck is
/// content.
///
/// The system property `extant.stress.seconds` makes each of the runs as long, `extant.seed`
/// repeats what the threads of one want to do.
class VolumeStressTest {
  private static final Duration TIME =
      Duration.ofMillis(
          Math.round(
              Double.parseDouble(System.getProperty("extant.stress.seconds", "1.5")) * 1000));

  private static final long LITTLE_ROOM_BYTES = 1 << 20;

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    // MiB, block size, MiB of journal, threads, features, mount options
    "12, 1024, 1, 600, orphan_file, 'commit=1,cache=256K'",
    "10, 1024, 4, 300, ^orphan_file, 'cache=32K'",
    "32, 2048, 4, 500, '^metadata_csum,^orphan_file', 'commit=1'",
    "64, 4096, 8, 1000, '^dir_index', 'cache=4M'",
    "12, 4096, 4, 400, '^64bit', 'data=writeback,cache=1M'",
    "12, 1024, 4, 300, orphan_file, 'data=journal,cache=256K'",
    "8, 1024, 0, 400, '^has_journal', 'cache=256K'",
    "16, 1024, 4, 400, inline_data, 'commit=1,cache=256K'",
  })
  void survives(
      int mebibytes, int blockSize, int journal, int threads, String features, String options)
      throws Exception {
    long seed = Seeds.random();
    try (RamDevice device = new RamDevice(features, (long) mebibytes << 20)) {
      Mkfs.make(
          device,
          MkfsOptions.builder()
              .blockSizeBytes(blockSize)
              .journalMebibytes(journal)
              .inodesCount(4096)
              .features(features)
              .reservedPercent(0)
              .build());
      Ext4Volume volume = open(device, options);
      if (mebibytes <= 12) {
        leaveLittleRoom(volume);
      }
      StressRun run = new StressRun(volume, seed, folder);
      int referencesBefore = volume.referencedInodes();
      run.run(threads, 8, TIME);
      assertThat(volume.referencedInodes() - referencesBefore)
          .as("inodes that somebody kept, seed %s", seed)
          .isEqualTo(run.abandonedNodes());
      JournalStatistics journalStatistics = volume.journalStatistics();
      volume.close();
      run.closeAbandoned();
      System.out.println(
          run.operations()
              + " operations, "
              + run.fullDisks()
              + " refused on a full disk, "
              + journalStatistics);
      if (journalStatistics != null) {
        assertThat(journalStatistics.overdrafts()).as("overdrafts, seed %s", seed).isZero();
      }
      Path image = folder.resolve("image");
      Images.copy(device, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
      check(device, run);
    }
  }

  private static Ext4Volume open(RamDevice device, String options) throws IOException {
    return Ext4.mount(DelegatingDevice.withoutClose(device), MountOptions.parse(options));
  }

  /// So that the disk is full again and again.
  private static void leaveLittleRoom(Ext4Volume volume) throws IOException {
    try (Node root = volume.root();
        Node ballast = volume.create(root, FileName.of("ballast"), new NewFile(0600, 0, 0))) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[64 << 10]);
      for (long at = 0; freeBytes(volume) > LITTLE_ROOM_BYTES; at += bytes.byteSize()) {
        volume.write(ballast, at, bytes);
      }
    }
  }

  private static long freeBytes(Ext4Volume volume) throws IOException {
    VolumeStatistics statistics = volume.statistics();
    return statistics.freeBlocks() * statistics.blockSizeBytes();
  }

  /// Everything that a later mount finds is whole, and is all that the workers had.
  private static void check(RamDevice device, StressRun run) throws IOException {
    try (Ext4Volume volume = open(device, "ro")) {
      Map<FileName, byte[]> left = new HashMap<>(run.contents());
      try (Node root = volume.root()) {
        check(volume, root, left, new HashSet<>());
      }
      assertThat(left.keySet()).isEmpty();
    }
  }

  private static void check(
      Volume volume, Node directory, Map<FileName, byte[]> left, Set<Long> seen)
      throws IOException {
    assertThat(seen.add(directory.ino())).isTrue();
    Map<FileName, Long> names = new HashMap<>();
    volume.readDirectory(directory, 0, (name, ino, type, cookie) -> names.put(name, ino) == null);
    for (Map.Entry<FileName, Long> entry : names.entrySet()) {
      FileName name = entry.getKey();
      if (name.isDot() || name.isDotDot() || name.equals(FileName.of("lost+found"))) {
        continue;
      }
      try (Node node = volume.lookup(directory, name)) {
        assertThat(node.ino()).isEqualTo(entry.getValue());
        if (node.type() == FileType.DIRECTORY) {
          check(volume, node, left, seen);
        } else if (left.containsKey(name)) {
          byte[] found = new byte[StressFile.LARGEST_BYTES + 1];
          int count = volume.read(node, 0, MemorySegment.ofArray(found));
          assertThat(Arrays.copyOf(found, count))
              .as("content of %s", name)
              .isEqualTo(left.remove(name));
        } else if (node.type() == FileType.REGULAR) {
          new StressTree(volume).check(node);
        }
      }
    }
  }
}
