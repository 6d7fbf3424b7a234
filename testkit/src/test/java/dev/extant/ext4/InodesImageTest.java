package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.testkit.Oracles;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The inode allocator and the inode table on images made by mke2fs, judged by e2fsck.
class InodesImageTest {
  @TempDir Path folder;

  @BeforeAll
  static void needs() {
    Oracles.require("mke2fs", "e2fsck");
  }

  /// What the mount does at the last release, as far as this test needs it.
  private record Freeing(AllocatorImage image) implements Inodes.Lifecycle {
    @Override
    public void evict(Inode inode) {
      try (Handle handle = image.journal.start(8)) {
        image.inodes.clearOnDisk(handle, inode);
        image.inodeAllocator.free(handle, inode.ino(), inode.isDirectory());
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public boolean drop(Inode inode) {
      return true;
    }
  }

  private static MemorySegment emptyFile(AllocatorImage image, int links) {
    MemorySegment raw = MemorySegment.ofArray(new byte[image.geometry.inodeSizeBytes()]);
    RawInode.mode(raw, 0x8000 | 0644);
    RawInode.linksCount(raw, links);
    RawInode.generation(raw, image.inodeAllocator.nextGeneration());
    if (image.geometry.inodeSizeBytes() > RawInode.GOOD_OLD_INODE_SIZE) {
      RawInode.extraIsize(raw, 32);
    }
    return raw;
  }

  private static Inode create(AllocatorImage image, Inode parent, int links) throws IOException {
    try (Handle handle = image.journal.start(8)) {
      long ino = image.inodeAllocator.allocate(handle, parent, 0x8000 | 0644);
      return image.inodes.create(handle, ino, emptyFile(image, links));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "20M, -t ext4 -b 1024 -O ^has_journal",
    "32M, -t ext4 -b 2048 -I 128 -O ^has_journal",
    "131076k, -t ext4 -b 4096 -g 4096 -N 4096 -O ^has_journal",
    "32M, -t ext4 -b 1024 -O ^has_journal;^64bit;^flex_bg",
    "32M, -t ext4 -b 1024 -O ^has_journal;^metadata_csum;uninit_bg",
    "32M, -t ext4 -b 1024 -O ^has_journal;^metadata_csum",
    "20M, -t ext2 -b 1024"
  })
  void stormOfThreadsMakesEveryInodeAndFreesAllAgain(String size, String options) throws Exception {
    Path path = folder.resolve("image");
    fillWithGarbage(path, 132 << 20);
    AllocatorImage.make(path, size, "-E nodiscard,lazy_itable_init=1 " + options.replace(';', ','));
    long free;
    List<Long> all = new ArrayList<>();
    try (AllocatorImage image = AllocatorImage.open(path, 64)) {
      image.inodes.start(image.journal, new Freeing(image));
      free = image.table.totalFreeInodes();
      for (List<Inode> some : inParallel(4, thread -> makeUntilFull(image))) {
        some.forEach(inode -> all.add(inode.ino()));
        some.forEach(Inode::close);
      }
      assertThat(image.damages).isEmpty();
      assertThat(all).hasSize((int) free).doesNotHaveDuplicates();
      assertThat(all).allMatch(ino -> ino >= image.geometry.firstInode());
      assertThat(image.table.totalFreeInodes()).isZero();
    }
    String full = AllocatorImage.fsck(path).expect(4).output();
    assertThat(full)
        .contains("Unattached")
        .doesNotContain("checksum")
        .doesNotContain("differences");
    assertThat(full).doesNotContain("ount wrong");
    try (AllocatorImage image = AllocatorImage.open(path, 64)) {
      image.inodes.start(image.journal, new Freeing(image));
      inParallel(
          4,
          thread -> {
            for (int i = thread; i < all.size(); i += 4) {
              try (Inode inode = image.inodes.get(all.get(i))) {
                RawInode.linksCount(inode.raw, 0);
              }
            }
            return List.of();
          });
      assertThat(image.damages).isEmpty();
      assertThat(image.table.totalFreeInodes()).isEqualTo(free);
    }
    AllocatorImage.fsck(path).expect(0);
  }

  private interface Work<T> {
    List<T> run(int thread) throws IOException;
  }

  private static <T> List<List<T>> inParallel(int threads, Work<T> work) throws Exception {
    List<Future<List<T>>> workers = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      for (int i = 0; i < threads; i++) {
        int thread = i;
        workers.add(executor.submit(() -> work.run(thread)));
      }
    }
    List<List<T>> results = new ArrayList<>();
    for (Future<List<T>> worker : workers) {
      results.add(worker.get());
    }
    return results;
  }

  private static List<Inode> makeUntilFull(AllocatorImage image) throws IOException {
    List<Inode> made = new ArrayList<>();
    try (Inode root = image.inodes.get(2)) {
      while (true) {
        try {
          made.add(create(image, root, 1));
        } catch (FsException e) {
          assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
          return made;
        }
      }
    }
  }

  private static void fillWithGarbage(Path path, int sizeBytes) throws IOException {
    byte[] garbage = new byte[1 << 20];
    new Random(99).nextBytes(garbage);
    try (FileChannel file =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int at = 0; at < sizeBytes; at += garbage.length) {
        file.write(ByteBuffer.wrap(garbage), at);
      }
    }
  }

  @Test
  void directoriesSpreadFromTheTopAndStayTogetherBelow() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "128M", "-t ext4 -b 1024 -G 2 -O ^has_journal");
    try (AllocatorImage image = AllocatorImage.open(path)) {
      Set<Integer> flexGroups = new HashSet<>();
      try (Inode root = image.inodes.get(2);
          Handle handle = image.journal.start(1000)) {
        long last = 0;
        for (int i = 0; i < 8; i++) {
          last = image.inodeAllocator.allocate(handle, root, 0x4000 | 0755);
          flexGroups.add(image.geometry.groupOfInode(last) / 2);
        }
        assertThat(image.table.totalUsedDirectories()).isEqualTo(8 + 2);
        try (Inode below = image.inodes.create(handle, last, emptyFile(image, 2))) {
          int home = image.geometry.groupOfInode(last) / 2;
          for (int i = 0; i < 8; i++) {
            long ino = image.inodeAllocator.allocate(handle, below, 0x4000 | 0755);
            assertThat(image.geometry.groupOfInode(ino) / 2).isEqualTo(home);
          }
        }
      }
      assertThat(flexGroups).hasSizeGreaterThan(4);
    }
  }

  @Test
  void refusesWhatIsNotAnInodeInUse() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    try (AllocatorImage image = AllocatorImage.open(path)) {
      for (long ino : new long[] {0, -1, 3, 12, 2000, image.geometry.inodesCount() + 1}) {
        assertThatThrownBy(() -> image.inodes.get(ino))
            .as("inode %d", ino)
            .isInstanceOf(FsException.class)
            .hasMessageContaining("inode " + ino)
            .extracting(e -> ((FsException) e).errno())
            .isEqualTo(Errno.EUCLEAN);
      }
      try (Handle handle = image.journal.start(8)) {
        for (long ino : new long[] {2, 10, 12, image.geometry.inodesCount() + 1}) {
          assertThatThrownBy(() -> image.inodeAllocator.free(handle, ino, false))
              .hasMessageContaining("inode " + ino + " cannot be freed");
        }
      }
      assertThat(image.damages).isEmpty();
    }
    AllocatorImage.fsck(path).expect(0);
  }

  @Test
  void corruptInodeIsRefusedAndItsNeighbourServed() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    long table;
    try (AllocatorImage image = AllocatorImage.open(path)) {
      table = image.table.inodeTable(0);
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {0x33}), table * 1024 + 256 + 0x1A);
    }
    try (AllocatorImage image = AllocatorImage.open(path)) {
      assertThatThrownBy(() -> image.inodes.get(2)).hasMessageContaining("inode 2 is corrupt");
      image.inodes.get(11).close();
    }
  }

  @Test
  void corruptInodeBitmapIsReportedOnceAndItsGroupSkipped() throws IOException {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    long bitmap;
    try (AllocatorImage image = AllocatorImage.open(path)) {
      bitmap = image.table.inodeBitmap(0);
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {0x33}), bitmap * 1024 + 50);
    }
    try (AllocatorImage image = AllocatorImage.open(path);
        Inode root = image.inodes.get(2)) {
      for (int i = 0; i < 3; i++) {
        try (Inode inode = create(image, root, 1)) {
          assertThat(image.geometry.groupOfInode(inode.ino())).isEqualTo(1);
        }
      }
      assertThat(image.damages).hasSize(1);
      assertThat(image.damages.getFirst()).hasMessageContaining("inode bitmap of group 0");
    }
  }

  @Test
  void sameSeedGivesTheSameNumbers() throws IOException {
    Path path = folder.resolve("image");
    List<List<Long>> rounds = new ArrayList<>();
    for (int round = 0; round < 2; round++) {
      AllocatorImage.make(path, "64M", "-t ext4 -b 1024 -O ^has_journal");
      List<Long> numbers = new ArrayList<>();
      try (AllocatorImage image = AllocatorImage.open(path);
          Inode root = image.inodes.get(2);
          Handle handle = image.journal.start(1000)) {
        for (int i = 0; i < 40; i++) {
          int mode = i % 3 == 0 ? 0x4000 : 0x8000;
          numbers.add(image.inodeAllocator.allocate(handle, root, mode));
          numbers.add((long) image.inodeAllocator.nextGeneration());
        }
      }
      rounds.add(numbers);
    }
    assertThat(rounds.get(0)).isEqualTo(rounds.get(1));
  }

  /// Counts up a field of many inodes from several threads, while idle inodes leave memory all the
  /// time: no step is lost, so there was never a second object for a number.
  @Test
  void changesSurviveLeavingMemory() throws Exception {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    int steps = 4_000;
    List<Long> numbers = new ArrayList<>();
    try (AllocatorImage image = AllocatorImage.open(path, 1)) {
      image.inodes.start(image.journal, new Freeing(image));
      try (Inode root = image.inodes.get(2)) {
        for (int i = 0; i < 400; i++) {
          try (Inode inode = create(image, root, 1)) {
            numbers.add(inode.ino());
          }
        }
      }
      AtomicBoolean done = new AtomicBoolean();
      Thread committer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!done.get()) {
                      image.journal.commitRunning().join();
                    }
                  });
      inParallel(
          4,
          thread -> {
            Random random = new Random(7 + thread);
            for (int i = 0; i < steps; i++) {
              try (Inode inode = image.inodes.get(numbers.get(random.nextInt(400)))) {
                countUp(image, inode);
              }
            }
            return List.of();
          });
      done.set(true);
      committer.join();
      assertThat(sum(image, numbers)).isEqualTo(4L * steps);
    }
    try (AllocatorImage image = AllocatorImage.open(path)) {
      assertThat(sum(image, numbers)).isEqualTo(4L * steps);
    }
  }

  private static long sum(AllocatorImage image, List<Long> numbers) throws IOException {
    long sum = 0;
    for (long ino : numbers) {
      try (Inode inode = image.inodes.get(ino)) {
        sum += Le.u32(inode.raw, 0x24);
      }
    }
    return sum;
  }

  private static void countUp(AllocatorImage image, Inode inode) throws IOException {
    inode.lock.writeLock().lock();
    try (Handle handle = image.journal.start(1)) {
      Le.put32(inode.raw, 0x24, Le.u32(inode.raw, 0x24) + 1);
      image.inodes.update(handle, inode, false);
    } finally {
      inode.lock.writeLock().unlock();
    }
  }

  @Test
  void anInodeBeingFreedIsGoneForOthersAndItsNumberCanBeUsedAgain() throws Exception {
    Path path = folder.resolve("image");
    AllocatorImage.make(path, "32M", "-t ext4 -b 1024 -O ^has_journal");
    try (AllocatorImage image = AllocatorImage.open(path)) {
      CountDownLatch freeing = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      Freeing free = new Freeing(image);
      image.inodes.start(
          image.journal,
          new Inodes.Lifecycle() {
            @Override
            public void evict(Inode inode) {
              freeing.countDown();
              try {
                goOn.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              inode.retain().close();
              free.evict(inode);
            }

            @Override
            public boolean drop(Inode inode) {
              return true;
            }
          });
      Inode root = image.inodes.get(2);
      Inode inode = create(image, root, 1);
      Inode again = image.inodes.get(inode.ino());
      assertThat(again).isSameAs(inode);
      RawInode.linksCount(inode.raw, 0);
      again.close();
      Thread closing = Thread.ofPlatform().start(inode::close);
      freeing.await();
      assertThatThrownBy(() -> image.inodes.get(inode.ino()))
          .isInstanceOf(FsException.class)
          .extracting(e -> ((FsException) e).errno())
          .isEqualTo(Errno.ENOENT);
      goOn.countDown();
      closing.join();
      try (Inode next = create(image, root, 1)) {
        assertThat(next.ino()).isEqualTo(inode.ino());
        assertThat(next).isNotSameAs(inode);
        RawInode.linksCount(next.raw, 0);
      }
      root.close();
    }
    AllocatorImage.fsck(path).expect(0);
  }
}
