package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.cache.PageCache;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.journal.Handle;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions.DataMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The content of files on images made by mke2fs, judged by e2fsck and read back by debugfs.
class FileDataImageTest {
  private static final int FILES = 4;
  private static final Pattern INODE = Pattern.compile("Inode: (\\d+)");

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  private Path image() {
    return folder.resolve("image");
  }

  private String debugfs(String request) throws IOException {
    return Oracles.run("debugfs", "-w", "-R", request, image()).expect(0).output();
  }

  private byte[] readByDebugfs(String name) throws IOException {
    Path copy = folder.resolve("copy");
    debugfs("dump " + name + " " + copy);
    return Files.readAllBytes(copy);
  }

  private long inodeNumber(String name) throws IOException {
    Matcher matcher = INODE.matcher(debugfs("stat " + name));
    assertThat(matcher.find()).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  private static FileData files(AllocatorImage image, PageCache pages) {
    FileData.Orphans orphans =
        new FileData.Orphans() {
          @Override
          public void add(Handle handle, Inode inode) {}

          @Override
          public void remove(Handle handle, Inode inode) {}
        };
    ExtentTree tree =
        new ExtentTree(image.geometry, image.buffers, image.checksums, image.blocks, image.inodes);
    InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(1_800_000_000L));
    FileData.Policy policy =
        new FileData.Policy(DataMode.ORDERED, clock, image.blocks::freesPending);
    return new FileData(
        image.journal,
        pages,
        image.buffers,
        tree,
        image.inodes,
        orphans,
        policy,
        Features.of(Feature.EXTENT));
  }

  @ParameterizedTest
  @CsvSource({
    "1, -t ext4 -b 1024",
    "2, -t ext4 -b 2048 -O ^metadata_csum",
    "3, -t ext4 -b 4096",
    "4, -t ext4 -b 1024 -I 128 -O ^64bit",
    "5, -t ext4 -b 4096 -O ^has_journal"
  })
  void randomChangesKeepTheImageClean(long seed, String options) throws IOException {
    Random random = new Random(seed);
    byte[][] models = makeImage(options, random);
    debugfs("fallocate /f1 100 400");
    long[] numbers = new long[FILES];
    for (int i = 0; i < FILES; i++) {
      numbers[i] = inodeNumber("/f" + i);
    }
    try (AllocatorImage image = AllocatorImage.open(image());
        PageCache pages = new PageCache(image.queue, image.geometry.blockSizeBytes(), 256 << 10)) {
      FileData files = files(image, pages);
      Inode[] inodes = new Inode[FILES];
      for (int i = 0; i < FILES; i++) {
        inodes[i] = image.inodes.get(numbers[i]);
      }
      for (int step = 0; step < 800; step++) {
        int i = random.nextInt(FILES);
        models[i] = change(files, inodes[i], models[i], random, step);
      }
      int depth = ExtentHeader.depth(ExtentNodes.root(inodes[0].raw));
      assertThat(depth).as("seed %d: depth", seed).isPositive();
      files.writebackAll();
      for (Inode inode : inodes) {
        inode.close();
      }
    }
    AllocatorImage.fsck(image()).expect(0);
    for (int i = 0; i < FILES; i++) {
      assertThat(Arrays.equals(readByDebugfs("/f" + i), models[i]))
          .as("seed %d: file %d", seed, i)
          .isTrue();
    }
  }

  private byte[][] makeImage(String options, Random random) throws IOException {
    Path source = Files.createDirectory(folder.resolve("source"));
    byte[][] models = new byte[FILES][];
    for (int i = 0; i < FILES; i++) {
      models[i] = new byte[random.nextInt(50_000)];
      random.nextBytes(models[i]);
      Files.write(source.resolve("f" + i), models[i]);
    }
    AllocatorImage.make(image(), "64M", options + " -d " + source);
    return models;
  }

  private static byte[] change(FileData files, Inode inode, byte[] model, Random random, int step)
      throws IOException {
    int offset = random.nextInt(6_000_000);
    int kind = random.nextInt(100);
    if (kind < 2) {
      files.truncate(inode, offset);
      return Arrays.copyOf(model, offset);
    }
    if (kind < 10) {
      byte[] target = new byte[20_000];
      int read = files.read(inode, offset, MemorySegment.ofArray(target));
      int from = Math.min(offset, model.length);
      assertThat(Arrays.equals(target, 0, read, model, from, from + read))
          .as("step %d", step)
          .isTrue();
      return model;
    }
    byte[] source = new byte[1 + random.nextInt(random.nextBoolean() ? 500 : 20_000)];
    random.nextBytes(source);
    files.write(inode, offset, MemorySegment.ofArray(source));
    byte[] longer = Arrays.copyOf(model, Math.max(model.length, offset + source.length));
    System.arraycopy(source, 0, longer, offset, source.length);
    return longer;
  }
}
