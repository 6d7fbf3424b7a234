package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Directories in images: those of mke2fs, e2fsck and the kernel read by us, and ours judged by
/// e2fsck and the kernel.
class DirectoriesImageTest {
  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "tune2fs");
  }

  /// An image with what directories need.
  private record Opened(AllocatorImage image, Directories directories) implements AutoCloseable {
    static Opened open(Path path) throws IOException {
      AllocatorImage image = AllocatorImage.open(path);
      ExtentTree tree =
          new ExtentTree(
              image.geometry, image.buffers, image.checksums, image.blocks, image.inodes);
      MemorySegment superblock = image.superblock.bytes();
      return new Opened(
          image,
          new Directories(
              image.buffers,
              tree,
              image.inodes,
              image.checksums,
              Superblock.features(superblock),
              hash(image),
              image.damages::add));
    }

    private static DirHash hash(AllocatorImage image) throws IOException {
      MemorySegment superblock = image.superblock.bytes();
      return new DirHash(
          Superblock.defaultHashVersion(superblock),
          Superblock.unsignedHash(superblock),
          Superblock.hashSeed(superblock));
    }

    /// A new inode without names.
    Inode create(Handle handle, Inode parent, int mode, int links) throws IOException {
      long ino = image.inodeAllocator.allocate(handle, parent, mode);
      MemorySegment raw = MemorySegment.ofArray(new byte[image.geometry.inodeSizeBytes()]);
      RawInode.mode(raw, mode);
      RawInode.linksCount(raw, links);
      RawInode.generation(raw, image.inodeAllocator.nextGeneration());
      if (image.geometry.inodeSizeBytes() > RawInode.GOOD_OLD_INODE_SIZE) {
        RawInode.extraIsize(raw, 32);
      }
      ExtentTree.initialise(raw);
      return image.inodes.create(handle, ino, raw);
    }

    /// A new directory below the root.
    Inode mkdir(String name) throws IOException {
      try (Inode root = image.inodes.get(2);
          Handle handle = image.journal.start(100)) {
        Inode dir = create(handle, root, 0x41ED, 2);
        directories.initialise(handle, dir, root.ino());
        directories.add(handle, root, FileName.of(name), dir.ino(), FileType.DIRECTORY);
        RawInode.linksCount(root.raw, RawInode.linksCount(root.raw) + 1);
        image.inodes.update(handle, root, false);
        return dir;
      }
    }

    Inode inode(String... path) throws IOException {
      long ino = 2;
      for (String name : path) {
        try (Inode dir = image.inodes.get(ino)) {
          ino = directories.lookup(dir, FileName.of(name)).ino();
        }
      }
      return image.inodes.get(ino);
    }

    Map<FileName, Long> list(Inode dir, int batch) throws IOException {
      Map<FileName, Long> found = new TreeMap<>();
      long[] cookie = {0};
      boolean[] more = {true};
      while (more[0]) {
        more[0] = false;
        int[] left = {batch};
        directories.read(
            dir,
            cookie[0],
            (name, ino, type, next) -> {
              assertThat(type).isNotNull();
              assertThat(found.put(name, ino)).as("listed twice: %s", name).isNull();
              cookie[0] = next;
              more[0] = true;
              return --left[0] > 0;
            });
      }
      assertThat(found.remove(FileName.of("."))).isEqualTo(dir.ino());
      assertThat(found.remove(FileName.of(".."))).isEqualTo(2);
      return found;
    }

    @Override
    public void close() throws IOException {
      image.close();
    }
  }

  private static FileName randomName(Random random) {
    byte[] name = new byte[random.nextInt(8) == 0 ? 1 + random.nextInt(255) : 8];
    for (int i = 0; i < name.length; i++) {
      do {
        name[i] = (byte) random.nextInt(256);
      } while (name[i] == 0 || name[i] == '/' || name[i] == '.');
    }
    return FileName.of(name);
  }

  @ParameterizedTest
  @CsvSource({
    "-b 1024, half_md4, 16000",
    "-b 1024 -O ^metadata_csum, tea, 9000",
    "-b 2048, legacy, 9000",
    "-b 4096, half_md4, 30000",
    "-b 4096 -O ^metadata_csum, legacy, 20000",
    "-b 4096, tea, 3000",
    "-b 1024 -O ^dir_index, half_md4, 800",
    "-b 4096 -I 128 -O ^dir_index, half_md4, 2000"
  })
  void whatWeMakeIsSound(String options, String hash, int count) throws Exception {
    long seed = 5L * count;
    Random random = new Random(seed);
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "64M", "-t ext4 " + options);
    Oracles.run("tune2fs", "-E", "hash_alg=" + hash, path).expect(0);
    Map<FileName, Long> expected = new TreeMap<>();
    try (Opened fs = Opened.open(path);
        Inode dir = fs.mkdir("many");
        Inode file = newFile(fs, dir)) {
      List<FileName> names = new ArrayList<>();
      while (names.size() < count) {
        FileName name = randomName(random);
        if (expected.put(name, file.ino()) == null) {
          names.add(name);
          add(fs, dir, name, file);
        }
      }
      setLinks(fs, file, count);
      fs.image().journal.checkpoint();
      assertSound(path, seed);
      for (FileName name : names.subList(0, count / 3)) {
        expected.remove(name);
        try (Handle handle = fs.image().journal.start(200)) {
          fs.directories().remove(handle, dir, name);
        }
      }
      setLinks(fs, file, expected.size());
      assertThat(fs.image().damages).isEmpty();
    }
    AllocatorImage.fsck(path).expect(0);
    try (Opened fs = Opened.open(path);
        Inode dir = fs.inode("many")) {
      assertThat(fs.list(dir, 100)).as("seed %d", seed).isEqualTo(expected);
      assertThat(dir.hasFlag(RawInode.EXT4_INDEX_FL)).isEqualTo(!options.contains("^dir_index"));
    }
  }

  @ParameterizedTest
  @CsvSource({"-b 1024, 255", "-b 1024 -O ^metadata_csum, 250", "-b 1024, 30", "-b 4096, 200"})
  void keepsNamesWithEqualHashes(String options, int length) throws Exception {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "16M", "-t ext4 " + options);
    Oracles.run("tune2fs", "-E", "hash_alg=legacy", path).expect(0);
    Map<FileName, Long> expected = new TreeMap<>();
    try (Opened fs = Opened.open(path);
        Inode dir = fs.mkdir("many");
        Inode file = newFile(fs, dir)) {
      for (FileName name : LegacyCollisions.names(Opened.hash(fs.image()), length, 24)) {
        add(fs, dir, name, file);
        expected.put(name, file.ino());
        for (int i = 0; i < 10; i++) {
          FileName other = FileName.of("other-" + expected.size());
          add(fs, dir, other, file);
          expected.put(other, file.ino());
        }
      }
      setLinks(fs, file, expected.size());
      assertThat(dir.hasFlag(RawInode.EXT4_INDEX_FL)).isTrue();
    }
    AllocatorImage.fsck(path).expect(0);
    try (Opened fs = Opened.open(path);
        Inode dir = fs.inode("many")) {
      assertThat(fs.list(dir, 1)).isEqualTo(expected);
      assertThat(fs.list(dir, 1000)).isEqualTo(expected);
      for (FileName name : expected.keySet()) {
        assertThat(fs.directories().lookup(dir, name)).as("%s", name).isNotNull();
        try (Handle handle = fs.image().journal.start(10)) {
          fs.directories().remove(handle, dir, name);
        }
        assertThat(fs.directories().lookup(dir, name)).isNull();
      }
      assertThat(fs.directories().isEmpty(dir)).isTrue();
    }
  }

  private static void add(Opened fs, Inode dir, FileName name, Inode file) throws IOException {
    try (Handle handle = fs.image().journal.start(200)) {
      fs.directories().add(handle, dir, name, file.ino(), FileType.REGULAR);
    }
  }

  /// A file that has no name yet.
  private static Inode newFile(Opened fs, Inode dir) throws IOException {
    try (Handle handle = fs.image().journal.start(8)) {
      return fs.create(handle, dir, 0x81A4, 1);
    }
  }

  private static void setLinks(Opened fs, Inode inode, int links) throws IOException {
    try (Handle handle = fs.image().journal.start(1)) {
      RawInode.linksCount(inode.raw, links);
      fs.image().inodes.update(handle, inode, false);
    }
  }

  /// Looks at the directories while the image is open: the superblock's counts may be behind, and
  /// our own check, which "-fn" would bring along, cannot open it.
  private static void assertSound(Path path, long seed) throws IOException {
    String output = Oracles.run("e2fsck", "-f", "-n", path).output();
    assertThat(output).as("seed %d", seed).doesNotContain("HTREE", "htree", "irectory inode");
  }

  @ParameterizedTest
  @CsvSource({"-b 1024, half_md4", "-b 4096 -O ^metadata_csum, tea", "-b 2048, legacy"})
  void readsWhatE2fsckIndexed(String options, String hash) throws Exception {
    Path source = Files.createDirectories(folder.resolve("source"));
    TreeSet<String> names = new TreeSet<>();
    Path many = Files.createDirectory(source.resolve("many"));
    for (int i = 0; i < 1000; i++) {
      String name = "name-" + i * 7919L + "x".repeat(i % 40);
      Files.createFile(many.resolve(name));
      names.add(name);
    }
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 " + options + " -d " + source);
    for (boolean indexed : new boolean[] {false, true}) {
      if (indexed) {
        Oracles.run("tune2fs", "-E", "hash_alg=" + hash, path).expect(0);
        Oracles.run("e2fsck", "-fyD", path).expect(0, 1);
      }
      assertNames(path, names, indexed);
    }
  }

  private static void assertNames(Path path, TreeSet<String> names, boolean indexed)
      throws IOException {
    try (Opened fs = Opened.open(path);
        Inode dir = fs.inode("many")) {
      assertThat(dir.hasFlag(RawInode.EXT4_INDEX_FL)).isEqualTo(indexed);
      Map<FileName, Long> found = fs.list(dir, 77);
      assertThat(found.keySet()).hasSameSizeAs(names);
      for (String name : names) {
        DirectoryEntry entry = fs.directories().lookup(dir, FileName.of(name));
        assertThat(entry).as(name).isNotNull();
        assertThat(found.get(FileName.of(name))).isEqualTo(entry.ino());
      }
      assertThat(fs.directories().lookup(dir, FileName.of("absent"))).isNull();
      assertThat(fs.image().damages).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"-b 1024, 12000", "-b 4096 -O ^metadata_csum, 5000", "-b 4096, 5000"})
  void agreesWithTheKernel(String options, int count) throws Exception {
    Oracles.requireRoot();
    Path path = folder.resolve("image");
    Path mountPoint = Files.createDirectory(folder.resolve("mnt"));
    AllocatorImage.make(path, "64M", "-t ext4 " + options);
    Oracles.run("mount", "-o", "loop", path, mountPoint).expect(0);
    TreeSet<String> names = new TreeSet<>();
    try {
      Path many = Files.createDirectory(mountPoint.resolve("many"));
      Path first = Files.createFile(many.resolve("first"));
      names.add("first");
      for (int i = 0; i < count; i++) {
        String name = "name-" + i * 7919L + "é".repeat(i % 20);
        Files.createLink(many.resolve(name), first);
        names.add(name);
      }
    } finally {
      Oracles.run("umount", mountPoint).expect(0);
    }
    assertNames(path, names, true);
    changeHalf(path, names);
    AllocatorImage.fsck(path).expect(0);
    Oracles.run("mount", "-o", "loop,ro", path, mountPoint).expect(0);
    try {
      Path many = mountPoint.resolve("many");
      String[] listed = many.toFile().list();
      assertThat(new TreeSet<>(Arrays.asList(listed))).isEqualTo(names);
      for (String name : names) {
        assertThat(Files.exists(many.resolve(name))).as(name).isTrue();
      }
    } finally {
      Oracles.run("umount", mountPoint).expect(0);
    }
  }

  /// Removes every second name and adds as many others.
  private static void changeHalf(Path path, TreeSet<String> names) throws IOException {
    try (Opened fs = Opened.open(path);
        Inode dir = fs.inode("many");
        Inode file = fs.inode("many", "first")) {
      int i = 0;
      for (String name : List.copyOf(names)) {
        if (!name.equals("first") && i++ % 2 == 0) {
          String other = "other-" + i + "-" + name;
          try (Handle handle = fs.image().journal.start(200)) {
            fs.directories().remove(handle, dir, FileName.of(name));
            fs.directories().add(handle, dir, FileName.of(other), file.ino(), FileType.REGULAR);
          }
          names.remove(name);
          names.add(other);
        }
      }
    }
  }
}
