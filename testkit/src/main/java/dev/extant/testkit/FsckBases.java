package dev.extant.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/// Undamaged images of many kinds, each with a tree that has something of everything: names, hard
/// and symbolic links, fragmented and sparse files, devices, extended attributes in inodes and in
/// blocks, an indexed directory.
public final class FsckBases {
  /// A kind of image: its name, how mke2fs makes it, and how many names its large directory has.
  public record Base(String name, String options, String size, int names) {
    Base(String name, String options, String size) {
      this(name, options, size, NAMES);
    }
  }

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
          new Base("orphan_file", "-t ext4 -b 4096 -O orphan_file -J size=4", "24M"),
          new Base("ea_inode", "-t ext4 -b 1024 -I 256 -O ea_inode,^has_journal", "12M"),
          new Base("quota, project", "-t ext4 -b 1024 -I 256 -O quota,project -J size=1", "12M"),
          new Base("index of two levels", "-t ext4 -b 1024 -O ^has_journal -N 6000", "12M", 4000),
          new Base(
              "mmp, sparse_super2", "-t ext4 -b 1024 -O mmp,sparse_super2,^has_journal", "20M"),
          new Base("metadata_csum_seed", "-t ext4 -b 2048 -O metadata_csum_seed,^64bit", "16M"),
          new Base("64 KiB", "-t ext4 -b 65536 -O ^has_journal -N 1024", "64M"));

  private static final int NAMES = 260;
  private static final int HOLES = 400;
  private static final int LARGE_VALUE_BYTES = 5000;

  private FsckBases() {}

  /// Makes the image anew; `scratch` is an empty or missing folder for the tree.
  public static void make(Base base, Path image, Path scratch) throws IOException {
    Path tree = Files.createDirectories(scratch);
    fill(tree, base.names);
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
      special(image, scratch.resolveSibling("value"), base.options.contains("ea_inode"));
    }
    // Ends what mke2fs -d leaves to others: indexes of directories.
    Oracles.run("e2fsck", "-fyD", image).expect(0, 1);
    Oracles.run("e2fsck", "-fn", image).expect(0);
  }

  private static void fill(Path tree, int names) throws IOException {
    Path many = Files.createDirectories(tree.resolve("many"));
    Path deep = Files.createDirectories(tree.resolve("deep/er"));
    for (int i = 0; i < names; i++) {
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
      for (int i = 0; i < HOLES; i++) {
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
  private static void special(Path image, Path value, boolean large) throws IOException {
    Files.write(value, "v".repeat(300).getBytes(StandardCharsets.US_ASCII));
    List<String> commands = new ArrayList<>();
    commands.add("mknod /char c 1 3");
    commands.add("mknod /pipe p");
    commands.add("ea_set /one-block user.small value");
    commands.add("ea_set -f " + value + " /large user.big");
    commands.add("ea_set -f " + value + " /deep user.big");
    if (large) {
      Path largeValue = value.resolveSibling("large-value");
      Files.write(largeValue, new byte[LARGE_VALUE_BYTES]);
      commands.add("ea_set -f " + largeValue + " /large user.large");
      commands.add("ea_set -f " + largeValue + " /deep/er user.large");
    }
    Debugfs.write(image, commands);
  }
}
