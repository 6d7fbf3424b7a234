package dev.extant.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.block.BlockDevice;
import dev.extant.block.DeviceException;
import dev.extant.block.FileDevice;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.KernelMount;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Mke2fs;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.MountOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A sparse image of 10 TiB, of 16 TiB in the long form: opening it takes little, and sizes and
/// block numbers beyond 31 and 32 bits are right.
class HugeImageTest {
  private static final long SIZE_BYTES = (LongRuns.WANTED ? 16L : 10L) << 40;
  private static final long MAX_OPEN_BYTES = 1 << 20;
  private static final long MAX_HEAP_BYTES = 32 << 20;
  private static final UUID SOME_UUID = UUID.fromString("10101010-1010-4010-8010-101010101010");
  private static final Instant TIME = Instant.parse("2025-01-01T00:00:00Z");

  /// Not every file system of a disk holds a file of 16 TiB.
  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private static final class CountingDevice extends DelegatingDevice {
    final AtomicLong bytesRead = new AtomicLong();

    CountingDevice(BlockDevice base) {
      super(base);
    }

    @Override
    public void read(long offset, MemorySegment target) throws DeviceException {
      bytesRead.addAndGet(target.byteSize());
      super.read(offset, target);
    }
  }

  private Path makeImage() throws IOException {
    Path image = folder.resolve("huge.img");
    Extant.mkfs(
        image,
        SIZE_BYTES,
        MkfsOptions.builder()
            .journalMebibytes(4)
            .uuid(SOME_UUID)
            .hashSeed(SOME_UUID)
            .time(TIME)
            .build());
    return image;
  }

  private static long usedHeapBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void opensWithLittleReadingAndMemory() throws IOException {
    Path image = makeImage();
    for (String options : List.of("ro", "rw")) {
      CountingDevice device = new CountingDevice(FileDevice.open(image, options.equals("ro")));
      long heapBefore = usedHeapBytes();
      long begin = System.nanoTime();
      try (Extant mount = Extant.open(device, MountOptions.parse(options))) {
        Path root = mount.fileSystem().getPath("/");
        try (var names = Files.list(root)) {
          assertThat(names.map(Path::toString)).containsExactly("/lost+found");
        }
        long seconds = (System.nanoTime() - begin) / 1_000_000_000;
        assertThat(device.bytesRead.get()).isLessThan(MAX_OPEN_BYTES);
        assertThat(usedHeapBytes() - heapBefore).isLessThan(MAX_HEAP_BYTES);
        assertThat(seconds).as("a bound for a loaded machine").isLessThan(10);
        if (options.equals("rw")) {
          Files.writeString(root.resolve("file"), "content");
        }
      }
    }
  }

  @Test
  void blockNumbersBeyond31BitsAreRight() throws IOException {
    LongRuns.timed("our mkfs of " + SIZE_BYTES, this::makeImage);
    writeFarAndCheck(folder.resolve("huge.img"));
  }

  @Test
  void theOneOfMke2fsIsWritten() throws IOException {
    Assumptions.assumeTrue(LongRuns.WANTED, "only in long runs");
    Path image = folder.resolve("huge.img");
    LongRuns.timed(
        "mke2fs of " + SIZE_BYTES,
        () -> Mke2fs.make(image, "-O 64bit -J size=4", (SIZE_BYTES >> 30) + "G"));
    writeFarAndCheck(image);
  }

  /// Directories below the root spread over all groups, and files follow their directories.
  private void writeFarAndCheck(Path image) throws IOException {
    int count = 48;
    MountOptions options = MountOptions.defaults().withClock(InstantSource.fixed(TIME));
    try (Extant mount = Extant.open(image, options)) {
      FileSystem fs = mount.fileSystem();
      for (int i = 0; i < count; i++) {
        Files.createDirectory(fs.getPath("/d" + i));
        Files.write(fs.getPath("/d" + i + "/file"), content(i));
      }
      writeSparse(fs.getPath("/sparse"));
    }
    long high = highBlocks(image, count);
    assertThat(high).as("blocks beyond 2^31").isGreaterThan(5);
    LongRuns.timed("both checks", () -> Oracles.run("e2fsck", "-fn", image).expect(0));
    if (Oracles.find("mount").isPresent() && "root".equals(System.getProperty("user.name"))) {
      try (KernelMount kernel = KernelMount.of(image, "rw")) {
        assertContents(kernel.root(), count);
        Files.createDirectory(kernel.root().resolve("by the kernel"));
      }
    }
    try (Extant mount = Extant.open(image, options)) {
      FileSystem fs = mount.fileSystem();
      assertContents(fs.getPath("/"), count);
      for (int i = 0; i < count; i++) {
        Files.delete(fs.getPath("/d" + i + "/file"));
        Files.delete(fs.getPath("/d" + i));
      }
      Files.delete(fs.getPath("/sparse"));
    }
  }

  /// How many blocks of the files have numbers that need more than 31 bits, by debugfs.
  private long highBlocks(Path image, int count) throws IOException {
    List<String> requests =
        IntStream.range(0, count).mapToObj(i -> "blocks /d" + i + "/file").toList();
    Path script = Files.write(folder.resolve("requests"), requests);
    String output = Oracles.run("debugfs", "-f", script, image).expect(0).output();
    return output
        .lines()
        .filter(line -> line.matches("[0-9 ]+"))
        .flatMap(line -> Arrays.stream(line.strip().split(" +")))
        .filter(block -> Long.parseLong(block) >= 1L << 31)
        .count();
  }

  private static byte[] content(int i) {
    byte[] bytes = new byte[20_000 + i];
    new Random(i).nextBytes(bytes);
    return bytes;
  }

  private static final long[] OFFSETS = {
    (1L << 31) - 5000,
    (1L << 32) - 5000,
    (1L << 32) + 100_000,
    (1L << 40) + 12_345,
    (1L << 44) - 60_000
  };

  private static void writeSparse(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long offset : OFFSETS) {
        ByteBuffer buffer = ByteBuffer.wrap(content((int) (offset >>> 30)));
        while (buffer.hasRemaining()) {
          channel.write(buffer, offset + buffer.position());
        }
      }
    }
  }

  private static void assertContents(Path root, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      assertThat(Files.readAllBytes(root.resolve("d" + i + "/file"))).isEqualTo(content(i));
    }
    try (FileChannel channel = FileChannel.open(root.resolve("sparse"))) {
      long last = OFFSETS[OFFSETS.length - 1];
      assertThat(channel.size()).isEqualTo(last + content((int) (last >>> 30)).length);
      for (long offset : OFFSETS) {
        byte[] expected = content((int) (offset >>> 30));
        ByteBuffer buffer = ByteBuffer.allocate(expected.length);
        while (buffer.hasRemaining()) {
          assertThat(channel.read(buffer, offset + buffer.position())).isPositive();
        }
        assertThat(buffer.array()).as("at %d", offset).isEqualTo(expected);
      }
    }
  }
}
