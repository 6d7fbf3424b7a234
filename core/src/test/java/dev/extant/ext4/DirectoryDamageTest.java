package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Damaged directories give typed errors or right answers, and full disks leave directories whole.
class DirectoryDamageTest {
  private static final int ROUNDS = 250;

  private interface Attempt {
    void run() throws IOException;
  }

  /// True if it did not fail. An EUCLEAN is a failure; anything else but an answer is wrong.
  private static boolean succeeds(Attempt attempt) throws IOException {
    try {
      attempt.run();
      return true;
    } catch (FsException e) {
      assertThat(e.errno()).as("%s", e.getMessage()).isIn(Errno.EUCLEAN, Errno.ENOENT);
      assertThat(e.getMessage()).contains("directory 12");
      return false;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1024, true, 10", "1024, false, 10", "1024, true, 600", "1024, false, 600",
    "1024, true, 5000", "1024, false, 5000", "4096, true, 1000", "65536, false, 3000"
  })
  void flippedBitsGiveTypedErrorsOrRightAnswers(int blockSize, boolean checksummed, int count)
      throws IOException {
    long seed = blockSize + count;
    Random random = new Random(seed);
    try (DirectoryFixture fixture =
        new DirectoryFixture(blockSize, checksummed, DirHash.HALF_MD4, 1500)) {
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new TreeMap<>();
      for (int i = 0; i < count; i++) {
        FileName name = FileName.of("name-" + i);
        fixture.add(dir, name, 100 + i);
        expected.put(name, 100L + i);
      }
      fixture.journal.checkpoint();
      byte[] sound = fixture.device.memory().toArray(ValueLayout.JAVA_BYTE);
      List<FileName> names = new ArrayList<>(expected.keySet());
      List<Long> blocks = List.copyOf(fixture.map.of(dir));
      long size = RawInode.size(dir.raw);
      for (int round = 0; round < ROUNDS; round++) {
        fixture.device.memory().copyFrom(MemorySegment.ofArray(sound));
        for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
          flip(fixture, blocks, random);
        }
        fixture.reload();
        List<FileName> asked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          asked.add(names.get(random.nextInt(names.size())));
        }
        asked.add(FileName.of("absent-" + round));
        readAll(fixture, dir, asked, expected, checksummed);
        changeSome(fixture, dir, asked);
        fixture.map.of(dir).subList(blocks.size(), fixture.map.of(dir).size()).clear();
        RawInode.size(dir.raw, size);
        RawInode.flags(
            dir.raw,
            count > 10
                ? RawInode.flags(dir.raw) | RawInode.EXT4_INDEX_FL
                : RawInode.flags(dir.raw) & ~RawInode.EXT4_INDEX_FL);
      }
      fixture.reload();
    }
  }

  /// Prefers the beginnings of blocks, where the structure is.
  private static void flip(DirectoryFixture fixture, List<Long> blocks, Random random) {
    int index = random.nextInt(3) == 0 ? 0 : random.nextInt(blocks.size());
    int offset = random.nextInt(random.nextBoolean() ? 64 : fixture.blockSize);
    long at = blocks.get(index) * fixture.blockSize + offset;
    int old = Le.u8(fixture.device.memory(), at);
    Le.put8(fixture.device.memory(), at, old ^ 1 << random.nextInt(8));
  }

  private static void readAll(
      DirectoryFixture fixture,
      Inode dir,
      List<FileName> asked,
      Map<FileName, Long> expected,
      boolean checksummed)
      throws IOException {
    for (FileName name : asked) {
      succeeds(
          () -> {
            DirectoryEntry entry = fixture.directories.lookup(dir, name);
            if (checksummed) {
              assertThat(entry == null ? null : entry.ino()).isEqualTo(expected.get(name));
            }
          });
    }
    Map<FileName, Long> found = new TreeMap<>();
    int[] calls = {0};
    boolean complete =
        succeeds(
            () ->
                fixture.directories.read(
                    dir,
                    0,
                    (name, ino, type, next) -> {
                      found.put(name, ino);
                      return ++calls[0] <= 100_000;
                    }));
    assertThat(calls[0]).isLessThan(100_000);
    if (complete && checksummed) {
      found.remove(FileName.of("."));
      found.remove(FileName.of(".."));
      assertThat(found).isEqualTo(expected);
    }
    succeeds(() -> assertThat(fixture.directories.isEmpty(dir)).isIn(!checksummed, false));
  }

  private static void changeSome(DirectoryFixture fixture, Inode dir, List<FileName> asked)
      throws IOException {
    for (FileName name : asked) {
      succeeds(() -> fixture.change(h -> fixture.directories.remove(h, dir, name)));
      succeeds(
          () ->
              fixture.change(h -> fixture.directories.replace(h, dir, name, 9, FileType.SYMLINK)));
      FileName other = FileName.of("other-" + name);
      succeeds(() -> fixture.add(dir, other, 77));
    }
    succeeds(() -> fixture.change(h -> fixture.directories.setParent(h, dir, 99)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anIndexThatIsDamagedIsNotNeededForReading(boolean checksummed) throws IOException {
    try (DirectoryFixture fixture =
        new DirectoryFixture(1024, checksummed, DirHash.HALF_MD4, 1500)) {
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new TreeMap<>();
      for (int i = 0; i < 500; i++) {
        fixture.add(dir, FileName.of("name-" + i), 100 + i);
        expected.put(FileName.of("name-" + i), 100L + i);
      }
      fixture.journal.checkpoint();
      long hashVersion = fixture.map.of(dir).getFirst() * 1024 + 0x1C;
      Le.put8(fixture.device.memory(), hashVersion, 9);
      fixture.reload();
      for (FileName name : expected.keySet()) {
        assertThat(fixture.directories.lookup(dir, name).ino()).isEqualTo(expected.get(name));
      }
      assertThat(fixture.directories.lookup(dir, FileName.of("absent"))).isNull();
      assertThat(fixture.directories.lookup(dir, FileName.of("..")).ino())
          .isEqualTo(DirectoryFixture.PARENT);
      assertThat(fixture.list(dir, 10)).isEqualTo(expected);
      assertThat(fixture.directories.isEmpty(dir)).isFalse();
      assertThat(fixture.reported).hasSize(1);
      assertThat(fixture.reported.getFirst())
          .hasMessageContaining("directory 12")
          .hasMessageContaining("hash version 9");
      assertThatThrownBy(() -> fixture.add(dir, FileName.of("new"), 5))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
    }
  }

  /// A directory is only where its `..` says; one whose `..` cannot be read cannot be listed.
  @ParameterizedTest
  @CsvSource({"0, true", "300, true", "300, false"})
  void aDirectoryHasItsNameInItsParent(int names, boolean indexed) throws IOException {
    Features plain = Features.of(Feature.FILETYPE);
    try (DirectoryFixture fixture =
        new DirectoryFixture(
            1024, false, 1, 1500, indexed ? plain.with(Feature.DIR_INDEX) : plain)) {
      Inode child = fixture.newDirectory(12);
      for (int i = 0; i < names; i++) {
        fixture.add(child, FileName.of("name-" + i), 100 + i);
      }
      Inode parent = new Inode(fixture.inodes, DirectoryFixture.PARENT, child.raw);
      Inode other = new Inode(fixture.inodes, 13, child.raw);
      fixture.directories.checkParent(parent, child);
      assertMisplaced(fixture, other, child, "its .. is 2");
      fixture.change(h -> fixture.directories.setParent(h, child, 13));
      fixture.directories.checkParent(other, child);
      assertMisplaced(fixture, parent, child, "its .. is 13");
      fixture.change(h -> fixture.directories.setParent(h, child, 12));
      assertMisplaced(fixture, child, child, "directory 12");
      assertMisplaced(fixture, other, child, "its .. is 12");
    }
  }

  private static void assertMisplaced(
      DirectoryFixture fixture, Inode dir, Inode child, String what) {
    assertThatThrownBy(() -> fixture.directories.checkParent(dir, child))
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
        .hasMessageContaining(what);
  }

  @ParameterizedTest
  @CsvSource({
    "0, .., its .. is missing",
    "12, .., its .. is missing",
    "4, 0, ",
    "16, 7, ",
    "6, 9, "
  })
  void damagedDotsAreNoParent(int offset, String value, String what) throws IOException {
    try (DirectoryFixture fixture =
        new DirectoryFixture(1024, false, 1, 1500, Features.of(Feature.FILETYPE))) {
      Inode child = fixture.newDirectory(12);
      fixture.journal.checkpoint();
      MemorySegment block = block(fixture, child, 0);
      Inode parent = new Inode(fixture.inodes, DirectoryFixture.PARENT, child.raw);
      if (value.equals("..")) {
        // The name of `.` or of `..` becomes another one.
        Le.put8(block, 12 + 8, 'x');
        Le.put8(block, offset + 8, 'y');
      } else {
        Le.put8(block, offset, Integer.parseInt(value));
      }
      fixture.reload();
      if (what != null) {
        assertMisplaced(fixture, parent, child, what);
      } else {
        fixture.directories.checkParent(parent, child);
        assertThatThrownBy(() -> fixture.list(child, 10))
            .isInstanceOfSatisfying(
                FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1024, 300", "1024, 5000", "4096, 2000"})
  void aFullDiskLeavesTheDirectoryAsItWas(int blockSize, int count) throws IOException {
    try (DirectoryFixture fixture = new DirectoryFixture(blockSize, true, DirHash.HALF_MD4, 1500)) {
      fixture.map.allowance = 1;
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new TreeMap<>();
      for (int i = 0; i < count; i++) {
        FileName name = FileName.of("name-" + i);
        // One block fewer than needed, then one more, until the name fits.
        for (int more = 0; !added(fixture, dir, name, 100 + i); more++) {
          assertThat(more).isLessThan(3);
          assertThat(fixture.directories.lookup(dir, name)).isNull();
          assertThat(fixture.map.of(dir)).hasSize((int) (RawInode.size(dir.raw) / blockSize));
          fixture.map.allowance++;
        }
        expected.put(name, 100L + i);
      }
      fixture.reopen();
      assertThat(fixture.list(dir, 1000)).isEqualTo(expected);
    }
  }

  /// Three levels of an index hold what two do not.
  @Test
  void aLargeDirectoryGoesOn() throws IOException {
    Features features = Features.of(Feature.DIR_INDEX, Feature.FILETYPE, Feature.LARGE_DIR);
    try (DirectoryFixture fixture = new DirectoryFixture(1024, true, 1, 60_000, features)) {
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new TreeMap<>();
      String padding = "x".repeat(240);
      for (int i = 0; i < 60_000; i++) {
        FileName name = FileName.of(padding + i);
        fixture.add(dir, name, 100 + i);
        expected.put(name, 100L + i);
      }
      fixture.reopen();
      assertThat(DxRoot.indirectLevels(block(fixture, dir, 0))).isEqualTo(2);
      assertThat(fixture.list(dir, 1000)).isEqualTo(expected);
      for (int i = 0; i < 60_000; i += 7) {
        FileName name = FileName.of(padding + i);
        fixture.change(h -> fixture.directories.remove(h, dir, name));
        expected.remove(name);
        assertThat(fixture.directories.lookup(dir, name)).isNull();
      }
      for (Map.Entry<FileName, Long> entry : expected.entrySet()) {
        assertThat(fixture.directories.lookup(dir, entry.getKey()).ino())
            .isEqualTo(entry.getValue());
      }
      assertThat(fixture.list(dir, 777)).isEqualTo(expected);
    }
  }

  private static boolean added(DirectoryFixture fixture, Inode dir, FileName name, long ino)
      throws IOException {
    try {
      fixture.add(dir, name, ino);
      return true;
    } catch (FsException e) {
      assertThat(e.errno()).isEqualTo(Errno.ENOSPC);
      return false;
    }
  }

  /// An index of 64 KiB blocks whose every entry names the same node, and the node the same leaf,
  /// or itself, has room for 10^11 leaves.
  @ParameterizedTest
  @CsvSource({"1, 2, 2", "2, 1, 1", "2, 2, 1"})
  void anIndexThatNamesABlockTwiceEnds(int ofRoot, int ofNode, int levels) throws IOException {
    Features features = Features.of(Feature.DIR_INDEX, Feature.FILETYPE, Feature.LARGE_DIR);
    try (DirectoryFixture fixture = new DirectoryFixture(65536, false, 1, 20, features)) {
      Inode dir = fixture.newDirectory(12);
      for (int i = 0; RawInode.size(dir.raw) < 3 * 65536; i++) {
        fixture.add(dir, FileName.of("name-" + i), 100 + i);
      }
      fixture.journal.checkpoint();
      MemorySegment root = block(fixture, dir, 0);
      DxRoot.indirectLevels(root, levels);
      fill(root, DxRoot.ENTRIES, DxRoot.limit(root, false), ofRoot);
      MemorySegment node = block(fixture, dir, 2);
      DxNode.initialise(node, false);
      fill(node, DxNode.ENTRIES, DxNode.limit(node, false), ofNode);
      block(fixture, dir, 1).copyFrom(node);
      fixture.reload();
      assertThatThrownBy(() -> fixture.list(dir, 1000))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN));
      Attempt[] attempts = {
        () -> fixture.directories.lookup(dir, FileName.of("absent")),
        () -> fixture.directories.isEmpty(dir),
        () -> fixture.add(dir, FileName.of("new"), 7)
      };
      for (Attempt attempt : attempts) {
        assertThatNoException().isThrownBy(() -> succeeds(attempt));
      }
    }
  }

  private static MemorySegment block(DirectoryFixture fixture, Inode dir, int logical) {
    long at = fixture.map.of(dir).get(logical) * fixture.blockSize;
    return fixture.device.memory().asSlice(at, fixture.blockSize);
  }

  /// Makes all entries name one block, with the same hash.
  private static void fill(MemorySegment block, int base, int limit, int logical) {
    DxEntries.initialise(block, base, limit, 1);
    DxEntries.logical(block, base, 0, logical);
    for (int i = 1; i < limit; i++) {
      DxEntries.insert(block, base, i, 0x1001, logical);
    }
  }

  @Test
  void aFullIndexRefusesNames() throws IOException {
    try (DirectoryFixture fixture = new DirectoryFixture(1024, true, DirHash.HALF_MD4, 20_000)) {
      Inode dir = fixture.newDirectory(12);
      String padding = "x".repeat(240);
      int count = 0;
      while (added(fixture, dir, FileName.of(padding + count), 100 + count)) {
        count++;
      }
      // With splits in halves an index is at least half full, and so is a leaf of three names.
      assertThat(count).isGreaterThan(123 * 126 / 4 * 3 / 2);
      assertThat(fixture.map.of(dir)).hasSize((int) (RawInode.size(dir.raw) / 1024));
      for (int i = 0; i < count; i += 97) {
        assertThat(fixture.directories.lookup(dir, FileName.of(padding + i)).ino())
            .isEqualTo(100 + i);
      }
      assertThat(fixture.list(dir, 1000)).hasSize(count);
    }
  }
}
