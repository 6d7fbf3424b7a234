package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Files and directories in their inodes, in images that mke2fs, the kernel and we change in turn;
/// e2fsck has the last word.
class InlineDataImageTest {
  private static final int MAX_DIRECTORIES = 12;

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  /// Random changes to small files and directories: the same seed does the same everywhere.
  private static final class Changes {
    private final Path root;
    private final int sizes;
    private final SplittableRandom random;
    private final List<String> files = new ArrayList<>();
    private final List<String> directories = new ArrayList<>(List.of("."));
    private int serial;

    /// Files are a bit larger than `sizes` at most.
    Changes(Path root, int sizes, long seed) {
      this.root = root;
      this.sizes = sizes;
      this.random = new SplittableRandom(seed);
    }

    /// The same changes go on somewhere else.
    Changes(Path root, Changes before, long seed) {
      this(root, before.sizes, seed);
      files.addAll(before.files);
      directories.clear();
      directories.addAll(before.directories);
      serial = before.serial;
    }

    Changes run(int steps) throws IOException {
      for (int i = 0; i < steps; i++) {
        step();
      }
      return this;
    }

    private void step() throws IOException {
      switch (random.nextInt(12)) {
        case 0, 1, 2 -> create();
        case 3, 4 -> write();
        case 5 -> truncate();
        case 6 -> remove();
        case 7 -> rename();
        case 8, 9 -> mkdir();
        case 10 -> rmdir();
        default -> {
          String link = newName();
          Path target = root.getFileSystem().getPath("t".repeat(1 + random.nextInt(sizes)));
          Files.createSymbolicLink(path(link), target);
        }
      }
    }

    private Path path(String name) {
      return root.resolve(name);
    }

    private String any(List<String> names) {
      return names.get(random.nextInt(names.size()));
    }

    private String newName() {
      String name = serial++ + "x".repeat(random.nextInt(8) == 0 ? 100 : random.nextInt(12));
      return any(directories) + "/" + name;
    }

    private byte[] bytes() {
      byte[] bytes = new byte[random.nextInt(sizes)];
      random.nextBytes(bytes);
      return bytes;
    }

    private void create() throws IOException {
      String name = newName();
      files.add(name);
      Files.write(path(name), bytes());
    }

    private void write() throws IOException {
      if (files.isEmpty()) {
        return;
      }
      String name = any(files);
      try (FileChannel channel = FileChannel.open(path(name), StandardOpenOption.WRITE)) {
        long size = channel.size();
        long offset = random.nextInt(3) == 0 ? size : random.nextLong(size + 20);
        byte[] bytes = bytes();
        channel.write(ByteBuffer.wrap(bytes, 0, bytes.length / 2), offset);
      }
    }

    private void truncate() throws IOException {
      if (files.isEmpty()) {
        return;
      }
      try (FileChannel channel = FileChannel.open(path(any(files)), StandardOpenOption.WRITE)) {
        channel.truncate(random.nextInt(4) == 0 ? 0 : random.nextLong(channel.size() + 1));
      }
    }

    private void remove() throws IOException {
      if (!files.isEmpty()) {
        Files.delete(path(files.remove(random.nextInt(files.size()))));
      }
    }

    private void rename() throws IOException {
      if (files.isEmpty()) {
        return;
      }
      int index = random.nextInt(files.size());
      String to = newName();
      Files.move(path(files.get(index)), path(to), StandardCopyOption.ATOMIC_MOVE);
      files.set(index, to);
    }

    private void mkdir() throws IOException {
      if (directories.size() < MAX_DIRECTORIES) {
        String name = newName();
        Files.createDirectory(path(name));
        directories.add(name);
      }
    }

    private void rmdir() throws IOException {
      String victim = any(directories);
      if (!victim.equals(".") && isEmpty(victim)) {
        Files.delete(path(victim));
        directories.remove(victim);
      } else if (!victim.equals(".") && directories.stream().noneMatch(this::isAbove)) {
        move(victim);
      }
    }

    private boolean isAbove(String directory) {
      return directories.stream().anyMatch(other -> other.startsWith(directory + "/"));
    }

    private void move(String from) throws IOException {
      String to = "./moved" + serial++;
      Files.move(path(from), path(to), StandardCopyOption.ATOMIC_MOVE);
      files.replaceAll(name -> moved(name, from, to));
      directories.replaceAll(name -> name.equals(from) ? to : moved(name, from, to));
    }

    private static String moved(String name, String from, String to) {
      return name.startsWith(from + "/") ? to + name.substring(from.length()) : name;
    }

    private boolean isEmpty(String directory) throws IOException {
      try (Stream<Path> entries = Files.list(path(directory))) {
        return entries.findAny().isEmpty();
      }
    }
  }

  /// All paths with what is there.
  private static Map<String, String> describe(Path root) throws IOException {
    Map<String, String> found = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        String name = root.relativize(path).toString();
        if (name.startsWith("lost+found")) {
          continue;
        }
        if (Files.isSymbolicLink(path)) {
          found.put(name, "-> " + Files.readSymbolicLink(path));
        } else if (Files.isDirectory(path)) {
          found.put(name, "directory");
        } else {
          found.put(name, HexFormat.of().formatHex(Files.readAllBytes(path)));
        }
      }
    }
    return found;
  }

  private Path make(int blockSize, int inodeSize, String features, Path tree) throws IOException {
    String options =
        "-b " + blockSize + " -I " + inodeSize + " -O inline_data," + features + " -d " + tree;
    return Mke2fs.make(folder.resolve("fs.img"), options, "32M");
  }

  private static void e2fsck(Path image) throws IOException {
    BothChecks.pass(image);
  }

  @ParameterizedTest
  @CsvSource({
    "4096, 256, extent",
    "1024, 256, '^dir_index,^metadata_csum'",
    "1024, 1024, extent",
    "2048, 512, '^has_journal,^filetype'",
    "1024, 256, '^extent,^64bit'",
  })
  void everybodyGoesOnWithIt(int blockSize, int inodeSize, String features) throws IOException {
    long seed = Seeds.fixed(blockSize + inodeSize);
    Path model = Files.createDirectory(folder.resolve("model"));
    int sizes = inodeSize * 3 / 4;
    Changes changes = new Changes(model, sizes, seed).run(120);
    Path image = make(blockSize, inodeSize, features, model);
    Files.createDirectory(model.resolve("lost+found"));
    for (int round = 0; round < 3; round++) {
      try (Extant mount = Extant.open(image, MountOptions.defaults())) {
        Path root = mount.fileSystem().getPath("/");
        assertThat(describe(root)).as("round %d", round).isEqualTo(describe(model));
        new Changes(root, changes, seed + round).run(150);
        changes = new Changes(model, changes, seed + round).run(150);
        assertThat(describe(root)).isEqualTo(describe(model));
      }
      e2fsck(image);
      try (KernelMount kernel = KernelMount.of(image, "noatime")) {
        assertThat(describe(kernel.root())).isEqualTo(describe(model));
        new Changes(kernel.root(), changes, -seed - round).run(150);
        changes = new Changes(model, changes, -seed - round).run(150);
        assertThat(describe(kernel.root())).isEqualTo(describe(model));
      }
      e2fsck(image);
    }
  }
}
