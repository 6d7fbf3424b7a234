package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Images that `mke2fs -d` makes with all usual options, read back, changed in bulk by us, and
/// judged by e2fsck and the kernel.
///
/// Each option comes with two of the six pairs of block and inode size; `-Dextant.grid=full` tries
/// them all.
class ImageGridTest {
  private static final long SEED = 20_250_102;
  private static final List<String> FEATURES =
      List.of(
          "ext_attr",
          "orphan_file,metadata_csum_seed",
          "^64bit",
          "^metadata_csum,uninit_bg",
          "^metadata_csum,^uninit_bg",
          "^flex_bg",
          "^resize_inode",
          "^resize_inode,meta_bg",
          "bigalloc",
          "^dir_index",
          "^filetype",
          "^extra_isize",
          "^huge_file",
          "^dir_nlink",
          "large_dir",
          "^has_journal",
          "^64bit,^metadata_csum,^flex_bg,^extra_isize,^dir_nlink,^huge_file,^resize_inode");

  /// Types and features whose files have block pointers.
  private static final List<String> OLD_TYPES =
      List.of(
          "ext2 ext_attr",
          "ext3 ext_attr",
          "ext4 ^extent,^64bit",
          "ext3 ^dir_index",
          "ext2 none",
          "ext3 ^sparse_super,^resize_inode,^large_file,^filetype",
          "ext2 metadata_csum,flex_bg,^resize_inode");

  private static final List<String> HASHES = List.of("half_md4", "tea", "legacy");
  private static final int[][] SIZES = {
    {1024, 128}, {4096, 256}, {2048, 128}, {1024, 256}, {4096, 128}, {2048, 256}
  };

  @TempDir static Path shared;
  @TempDir Path folder;

  private static Path tree;
  private static Map<String, String> original;
  private static Map<String, String> changed;

  /// One image's options.
  record Options(
      String type, int blockSize, int inodeSize, String features, String hash, String size) {}

  @BeforeAll
  static void makeTrees() throws IOException {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "tune2fs");
    tree = shared.resolve("tree");
    SampleTree.make(tree);
    original = TreeDescription.of(tree, TreeDescription.Times.COPIED);
    Path model = shared.resolve("model");
    Oracles.run("cp", "-a", tree, model).expect(0);
    BulkChanges.apply(model, SEED);
    changed = TreeDescription.of(model, TreeDescription.Times.COPIED);
  }

  static Stream<Options> grid() {
    int pairs = "full".equals(System.getProperty("extant.grid")) ? SIZES.length : 2;
    List<Options> grid = new ArrayList<>();
    for (int i = 0; i < FEATURES.size(); i++) {
      for (int pair = 0; pair < pairs; pair++) {
        int[] sizes = SIZES[(2 * i + pair) % SIZES.length];
        String hash = HASHES.get((i + pair) % HASHES.size());
        grid.add(new Options("ext4", sizes[0], sizes[1], FEATURES.get(i), hash, "72001K"));
      }
    }
    grid.add(new Options("ext4", 4096, 256, "ext_attr", "half_md4", "135000K"));
    for (int i = 0; i < OLD_TYPES.size(); i++) {
      String[] old = OLD_TYPES.get(i).split(" ");
      for (int pair = 0; pair < pairs; pair++) {
        int[] sizes = SIZES[(2 * i + pair) % SIZES.length];
        String hash = HASHES.get((i + pair) % HASHES.size());
        grid.add(new Options(old[0], sizes[0], sizes[1], old[1], hash, "72001K"));
      }
    }
    grid.add(new Options("ext4", 4096, 256, "inline_data", "half_md4", "72001K"));
    grid.add(
        new Options("ext4", 1024, 512, "inline_data,^metadata_csum,^filetype", "tea", "72001K"));
    return grid.stream();
  }

  @ParameterizedTest
  @MethodSource("grid")
  void imagesReadBackAndStayClean(Options options) throws IOException {
    Path image = make(options);
    try (Extant mount = Extant.open(image, MountOptions.defaults())) {
      Path root = mount.fileSystem().getPath("/");
      assertThat(mount.volume().readOnly()).isFalse();
      TreeDescription.requireSame(original, TreeDescription.of(root, TreeDescription.Times.COPIED));
      BulkChanges.apply(root, SEED);
    }
    Oracles.run("e2fsck", "-fn", image).expect(0);
    compareWithKernel(image, changed);
  }

  /// An image of the sample tree. Its big directories are indexed by the hash asked for, where the
  /// features allow it.
  private Path make(Options options) throws IOException {
    Path image = folder.resolve("fs.img");
    Oracles.run(
            "mke2fs",
            "-q",
            "-F",
            "-t",
            options.type,
            "-b",
            options.blockSize,
            "-I",
            options.inodeSize,
            "-O",
            options.features,
            "-d",
            tree,
            image,
            options.size)
        .expect(0);
    if (!options.features.contains("^dir_index")) {
      Oracles.run("tune2fs", "-E", "hash_alg=" + options.hash, image).expect(0);
      Oracles.run("e2fsck", "-fyD", image).expect(0, 1);
    }
    return image;
  }

  private static void compareWithKernel(Path image, Map<String, String> expected)
      throws IOException {
    Map<String, String> ours;
    try (Extant mount = Extant.open(image, MountOptions.defaults().withReadOnly(true))) {
      Path root = mount.fileSystem().getPath("/");
      TreeDescription.requireSame(expected, TreeDescription.of(root, TreeDescription.Times.COPIED));
      ours = TreeDescription.of(root, TreeDescription.Times.EXACT);
    }
    try (KernelMount kernel = KernelMount.of(image, "ro")) {
      TreeDescription.requireSame(
          ours, TreeDescription.of(kernel.root(), TreeDescription.Times.EXACT));
    }
  }
}
