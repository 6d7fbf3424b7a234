package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.DirHash;
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
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Directories in inodes of 256 bytes, of which entries have 56 and 68.
class InlineDirectoryTest {
  private static final Features INDEXED =
      Features.of(Feature.INLINE_DATA, Feature.EXTENT, Feature.DIR_INDEX, Feature.FILETYPE);
  private static final Features PLAIN = Features.of(Feature.INLINE_DATA);

  private static DirectoryFixture fixture(Features features) throws IOException {
    return new DirectoryFixture(1024, true, DirHash.HALF_MD4, 10_000, features);
  }

  @Test
  void aNewDirectoryHasNoBlocks() throws IOException {
    try (DirectoryFixture fixture = fixture(INDEXED)) {
      Inode dir = fixture.newDirectory(12);
      assertThat(fixture.map.of(dir)).isEmpty();
      assertThat(dir.hasFlag(RawInode.EXT4_INLINE_DATA_FL)).isTrue();
      assertThat(dir.hasFlag(RawInode.EXT4_EXTENTS_FL)).isFalse();
      assertThat(RawInode.size(dir.raw)).isEqualTo(60);
      assertThat(fixture.directories.isEmpty(dir)).isTrue();
      assertThat(fixture.list(dir, 1)).isEmpty();
      assertThat(fixture.directories.lookup(dir, FileName.of(".")))
          .isEqualTo(new DirectoryEntry(12, FileType.DIRECTORY.entryCode()));
      fixture.change(h -> fixture.directories.setParent(h, dir, 99));
      assertThat(fixture.directories.lookup(dir, FileName.of("..")).ino()).isEqualTo(99);
    }
  }

  /// 56 bytes are four entries of 12 and 8 more, 68 are five and 8 more.
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void leavesTheInodeWithTheTenthName(boolean indexed) throws IOException {
    try (DirectoryFixture fixture = fixture(indexed ? INDEXED : PLAIN)) {
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new TreeMap<>();
      for (int i = 0; i < 10; i++) {
        assertThat(fixture.map.of(dir)).as("names: %d", i).isEmpty();
        fixture.add(dir, FileName.of("n" + i), 100 + i);
        expected.put(FileName.of("n" + i), 100L + i);
        assertThat(fixture.list(dir, 3)).isEqualTo(expected);
      }
      assertThat(fixture.map.of(dir)).hasSize(1);
      assertThat(RawInode.size(dir.raw)).isEqualTo(1024);
      assertThat(dir.hasFlag(RawInode.EXT4_INLINE_DATA_FL)).isFalse();
      assertThat(dir.hasFlag(RawInode.EXT4_EXTENTS_FL)).isEqualTo(indexed);
      fixture.reopen();
      assertThat(fixture.list(dir, 3)).isEqualTo(expected);
      assertThat(fixture.directories.lookup(dir, FileName.of("..")).ino())
          .isEqualTo(DirectoryFixture.PARENT);
    }
  }

  @Test
  void usesTheRoomOfRemovedNames() throws IOException {
    try (DirectoryFixture fixture = fixture(INDEXED)) {
      Inode dir = fixture.newDirectory(12);
      for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 9; i++) {
          fixture.add(dir, FileName.of("n" + i + round % 7), 100 + i);
        }
        for (int i = 0; i < 9; i++) {
          FileName name = FileName.of("n" + (i * 4 + round) % 9 + round % 7);
          fixture.change(h -> fixture.directories.remove(h, dir, name));
          assertThat(fixture.directories.lookup(dir, name)).isNull();
        }
        assertThat(fixture.directories.isEmpty(dir)).isTrue();
        assertThat(fixture.map.of(dir)).isEmpty();
      }
    }
  }

  @Test
  void aFullDiskLeavesTheDirectoryInItsInode() throws IOException {
    try (DirectoryFixture fixture = fixture(INDEXED)) {
      fixture.map.allowance = 0;
      Inode dir = fixture.newDirectory(12);
      for (int i = 0; i < 9; i++) {
        fixture.add(dir, FileName.of("n" + i), 100 + i);
      }
      byte[] before = dir.raw.toArray(ValueLayout.JAVA_BYTE);
      assertThatThrownBy(() -> fixture.add(dir, FileName.of("more"), 7))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOSPC));
      assertThat(dir.raw.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
      assertThat(fixture.inodes.get(12).raw.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
      assertThat(fixture.list(dir, 100)).hasSize(9);
    }
  }

  private interface Attempt {
    void run() throws IOException;
  }

  private static void assertDamaged(Attempt attempt, String what) {
    assertThatThrownBy(attempt::run)
        .isInstanceOfSatisfying(
            FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EUCLEAN))
        .hasMessageContaining("12")
        .hasMessageContaining(what);
  }

  /// Damage of a directory with one entry, in the inode at 0x2C.
  @ParameterizedTest
  @CsvSource({
    "0x30, 0, record length",
    "0x30, 8, record length",
    "0x30, 60, record length",
    "0x30, 54, record length",
    "0x30, 48, entries do not end where they should",
    "0x30, 65535, record length",
    "0x32, 0, has no name",
    "0x32, 200, a name of 200 bytes",
    "0x04, 4096, its size is 4096",
    "0x04, 61, its size is 61",
    "0xA8, 4000, where none can be",
    "0xA9, 255, reaches beyond",
  })
  void damageIsFound(String offset, int value, String what) throws IOException {
    try (DirectoryFixture fixture = fixture(INDEXED)) {
      Inode dir = fixture.newDirectory(12);
      fixture.add(dir, FileName.of("name"), 100);
      int at = Integer.decode(offset);
      switch (at) {
        case 0x32 -> Le.put8(dir.raw, at, value);
        // The attribute's size and the length of its name.
        case 0xA8 -> Le.put32(dir.raw, 0xA0 + 4 + 8, value);
        case 0xA9 -> Le.put8(dir.raw, 0xA0 + 4, value);
        default -> Le.put16(dir.raw, at, value);
      }
      assertDamaged(() -> fixture.directories.isEmpty(dir), what);
      assertDamaged(() -> fixture.list(dir, 100), what);
      assertDamaged(() -> fixture.directories.lookup(dir, FileName.of("absent")), what);
      assertDamaged(() -> fixture.add(dir, FileName.of("x".repeat(100)), 7), what);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void flippedBitsGiveTypedErrors(boolean indexed) throws IOException {
    Random random = new Random(5);
    try (DirectoryFixture fixture = fixture(indexed ? INDEXED : PLAIN)) {
      Inode dir = fixture.newDirectory(12);
      for (int i = 0; i < 7; i++) {
        fixture.add(dir, FileName.of("n" + i), 100 + i);
      }
      byte[] sound = dir.raw.toArray(ValueLayout.JAVA_BYTE);
      for (int round = 0; round < 4000; round++) {
        fixture.map.truncate(null, dir, 0, true);
        dir.raw.copyFrom(MemorySegment.ofArray(sound));
        for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
          int at = random.nextBoolean() ? 0x28 + random.nextInt(60) : 0xA0 + random.nextInt(96);
          Le.put8(dir.raw, at, Le.u8(dir.raw, at) ^ 1 << random.nextInt(8));
        }
        typed(() -> fixture.directories.isEmpty(dir));
        typed(() -> fixture.directories.read(dir, 0, (name, ino, type, next) -> true));
        typed(() -> fixture.directories.lookup(dir, FileName.of("n3")));
        typed(() -> fixture.change(h -> fixture.directories.remove(h, dir, FileName.of("n6"))));
        typed(() -> fixture.add(dir, FileName.of("more"), 7));
        typed(() -> fixture.add(dir, FileName.of("x".repeat(90)), 8));
      }
    }
  }

  private static void typed(Attempt attempt) throws IOException {
    try {
      attempt.run();
    } catch (FsException e) {
      assertThat(e.errno()).as("%s", e.getMessage()).isIn(Errno.EUCLEAN, Errno.ENOENT);
    }
  }
}
