package dev.extant.mkfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.FileDevice;
import dev.extant.testkit.Oracles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// File systems that [Mkfs] makes, judged by e2fsck, compared with those of mke2fs by dumpe2fs, and
/// mounted by the kernel.
final class MkfsOracleTest {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final long TIB = 1L << 40;

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("e2fsck", "dumpe2fs");
  }

  private Path make(long sizeBytes, MkfsOptions.Builder options) throws IOException {
    Path image = folder.resolve("image");
    try (FileDevice device = FileDevice.create(image, sizeBytes)) {
      Mkfs.make(device, options.zeroed(true).build());
    }
    return image;
  }

  private static void requireClean(Path image) throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  static List<String> grid() {
    List<String> grid = new ArrayList<>();
    for (int blockSize : new int[] {1024, 2048, 4096}) {
      for (int inodeSize : new int[] {128, 256}) {
        for (String features : new String[] {"64bit", "^64bit"}) {
          for (String more : new String[] {"metadata_csum", "^metadata_csum"}) {
            grid.add(blockSize + " " + inodeSize + " " + features + "," + more);
          }
        }
      }
    }
    return grid;
  }

  @ParameterizedTest
  @MethodSource("grid")
  void isCleanOverTheGrid(String point) throws IOException {
    String[] parts = point.split(" ");
    for (long size : new long[] {MIB, 64 * MIB, 128 * MIB + 4096}) {
      MkfsOptions.Builder options =
          MkfsOptions.builder()
              .blockSizeBytes(Integer.parseInt(parts[0]))
              .inodeSizeBytes(Integer.parseInt(parts[1]))
              .features(parts[2]);
      Path image = make(size, options);
      requireClean(image);
      Map<String, String> header = header(image);
      assertThat(header)
          .containsEntry("Block size", parts[0])
          .containsEntry("Inode size", parts[1])
          .containsEntry("Filesystem state", "clean");
      List<String> features = List.of(header.get("Filesystem features").split(" "));
      for (String feature : parts[2].split(",")) {
        assertThat(features.contains(feature.replace("^", "")))
            .as(feature)
            .isEqualTo(!feature.startsWith("^"));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "^flex_bg",
        "^sparse_super",
        "sparse_super2",
        "^resize_inode",
        "^has_journal",
        "^metadata_csum,uninit_bg",
        "^metadata_csum,uninit_bg,^64bit,^flex_bg,^filetype",
        "^orphan_file,^metadata_csum_seed",
        "none,extent",
        "stable_inodes"
      })
  void isCleanWithEachFeatureChanged(String features) throws IOException {
    for (long size : new long[] {8 * MIB, 200 * MIB}) {
      requireClean(make(size, MkfsOptions.builder().features(features)));
      requireClean(make(size, MkfsOptions.builder().features(features).blockSizeBytes(4096)));
    }
  }

  @ParameterizedTest
  @CsvSource({"1073741824, 0", "21474836480, 0", "21474836480, 1024", "214748364800, 4096"})
  void isCleanWhenItIsLarge(long size, int blockSize) throws IOException {
    requireClean(make(size, MkfsOptions.builder().blockSizeBytes(blockSize)));
  }

  /// Inodes from one in all to as many as fit, so that tables spill over their groups.
  @ParameterizedTest
  @ValueSource(longs = {1, 13, 1000, 60_000, 130_000, 200_000})
  void isCleanWithFewAndManyInodes(long inodes) throws IOException {
    Path image = make(64 * MIB, MkfsOptions.builder().blockSizeBytes(4096).inodesCount(inodes));
    requireClean(image);
    assertThat(Long.parseLong(header(image).get("Inode count"))).isGreaterThanOrEqualTo(inodes);
  }

  /// In memory where there is room, since ext4 has no files of that size, and the disk is slow.
  @Test
  void sixteenTebibytesAreMadeQuickly() throws IOException {
    Path memory = Path.of("/dev/shm");
    boolean tmpfs =
        Files.isWritable(memory) && Files.getFileStore(memory).getUsableSpace() > 2 * GIB;
    long size = tmpfs ? 16 * TIB : 16 * TIB - 4096;
    Path image = tmpfs ? Files.createTempFile(memory, "extant", ".img") : folder.resolve("large");
    try (FileDevice device = FileDevice.create(image, size)) {
      Instant start = Instant.now();
      Mkfs.make(device, MkfsOptions.builder().zeroed(true).build());
      assertThat(Duration.between(start, Instant.now())).isLessThan(Duration.ofSeconds(60));
      Map<String, String> header = header(image);
      assertThat(header).containsEntry("Block count", Long.toString(size / 4096));
      assertThat(header).containsEntry("Filesystem state", "clean");
    } finally {
      Files.delete(image);
    }
  }

  /// What was on the device before, a journal included, must not matter.
  @Test
  void isCleanOnADeviceFullOfGarbage() throws IOException {
    byte[] garbage = new byte[1 << 20];
    new Random(3).nextBytes(garbage);
    Path image = folder.resolve("image");
    try (FileDevice device = FileDevice.create(image, 24 * MIB)) {
      for (long at = 0; at < device.sizeBytes(); at += garbage.length) {
        device.write(at, List.of(MemorySegment.ofArray(garbage)), false);
      }
      Mkfs.make(device, MkfsOptions.builder().build());
    }
    requireClean(image);
  }

  /// The numbers a user sees are those that mke2fs would have chosen.
  @ParameterizedTest
  @CsvSource({
    "EXT4, 2097152, 0, 256",
    "EXT4, 8388608, 0, 256",
    "EXT4, 67108864, 0, 256",
    "EXT4, 67108864, 4096, 256",
    "EXT4, 67108864, 1024, 128",
    "EXT4, 134221824, 1024, 256",
    "EXT4, 629145600, 0, 256",
    "EXT4, 3221225472, 0, 256",
    "EXT4, 21474836480, 2048, 256",
    "EXT2, 1048576, 0, 256",
    "EXT2, 209715200, 0, 256",
    "EXT2, 629145600, 0, 128",
    "EXT3, 8388608, 0, 128",
    "EXT3, 67108864, 0, 256",
    "EXT3, 67108864, 2048, 256",
    "EXT3, 3221225472, 0, 256",
    "EXT3, 1074791424, 1024, 256"
  })
  void choosesWhatMke2fsChooses(FsType type, long size, int blockSize, int inodeSize)
      throws IOException {
    Oracles.require("mke2fs");
    Path ours =
        make(
            size,
            MkfsOptions.builder().type(type).blockSizeBytes(blockSize).inodeSizeBytes(inodeSize));
    requireClean(ours);
    Path theirs = folder.resolve("theirs");
    List<Object> arguments = new ArrayList<>();
    String features = type == FsType.EXT4 ? "orphan_file,metadata_csum_seed" : "ext_attr";
    arguments.addAll(List.of("-q", "-F", "-t", type.spelling(), "-O", features));
    arguments.addAll(List.of("-I", inodeSize));
    if (blockSize > 0) {
      arguments.addAll(List.of("-b", blockSize));
    }
    arguments.addAll(List.of(theirs, size / 1024 + "K"));
    Oracles.run("mke2fs", arguments.toArray()).expect(0);
    Map<String, String> expected = new HashMap<>(header(theirs));
    for (String differing :
        List.of(
            "Filesystem UUID",
            "Filesystem created",
            "Last write time",
            "Last checked",
            "Directory Hash Seed",
            "Lifetime writes",
            "Checksum",
            "Checksum seed")) {
      expected.remove(differing);
    }
    if (size % MIB != 0) {
      // mke2fs keeps the number that it had before it left the last group out.
      expected.remove("Reserved block count");
    }
    assertThat(header(ours)).containsAllEntriesOf(expected);
  }

  private static Map<String, String> header(Path image) throws IOException {
    Map<String, String> header = new TreeMap<>();
    String output = Oracles.run("dumpe2fs", "-h", image).expect(0).output();
    for (String line : output.lines().toList()) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        header.put(line.substring(0, colon), line.substring(colon + 1).strip());
      }
    }
    return header;
  }

  @Test
  void theKernelMountsAndFillsIt() throws IOException {
    Oracles.requireRoot();
    Oracles.require("umount");
    for (int blockSize : new int[] {1024, 4096}) {
      Path image = make(64 * MIB, MkfsOptions.builder().blockSizeBytes(blockSize));
      Path mount = Files.createDirectories(folder.resolve("mount"));
      Oracles.run("mount", "-o", "loop", image, mount).expect(0);
      byte[] content = new byte[3_000_000];
      Arrays.fill(content, (byte) 'x');
      try {
        assertThat(mount.resolve("lost+found")).isDirectory();
        for (int i = 0; i < 10; i++) {
          Files.write(mount.resolve("file" + i), content);
        }
        Files.createDirectory(mount.resolve("directory"));
      } finally {
        Oracles.run("umount", mount).expect(0);
      }
      requireClean(image);
    }
  }
}
