package dev.extant.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/// Undamaged images of many kinds, each with a tree that has something of everything: names, hard
/// and symbolic links, fragmented and sparse files, devices, extended attributes in inodes and in
/// blocks, an indexed directory.
public final class FsckBases {
  /// A kind of image: its name and how mke2fs makes it.
  public record Base(String name, String options, String size) {}

  public static final List<Base> ALL =
      List.of(
          new Base("ext2", "-t ext2 -b 1024", "6M"),
          new Base("ext2, revision 0", "-t ext2 -b 1024 -r 0", "6M"),
          new Base("ext3", "-t ext3 -b 1024 -J size=1", "8M"),
          new Base("ext4, 4 KiB", "-t ext4 -b 4096 -J size=4", "24M"),
          new Base("ext4, 1 KiB, groups of 2048", "-t ext4 -b 1024 -g 2048 -J size=1", "12M"),
          new Base("no metadata_csum", "-t ext4 -b 1024 -O ^metadata_csum -J size=1", "8M"),
          new Base(
              "uninit_bg", "-t ext4 -b 1024 -g 2048 -O ^metadata_csum,uninit_bg -J size=1", "12M"),
          new Base("no flex_bg", "-t ext4 -b 1024 -g 2048 -O ^flex_bg,^has_journal", "12M"),
          new Base("bigalloc", "-t ext4 -b 1024 -C 8192 -O bigalloc,^has_journal", "12M"),
          new Base("inline_data", "-t ext4 -b 4096 -I 256 -O inline_data,^has_journal", "12M"),
          new Base("meta_bg", "-t ext4 -b 1024 -O meta_bg,^resize_inode,^has_journal", "12M"),
          new Base("inodes of 128", "-t ext4 -b 1024 -I 128 -O ^has_journal", "8M"),
          new Base("orphan_file", "-t ext4 -b 4096 -O orphan_file -J size=4", "24M"));

  private static final int NAMES = 260;

  private FsckBases() {}

  /// Makes the image anew; `scratch` is an empty or missing folder for the tree.
  public static void make(Base base, Path image, Path scratch) throws IOException {
    Path tree = Files.createDirectories(scratch);
    fill(tree);
    Files.deleteIfExists(image);
    List<String> command = new ArrayList<>();
    command.add(Oracles.find("mke2fs").orElseThrow().toString());
    command.addAll(List.of("-q", "-F", "-U", "6d6b6532-6673-4000-8000-000000000001"));
    command.addAll(List.of("-E", "hash_seed=6d6b6532-6673-4000-8000-000000000002"));
    command.addAll(List.of("-d", tree.toString()));
    command.addAll(List.of(base.options.split(" ")));
    command.addAll(List.of(image.toString(), base.size));
    Oracles.run(command, java.util.Map.of()).expect(0);
    if (!base.options.contains("-r 0")) {
      special(image, scratch.resolveSibling("value"));
    }
    // Ends what mke2fs -d leaves to others: indexes of directories.
    Oracles.run("e2fsck", "-fyD", image).expect(0, 1);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void fill(Path tree) throws IOException {
    Path many = Files.createDirectories(tree.resolve("many"));
    Path deep = Files.createDirectories(tree.resolve("deep/er"));
    for (int i = 0; i < NAMES; i++) {
      write(many.resolve("a-name-that-fills-its-block-" + i), (i % 3) * 100);
    }
    write(deep.resolve("hello"), 12);
    write(tree.resolve("large"), 400_000);
    write(tree.resolve("one-block"), 900);
    if (Files.notExists(tree.resolve("hard"))) {
      Files.createLink(tree.resolve("hard"), tree.resolve("one-block"));
      Files.createSymbolicLink(tree.resolve("short"), Path.of("one-block"));
      Files.createSymbolicLink(tree.resolve("long"), Path.of("deep/" + "x/".repeat(50) + "y"));
    }
    try (FileChannel sparse =
        FileChannel.open(
            tree.resolve("sparse"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int i = 0; i < 120; i++) {
        sparse.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), i * 8192L);
      }
    }
  }

  private static void write(Path file, int sizeBytes) throws IOException {
    byte[] bytes = new byte[sizeBytes];
    java.util.Arrays.fill(bytes, (byte) 'a');
    Files.write(file, bytes);
  }

  /// What needs debugfs: devices and attributes.
  private static void special(Path image, Path value) throws IOException {
    Files.write(value, "v".repeat(300).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    Debugfs.write(
        image,
        List.of(
            "mknod /char c 1 3",
            "mknod /pipe p",
            "ea_set /one-block user.small value",
            "ea_set -f " + value + " /large user.big",
            "ea_set -f " + value + " /deep user.big"));
  }
}
