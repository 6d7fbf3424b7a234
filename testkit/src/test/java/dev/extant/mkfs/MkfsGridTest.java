package dev.extant.mkfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.FileDevice;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// File systems with every option that can be set, alone and together: clean for e2fsck, with the
/// numbers that mke2fs chooses for the same options, mounted, filled and checked again by us and,
/// where it knows the layout, by the kernel.
class MkfsGridTest {
  private static final long MIB = 1L << 20;

  /// What dumpe2fs shows of both and does not depend on random or on the way to place things.
  private static final List<String> COMPARED =
      List.of(
          "Inode count",
          "Block count",
          "First block",
          "Block size",
          "Cluster size",
          "Blocks per group",
          "Clusters per group",
          "Inodes per group",
          "Inode blocks per group",
          "Flex block group size",
          "Inode size",
          "Backup block groups",
          "RAID stride",
          "RAID stripe width",
          "MMP update interval",
          "Filesystem revision #");

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("e2fsck", "dumpe2fs", "mke2fs");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "64M -t ext4 -O bigalloc -b 1024",
        "64M -t ext4 -O bigalloc -b 1024 -C 65536",
        "200M -t ext4 -O bigalloc -b 4096 -C 8192",
        "64M -t ext4 -O bigalloc,^flex_bg -b 4096",
        "64M -t ext4 -O bigalloc,^has_journal,^64bit -b 2048 -C 16384",
        "64M -t ext4 -O meta_bg -b 1024",
        "300M -t ext4 -O meta_bg,^flex_bg,^64bit -b 1024 -g 2048",
        "64M -t ext4 -O meta_bg,bigalloc -b 1024",
        "64M -t ext4 -O sparse_super2 -b 1024",
        "64M -t ext4 -O ^sparse_super,^resize_inode -b 1024",
        "64M -t ext4 -O inline_data,large_dir,ea_inode",
        "64M -t ext4 -O mmp",
        "64M -t ext4 -O mmp,^metadata_csum -b 4096",
        "64M -t ext4 -O fast_commit",
        "64M -t ext4 -O stable_inodes,^huge_file,^dir_nlink,^extra_isize",
        "64M -t ext4 -O ^extent,^64bit",
        "64M -t ext4 -O ^extent,^64bit,^metadata_csum,uninit_bg",
        "64M -t ext4 -O ^filetype,^dir_index,^ext_attr",
        "64M -t ext4 -O ^large_file,^flex_bg",
        "64M -t ext4 -O metadata_csum_seed,orphan_file,^resize_inode -I 512",
        "100M -t ext4 -b 8192",
        "160M -t ext4 -b 16384 -I 4096 -N 500",
        "200M -t ext3 -b 32768",
        "200M -t ext4 -b 65536 -J 64",
        "200M -t ext4 -b 65536 -I 32768 -N 64 -O ^has_journal",
        "300M -t ext4 -b 65536 -O bigalloc,^has_journal",
        "160M -t ext2 -b 65536",
        "64M -t ext4 -b 4096 -I 4096 -N 200",
        "64M -t ext4 -b 1024 -I 1024",
        "64M -t ext4 -g 1024 -b 1024",
        "65M -t ext4 -g 2048 -b 1024 -G 4",
        "64M -t ext4 -b 1024 -G 1",
        "200M -t ext4 -b 1024 -G 64",
        "64M -t ext4 -E 16/64",
        "64M -t ext4 -R 1048576 -b 1024",
        "64M -t ext4 -m 0 -i 65536",
        "64M -t ext3 -m 20 -i 2048 -J 8",
        "64M -t ext3 -O uninit_bg",
        "64M -t ext3 -O metadata_csum",
        "64M -t ext2 -O dir_nlink,huge_file,extra_isize,flex_bg",
        "64M -t ext2 -O none",
        "64M -t ext2 -g 256 -b 1024 -N 8000",
        "64M -t ext4 -g 256 -b 1024 -N 8000",
        "64M -t ext4 -O bigalloc -C 16384 -g 4096 -b 1024",
        "64K -t ext2 -N 16",
        "100K -t ext2 -N 16",
        "360K -t ext2",
        "1M -t ext2 -b 4096",
        "1440K -t ext2 -I 128",
        "8193K -t ext2",
        "8250K -t ext2",
        "8251K -t ext3",
        "16500K -t ext4",
        "24600K -t ext2 -O ^sparse_super,^resize_inode -b 1024",
        "2100K -t ext3",
        "1M -t ext4"
      })
  void isMadeAsAskedAndWorks(String line) throws IOException {
    Map<String, String> options = parse(line);
    Path image = folder.resolve("image");
    long size = sizeBytes(options.get("size"));
    try (FileDevice device = FileDevice.create(image, size)) {
      Mkfs.make(device, builder(options).zeroed(true).build());
    }
    requireClean(image);
    compareWithMke2fs(options, header(image));
    Random random = new Random(1);
    if (size > 16 * MIB) {
      try (Extant mount = Extant.open(image, MountOptions.defaults())) {
        fill(mount.fileSystem().getPath("/"), random);
      }
      requireClean(image);
      if (Integer.parseInt(header(image).get("Block size")) <= 4096) {
        Oracles.requireRoot();
        try (KernelMount kernel = KernelMount.of(image, "noatime")) {
          fill(Files.createDirectory(kernel.root().resolve("theirs")), random);
        }
        requireClean(image);
      }
    }
  }

  private static void fill(Path root, Random random) throws IOException {
    for (int i = 0; i < 6; i++) {
      byte[] bytes = new byte[random.nextInt(1_000_000)];
      random.nextBytes(bytes);
      Files.write(root.resolve("file-" + i), bytes);
      assertThat(Files.readAllBytes(root.resolve("file-" + i))).isEqualTo(bytes);
    }
    Path directory = Files.createDirectory(root.resolve("directory"));
    for (int i = 0; i < 40; i++) {
      Files.createFile(directory.resolve("a-name-".repeat(10) + i));
    }
    Files.delete(root.resolve("file-1"));
  }

  private static void requireClean(Path image) throws IOException {
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  /// Options by letter; `size` is the first word.
  private static Map<String, String> parse(String line) {
    Map<String, String> options = new TreeMap<>();
    String[] words = line.split(" ");
    options.put("size", words[0]);
    for (int i = 1; i < words.length; i += 2) {
      options.put(words[i], words[i + 1]);
    }
    return options;
  }

  private static long sizeBytes(String size) {
    long number = Long.parseLong(size.substring(0, size.length() - 1));
    return number << (size.endsWith("M") ? 20 : 10);
  }

  private static MkfsOptions.Builder builder(Map<String, String> options) {
    MkfsOptions.Builder builder = MkfsOptions.builder();
    options.forEach((name, value) -> set(builder, name, value));
    return builder;
  }

  private static void set(MkfsOptions.Builder builder, String name, String value) {
    switch (name) {
      case "-t" -> builder.type(FsType.ofSpelling(value));
      case "-O" -> builder.features(value);
      case "-b" -> builder.blockSizeBytes(Integer.parseInt(value));
      case "-C" -> builder.clusterSizeBytes(Integer.parseInt(value));
      case "-I" -> builder.inodeSizeBytes(Integer.parseInt(value));
      case "-N" -> builder.inodesCount(Long.parseLong(value));
      case "-i" -> builder.bytesPerInode(Long.parseLong(value));
      case "-J" -> builder.journalMebibytes(Long.parseLong(value));
      case "-g" -> builder.blocksPerGroup(Long.parseLong(value));
      case "-G" -> builder.groupsPerFlex(Integer.parseInt(value));
      case "-m" -> builder.reservedPercent(Double.parseDouble(value));
      case "-R" -> builder.resizeBlocks(Long.parseLong(value));
      case "-E" -> {
        String[] raid = value.split("/");
        builder.strideBlocks(Long.parseLong(raid[0])).stripeWidthBlocks(Long.parseLong(raid[1]));
      }
      default -> {}
    }
  }

  private void compareWithMke2fs(Map<String, String> options, Map<String, String> ours)
      throws IOException {
    Path image = folder.resolve("theirs");
    List<Object> arguments = new ArrayList<>(List.of("-q", "-F"));
    options.forEach(
        (name, value) -> {
          switch (name) {
            case "size" -> {}
            case "-J" -> arguments.addAll(List.of("-J", "size=" + value));
            case "-R" -> arguments.addAll(List.of("-E", "resize=" + value));
            case "-E" -> {
              String[] raid = value.split("/");
              arguments.addAll(List.of("-E", "stride=" + raid[0] + ",stripe_width=" + raid[1]));
            }
            case "-O" -> arguments.addAll(List.of("-O", value.replace("meta_bg", META_BG)));
            default -> arguments.addAll(List.of(name, value));
          }
        });
    arguments.addAll(List.of(image, options.get("size")));
    Oracles.run("mke2fs", arguments.toArray()).expect(0);
    Map<String, String> theirs = header(image);
    Files.delete(image);
    if (theirs.get("Block count").equals("8193")) {
      // Of two groups we make smaller ones instead of leaving the second out.
      assertThat(Long.parseLong(ours.get("Block count"))).isGreaterThanOrEqualTo(8193);
      return;
    }
    for (String name : COMPARED) {
      assertThat(ours.get(name)).as(name).isEqualTo(theirs.get(name));
    }
  }

  /// mke2fs does not take the default away that excludes it.
  private static final String META_BG = "meta_bg,^resize_inode";

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
}
