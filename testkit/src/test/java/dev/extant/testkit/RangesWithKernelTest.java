package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.Extant;
import dev.extant.vfs.AllocateMode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The same changes of ranges, writes and truncations by us on one image and by the kernel on
/// another: the same answers, and the same files, whoever reads them.
///
/// `extant.operations` makes it longer, `extant.seed` another one.
class RangesWithKernelTest {
  private static final int OPERATIONS = Integer.getInteger("extant.operations", 90);
  private static final int FILES = 3;
  private static final int MOST_BYTES = 200_000;

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.requireRoot();
    Oracles.require("mke2fs", "e2fsck", "fallocate", "xfs_io");
  }

  @ParameterizedTest
  @CsvSource({
    "-b 1024, defaults, 1024, 1",
    "-b 4096, defaults, 4096, 2",
    "-b 2048 -O ^metadata_csum, data=writeback, 2048, 3",
    "-b 1024, data=journal, 1024, 4",
    "-b 4096 -O bigalloc -C 16384, defaults, 16384, 5",
    "-b 1024 -O bigalloc -C 8192, defaults, 8192, 6",
    "-b 1024 -O ^extent;^64bit;^metadata_csum;^has_journal, defaults, 1024, 7",
    "-b 4096 -O ^extent;^64bit;^metadata_csum, defaults, 4096, 8",
    "-b 1024 -I 1024 -O inline_data, defaults, 1024, 9",
  })
  void makeTheSameFiles(String options, String mountOptions, int unitBytes, long defaultSeed)
      throws IOException {
    String mke2fs = options.replace(';', ',');
    Path ours = Mke2fs.make(folder.resolve("ours"), mke2fs, "32M");
    Path kernels = Mke2fs.make(folder.resolve("kernels"), mke2fs, "32M");
    SplittableRandom random = new SplittableRandom(Seeds.fixed(defaultSeed));
    List<byte[]> contents;
    List<List<Long>> extents;
    try (KernelMount kernel = KernelMount.of(kernels, mountOptions);
        Extant mount = Extant.open(ours, MountOptions.parse(mountOptions));
        Node root = mount.volume().root()) {
      Twins twins = new Twins(mount.volume(), root, kernel.root(), unitBytes);
      twins.run(random);
      mount.volume().sync();
      contents = twins.contents();
      extents = twins.extents();
    }
    Oracles.run("e2fsck", "-fn", ours).expect(0);
    Oracles.run("e2fsck", "-fn", kernels).expect(0);
    try (KernelMount kernel = KernelMount.of(ours, "ro")) {
      for (int i = 0; i < FILES; i++) {
        Path file = kernel.root().resolve("file" + i);
        // First, since pages in memory count as data where blocks are unwritten.
        assertThat(extentsByKernel(file))
            .as("data and holes of %s", file)
            .isEqualTo(extents.get(i));
        assertThat(Files.readAllBytes(file))
            .as("%s read by the kernel", file)
            .isEqualTo(contents.get(i));
      }
    }
    try (Extant mount = Extant.open(kernels, MountOptions.parse("ro"))) {
      for (int i = 0; i < FILES; i++) {
        Path file = mount.fileSystem().getPath("/file" + i);
        assertThat(Files.readAllBytes(file))
            .as("%s of the kernel", file)
            .isEqualTo(contents.get(i));
      }
    }
  }

  /// Where data and holes begin, in turns.
  private static List<Long> extentsByKernel(Path file) throws IOException {
    List<Long> bounds = new ArrayList<>();
    String answer = Oracles.run("xfs_io", "-r", "-c", "seek -a -r 0", file).expect(0).output();
    answer
        .lines()
        .skip(1)
        .map(line -> line.split("\\s+"))
        .filter(words -> !words[1].equals("EOF"))
        .forEach(
            words -> bounds.add(("DATA".equals(words[0]) ? 1 : -1) * Long.parseLong(words[1])));
    return bounds;
  }

  /// One directory of ours and one of the kernel's, with the same files.
  private record Twins(Volume volume, Node root, Path directory, int unitBytes) {
    void run(SplittableRandom random) throws IOException {
      for (int i = 0; i < FILES; i++) {
        volume.create(root, FileName.of("file" + i), new NewFile(0644, 0, 0)).close();
        Files.createFile(directory.resolve("file" + i));
      }
      for (int step = 0; step < OPERATIONS; step++) {
        int nr = random.nextInt(FILES);
        Path file = directory.resolve("file" + nr);
        try (Node node = volume.lookup(root, FileName.of("file" + nr))) {
          String what = "step " + step + ", " + change(random, node, file);
          assertThat(bytes(node)).as(what).isEqualTo(Files.readAllBytes(file));
        }
      }
    }

    private String change(SplittableRandom random, Node node, Path file) throws IOException {
      int size = (int) Files.size(file);
      return switch (random.nextInt(8)) {
        case 0, 1 -> write(random, node, file, random.nextInt(Math.min(size, MOST_BYTES) + 1));
        case 2 -> write(random, node, file, size + random.nextInt(20_000));
        case 3 ->
            truncate(node, file, random.nextInt(random.nextBoolean() ? size + 1 : MOST_BYTES));
        default -> allocate(random, node, file, size);
      };
    }

    private String write(SplittableRandom random, Node node, Path file, int offset)
        throws IOException {
      byte[] bytes = new byte[1 + random.nextInt(random.nextInt(4) == 0 ? 40_000 : 5_000)];
      random.nextBytes(bytes);
      assertThat(volume.write(node, offset, MemorySegment.ofArray(bytes))).isEqualTo(bytes.length);
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.wrap(bytes), offset);
      }
      return "write of " + bytes.length + " at " + offset;
    }

    private String truncate(Node node, Path file, int sizeBytes) throws IOException {
      volume.truncate(node, sizeBytes);
      Oracles.run("truncate", "-s", sizeBytes, file).expect(0);
      return "truncate to " + sizeBytes;
    }

    private String allocate(SplittableRandom random, Node node, Path file, int size)
        throws IOException {
      RandomRange any = RandomRange.of(random, size, 50_000);
      boolean whole = RandomRange.moves(any.mode()) && random.nextInt(6) > 0;
      long offset = whole ? any.offset() / unitBytes * unitBytes : any.offset();
      long length =
          whole ? Math.max(1, any.lengthBytes() / unitBytes) * unitBytes : any.lengthBytes();
      RandomRange range = new RandomRange(any.mode(), offset, length);
      Errno ours = null;
      try {
        volume.allocate(node, range.mode(), offset, length);
      } catch (FsException e) {
        ours = e.errno();
      }
      assertThat(ours).as("%s of a file of %s bytes", range, size).isEqualTo(byKernel(file, range));
      return range.toString();
    }

    private static Errno byKernel(Path file, RandomRange range) throws IOException {
      List<Object> arguments = new ArrayList<>(options(range.mode()));
      arguments.addAll(List.of("-o", range.offset(), "-l", range.lengthBytes(), file));
      Oracles.Result result = Oracles.run("fallocate", arguments.toArray());
      if (result.exitCode() == 0) {
        return null;
      }
      String reason = result.output().strip();
      if (reason.endsWith("Invalid argument")) {
        return Errno.EINVAL;
      }
      // fallocate(1) has words of its own for one errno.
      if (reason.endsWith("not supported") || reason.contains("unsupported")) {
        return Errno.EOPNOTSUPP;
      }
      throw new AssertionError(range + ": " + reason);
    }

    private static List<String> options(AllocateMode mode) {
      return switch (mode) {
        case ALLOCATE -> List.of();
        case ALLOCATE_KEEP_SIZE -> List.of("-n");
        case PUNCH_HOLE -> List.of("-p");
        case ZERO_RANGE -> List.of("-z");
        case ZERO_RANGE_KEEP_SIZE -> List.of("-z", "-n");
        case COLLAPSE_RANGE -> List.of("-c");
        case INSERT_RANGE -> List.of("-i");
      };
    }

    private byte[] bytes(Node node) throws FsException {
      byte[] bytes = new byte[(int) volume.attributes(node).sizeBytes()];
      int done = 0;
      while (done < bytes.length) {
        int read = volume.read(node, done, MemorySegment.ofArray(bytes).asSlice(done));
        assertThat(read).isPositive();
        done += read;
      }
      return bytes;
    }

    List<byte[]> contents() throws FsException {
      List<byte[]> all = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        try (Node node = volume.lookup(root, FileName.of("file" + i))) {
          all.add(bytes(node));
        }
      }
      return all;
    }

    /// As [#extentsByKernel].
    List<List<Long>> extents() throws FsException {
      List<List<Long>> all = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        try (Node node = volume.lookup(root, FileName.of("file" + i))) {
          List<Long> bounds = new ArrayList<>();
          long size = volume.attributes(node).sizeBytes();
          boolean data = volume.seekData(node, 0) == 0;
          for (long at = 0; at >= 0 && at < size; data = !data) {
            bounds.add(data ? at : -at);
            at = data ? volume.seekHole(node, at) : volume.seekData(node, at);
          }
          if (!data) {
            bounds.add(-size);
          }
          all.add(bounds);
        }
      }
      return all;
    }
  }
}
