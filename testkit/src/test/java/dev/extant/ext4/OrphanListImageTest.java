package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.testkit.Oracles;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Orphans in the list and in the orphan file, left behind by us and finished by e2fsck, and by us.
class OrphanListImageTest {
  private static final String LIST = "-t ext4 -b 1024 -O ^has_journal";
  private static final String FILE = "-t ext4 -b 1024 -O has_journal,orphan_file";
  private static final String FILE_WITHOUT_CHECKSUMS =
      "-t ext4 -b 4096 -O has_journal,orphan_file,^metadata_csum";

  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck", "debugfs");
  }

  /// Finds the blocks of a file whose extents are all in its inode.
  private static final class InodeExtents implements BlockMap {
    @Override
    public long maxSizeBytes(Inode inode) {
      return Long.MAX_VALUE;
    }

    @Override
    public Run lookup(Inode inode, long logical, int maxCount) {
      int entries = Le.u16(inode.raw, RawInode.I_BLOCK + 2);
      for (int i = 0; i < entries; i++) {
        int at = RawInode.I_BLOCK + 12 + 12 * i;
        long first = Le.u32(inode.raw, at);
        int count = Le.u16(inode.raw, at + 4);
        if (logical >= first && logical < first + count) {
          return new Run(logical, Le.u32(inode.raw, at + 8) + logical - first, 1, false);
        }
      }
      return new Run(logical, 0, 1, false);
    }

    @Override
    public int allocateCredits(Inode inode, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Allocation allocate(Handle handle, Inode inode, long logical, int maxCount) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean punch(
        Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata) {
      throw new UnsupportedOperationException();
    }
  }

  private static OrphanList open(AllocatorImage image) throws IOException {
    OrphanFile file = null;
    long ino = Superblock.orphanFileInode(image.superblock.bytes());
    if (Superblock.features(image.superblock.bytes()).has(Feature.ORPHAN_FILE)) {
      file =
          new OrphanFile(
              image.superblock,
              image.buffers,
              new InodeExtents(),
              image.geometry,
              image.checksums,
              image.inodes.get(ino));
    }
    return new OrphanList(image.superblock, image.inodes, image.geometry, file);
  }

  private static Inode deletedFile(AllocatorImage image, OrphanList orphans) throws IOException {
    try (Inode root = image.inodes.get(2);
        Handle handle = image.journal.start(16)) {
      long ino = image.inodeAllocator.allocate(handle, root, 0x8000 | 0644);
      MemorySegment raw = MemorySegment.ofArray(new byte[image.geometry.inodeSizeBytes()]);
      RawInode.mode(raw, 0x8000 | 0644);
      RawInode.generation(raw, image.inodeAllocator.nextGeneration());
      RawInode.extraIsize(raw, 32);
      Inode inode = image.inodes.create(handle, ino, raw);
      orphans.add(handle, inode);
      orphans.add(handle, inode);
      return inode;
    }
  }

  private static void free(AllocatorImage image, OrphanList orphans, Inode inode)
      throws IOException {
    try (Handle handle = image.journal.start(16)) {
      orphans.remove(handle, inode);
      image.inodes.clearOnDisk(handle, inode);
      image.inodeAllocator.free(handle, inode.ino(), false);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {LIST, FILE, FILE_WITHOUT_CHECKSUMS})
  void removedInAnyOrderNothingIsLeft(String options) throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", options);
    Random random = new Random(31);
    try (AllocatorImage image = AllocatorImage.open(path)) {
      OrphanList orphans = open(image);
      List<Inode> open = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        if (open.isEmpty() || open.size() < 700 && random.nextInt(3) > 0) {
          open.add(deletedFile(image, orphans));
        } else {
          free(image, orphans, open.remove(random.nextInt(open.size())));
        }
      }
      for (Inode inode : open) {
        free(image, orphans, inode);
      }
      try (Handle handle = image.journal.start(1)) {
        orphans.settle(handle);
      }
      assertThat(Superblock.lastOrphan(image.superblock.bytes())).isZero();
      assertThat(Superblock.features(image.superblock.bytes()).has(Feature.ORPHAN_PRESENT))
          .isFalse();
    }
    AllocatorImage.fsck(path).expect(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {LIST, FILE, FILE_WITHOUT_CHECKSUMS})
  void whatACrashLeavesIsFinishedByE2fsck(String options) throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", options);
    leaveOrphans(path, 600);
    String output = Oracles.run("e2fsck", "-fy", path).expect(0, 1).output();
    assertThat(output.lines().filter(line -> line.contains("Clearing orphaned inode")).count())
        .as(output)
        .isEqualTo(600);
    assertThat(output).doesNotContain("corrupt").doesNotContain("checksum");
    AllocatorImage.fsck(path).expect(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {LIST, FILE, FILE_WITHOUT_CHECKSUMS})
  void whatACrashLeavesIsFinishedByUs(String options) throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", options);
    List<Long> left = leaveOrphans(path, 600);
    try (AllocatorImage image = AllocatorImage.open(path)) {
      OrphanList orphans = open(image);
      List<Long> finished = new ArrayList<>();
      int count =
          orphans.recover(
              inode -> {
                finished.add(inode.ino());
                free(image, orphans, inode);
                inode.close();
              });
      assertThat(count).isEqualTo(600);
      assertThat(finished).containsExactlyInAnyOrderElementsOf(left);
      try (Handle handle = image.journal.start(1)) {
        orphans.settle(handle);
      }
    }
    AllocatorImage.fsck(path).expect(0);
  }

  private static List<Long> leaveOrphans(Path path, int count) throws IOException {
    List<Long> left = new ArrayList<>();
    try (AllocatorImage image = AllocatorImage.open(path)) {
      OrphanList orphans = open(image);
      for (int i = 0; i < count; i++) {
        left.add(deletedFile(image, orphans).ino());
      }
    }
    return left;
  }

  @Test
  void fullOrphanFileOverflowsIntoTheList() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", FILE + " -E orphan_file_size=32k -N 16384");
    int slots = 32 * (1024 - 8) / 4;
    List<Long> left = leaveOrphans(path, slots + 5);
    try (AllocatorImage image = AllocatorImage.open(path)) {
      assertThat(Superblock.lastOrphan(image.superblock.bytes())).isEqualTo(left.getLast());
      OrphanList orphans = open(image);
      int count =
          orphans.recover(
              inode -> {
                free(image, orphans, inode);
                inode.close();
              });
      assertThat(count).isEqualTo(slots + 5);
      try (Handle handle = image.journal.start(1)) {
        orphans.settle(handle);
      }
    }
    AllocatorImage.fsck(path).expect(0);
  }

  @Test
  void listThatLeadsBackToItselfIsRefused() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", LIST);
    List<Long> left = leaveOrphans(path, 3);
    Oracles.run(
            "debugfs",
            "-w",
            "-R",
            "set_inode_field <" + left.get(0) + "> dtime " + time(left.get(2)),
            path)
        .expect(0);
    try (AllocatorImage image = AllocatorImage.open(path)) {
      OrphanList orphans = open(image);
      assertThatThrownBy(() -> orphans.recover(inode -> {}))
          .isInstanceOf(FsException.class)
          .hasMessageContaining("inode " + left.get(0) + " leads back to inode " + left.get(2))
          .extracting(e -> ((FsException) e).errno())
          .isEqualTo(Errno.EUCLEAN);
    }
  }

  /// debugfs reads i_dtime as a time; `@` takes it as seconds.
  private static String time(long seconds) {
    return "@" + seconds;
  }

  @Test
  void listThatNamesAnImpossibleInodeIsRefused() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", LIST);
    Oracles.run("debugfs", "-w", "-R", "set_super_value last_orphan 4000000", path).expect(0);
    try (AllocatorImage image = AllocatorImage.open(path)) {
      OrphanList orphans = open(image);
      assertThatThrownBy(() -> orphans.recover(inode -> {}))
          .hasMessageContaining("the superblock names impossible inode 4000000");
    }
  }
}
