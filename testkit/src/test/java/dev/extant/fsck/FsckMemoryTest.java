package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.FileDevice;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.Oracles;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A check takes a few bits a block that is in use and a few bytes an inode that is: it is run in a
/// process with a small heap.
class FsckMemoryTest {
  /// Less than the largest file that ext4 holds.
  private static final long HUGE_BYTES = (16L << 40) - (1 << 20);

  private static final int HUGE_HEAP_MIB = 160;
  private static final int MANY_INODES = 1 << 21;

  /// Ten bytes an inode, and 20 MiB for all the rest.
  private static final int MANY_HEAP_MIB = 40;

  private static final int OLD_INODE_SIZE = 128;

  @TempDir Path disk;

  @TempDir(factory = MemoryTempDir.class)
  Path memory;

  /// What runs in the other process: checks an image and exits like the command.
  public static void main(String[] arguments) throws IOException {
    try (FileDevice device = FileDevice.open(Path.of(arguments[0]), true)) {
      FsckOptions options = FsckOptions.defaults().withThreads(2);
      FsckReport report = Fsck.check(device, options, FsckProgress.NONE);
      System.out.println(report.errors() + " errors, " + report.counters());
      System.exit(report.exitCode());
    }
  }

  private static Oracles.Result check(Path image, int heapMebibytes) throws IOException {
    return Oracles.run(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx" + heapMebibytes + "m",
            "-cp",
            System.getProperty("java.class.path"),
            FsckMemoryTest.class.getName(),
            image.toString()),
        Map.of());
  }

  @Test
  void anImageOf16TebibytesIsChecked() throws IOException {
    Oracles.require("mke2fs");
    Path image = disk.resolve("huge.img");
    try (FileDevice device = FileDevice.create(image, HUGE_BYTES)) {
      assertThat(device.sizeBytes()).isEqualTo(HUGE_BYTES);
    }
    Oracles.run("mke2fs", "-q", "-F", "-t", "ext4", "-N", 1, "-J", "size=4", image).expect(0);
    Oracles.Result result = check(image, HUGE_HEAP_MIB).expect(FsckReport.CLEAN);
    assertThat(result.output()).startsWith("0 errors").contains("directories=2");
  }

  /// Inodes of a size that nobody has an entry for: each is in use, and in error.
  @Test
  void anImageOfMillionsOfInodesIsChecked() throws IOException {
    Oracles.require("mke2fs");
    Path image = memory.resolve("inodes.img");
    Oracles.run(
            "mke2fs",
            "-q",
            "-F",
            "-t",
            "ext2",
            "-b",
            4096,
            "-I",
            OLD_INODE_SIZE,
            "-N",
            MANY_INODES,
            image,
            "1G")
        .expect(0);
    int inodes = fillInodes(image);
    assertThat(inodes).isGreaterThan(MANY_INODES - 100);
    Oracles.Result result = check(image, MANY_HEAP_MIB);
    result.expect(FsckReport.ERRORS);
    int withResizeInode = inodes + 1;
    assertThat(result.output()).contains("regularFiles=" + withResizeInode);
  }

  /// Writes a regular file into every free inode; returns how many.
  private static int fillInodes(Path image) throws IOException {
    MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    int filled = 0;
    try (FileChannel channel =
        FileChannel.open(image, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.read(sb.asByteBuffer(), Superblock.OFFSET);
      var geometry = Superblock.geometry(sb, Files.size(image));
      int tableBytes = geometry.inodesPerGroup() * OLD_INODE_SIZE;
      for (int group = 0; group < geometry.groupCount(); group++) {
        MemorySegment descriptor = MemorySegment.ofArray(new byte[geometry.descriptorSizeBytes()]);
        long descriptorAt = 4096L + (long) group * geometry.descriptorSizeBytes();
        channel.read(descriptor.asByteBuffer(), descriptorAt);
        MemorySegment table = MemorySegment.ofArray(new byte[tableBytes]);
        long tableAt = GroupDescriptor.inodeTable(descriptor) * 4096;
        channel.read(table.asByteBuffer(), tableAt);
        for (int at = group == 0 ? 11 * OLD_INODE_SIZE : 0; at < tableBytes; at += OLD_INODE_SIZE) {
          Le.put16(table, at, 0x81A4);
          RawInode.linksCount(table.asSlice(at, OLD_INODE_SIZE), 1);
          filled++;
        }
        channel.write(table.asByteBuffer(), tableAt);
      }
    }
    return filled;
  }
}
