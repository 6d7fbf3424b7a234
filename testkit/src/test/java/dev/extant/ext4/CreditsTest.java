package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.RamDevice;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.Images;
import dev.extant.testkit.Oracles;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// No operation changes more metadata blocks than it has asked credits for, also where it meets the
/// most expensive case: splits of extent trees and directory indexes, groups never used before, the
/// orphan file and the list.
class CreditsTest {
  private static final NewFile OWNER = new NewFile(0755, 0, 0);
  private static final byte[] TARGET = "t".repeat(200).getBytes(StandardCharsets.US_ASCII);

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "1024, 48, 1, orphan_file, defaults",
    "1024, 48, 1, ^orphan_file, defaults",
    "1024, 48, 4, '^metadata_csum,^64bit', 'data=journal'",
    "2048, 48, 4, '^flex_bg', defaults",
    "4096, 136, 8, orphan_file, 'data=journal'",
    "1024, 48, 1, 'inline_data,large_dir', defaults",
    "4096, 136, 4, 'inline_data,^dir_index', 'data=journal'",
    "4096, 136, 4, '^dir_index', defaults",
    "1024, 48, 1, '^extent,^64bit', defaults",
    "1024, 48, 4, '^extent,^64bit,^metadata_csum,^flex_bg', 'data=journal'",
    "4096, 136, 4, '^extent,^64bit,^dir_index', defaults"
  })
  void suffice(int blockSize, int mebibytes, int journal, String features, String mountOptions)
      throws Exception {
    try (RamDevice device = new RamDevice("ram", (long) mebibytes << 20)) {
      MkfsOptions.Builder options =
          MkfsOptions.builder()
              .blockSizeBytes(blockSize)
              .journalMebibytes(journal)
              .inodesCount(16_384)
              .reservedPercent(0)
              .features(features);
      Mkfs.make(device, options.build());
      try (Ext4Volume volume =
          Ext4.mount(DelegatingDevice.withoutClose(device), MountOptions.parse(mountOptions))) {
        new Work(volume, blockSize).run();
        volume.sync();
        assertThat(volume.journalStatistics().overdrafts()).isZero();
      }
      Path image = folder.resolve("image");
      Images.copy(device, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }

  private record Work(Ext4Volume volume, int blockSize) {
    void run() throws FsException {
      try (Node root = volume.root()) {
        fragmentedFiles(root);
        largeDirectory(root);
        manyDirectories(root);
        fullDisk(root);
      }
    }

    /// Extent trees of two or three levels, whose every second block is a hole.
    private void fragmentedFiles(Node root) throws FsException {
      FileName name = FileName.of("fragmented");
      for (int round = 0; round < 2; round++) {
        try (Node file = volume.create(root, name, OWNER)) {
          MemorySegment block = MemorySegment.ofArray(new byte[blockSize]);
          for (long i = 2400; i > 0; i--) {
            volume.write(file, i * 2 * blockSize, block);
          }
          for (long i = 0; i < 4800; i += 7) {
            volume.write(file, i * blockSize, block);
          }
          volume.truncate(file, 2001L * blockSize + 1);
          volume.unlink(root, name);
        }
      }
    }

    /// An index with splits, of one level or two, filled and emptied; what is removed stays open.
    private void largeDirectory(Node root) throws FsException {
      FileName large = FileName.of("large");
      try (Node directory = volume.mkdir(root, large, OWNER);
          Node other = volume.mkdir(root, FileName.of("other"), OWNER)) {
        int count = 2100;
        for (int i = 0; i < count; i++) {
          volume.create(directory, name(i), OWNER).close();
        }
        for (int i = 0; i < count; i += 3) {
          volume.rename(directory, name(i), other, name(i), RenameMode.REPLACE);
        }
        for (int i = 1; i < count; i += 3) {
          volume.rename(directory, name(i), other, name(i - 1), RenameMode.REPLACE);
        }
        for (int i = 2; i < count; i += 3) {
          try (Node file = volume.lookup(directory, name(i))) {
            volume.link(file, other, name(i));
            volume.unlink(directory, name(i));
            volume.unlink(other, name(i));
          }
        }
        volume.rmdir(root, large);
      }
    }

    private static FileName name(int number) {
      return FileName.of(number + "-".repeat(number % 200));
    }

    /// Inodes and first blocks in groups that nobody used before.
    private void manyDirectories(Node root) throws FsException {
      for (int i = 0; i < 200; i++) {
        FileName name = FileName.of("directory-" + i);
        try (Node directory = volume.mkdir(root, name, OWNER);
            Node file = volume.create(directory, name, OWNER);
            Node link = volume.symlink(directory, FileName.of("l"), TARGET, OWNER)) {
          volume.append(file, MemorySegment.ofArray(new byte[10]));
          assertThat(volume.readlink(link)).isEqualTo(TARGET);
        }
      }
    }

    private void fullDisk(Node root) throws FsException {
      try (Node file = volume.create(root, FileName.of("full"), OWNER)) {
        MemorySegment much = MemorySegment.ofArray(new byte[1 << 20]);
        int written = 1;
        for (long at = 0; written > 0; at += written) {
          written = writeOrNothing(file, at, much);
        }
        for (int i = 0; i < 50; i++) {
          try {
            volume.mkdir(root, FileName.of("no-room-" + "x".repeat(200) + i), OWNER).close();
          } catch (FsException e) {
            assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
          }
        }
        volume.unlink(root, FileName.of("full"));
      }
    }

    private int writeOrNothing(Node file, long at, MemorySegment bytes) throws FsException {
      try {
        return volume.write(file, at, bytes);
      } catch (FsException e) {
        assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
        return 0;
      }
    }
  }

  /// More orphans than the orphan file holds go to the list.
  @Test
  void sufficeForAFullOrphanFile() throws Exception {
    try (RamDevice device = new RamDevice("ram", 32 << 20)) {
      Mkfs.make(
          device,
          MkfsOptions.builder()
              .blockSizeBytes(1024)
              .inodesCount(12_000)
              .journalMebibytes(1)
              .features("orphan_file")
              .build());
      Node[] open = new Node[9000];
      try (Ext4Volume volume =
          Ext4.mount(DelegatingDevice.withoutClose(device), MountOptions.defaults())) {
        try (Node root = volume.root()) {
          for (int i = 0; i < open.length; i++) {
            open[i] = volume.create(root, FileName.of("f"), OWNER);
            volume.unlink(root, FileName.of("f"));
          }
        }
        for (int i = 0; i < open.length; i += 2) {
          open[i].close();
        }
        assertThat(volume.journalStatistics().overdrafts()).isZero();
      }
      Path image = folder.resolve("image");
      Images.copy(device, image);
      Oracles.run("e2fsck", "-fn", image).expect(0);
    }
  }
}
