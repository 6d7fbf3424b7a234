package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class DirectoriesTest {
  private static final Features NO_INDEX = Features.of(Feature.FILETYPE);
  private static final Features INDEX = NO_INDEX.with(Feature.DIR_INDEX);

  static Stream<Arguments> variants() {
    List<Arguments> variants = new ArrayList<>();
    for (int blockSize : new int[] {1024, 2048, 4096, 65536}) {
      for (boolean checksummed : new boolean[] {false, true}) {
        for (int hash = DirHash.LEGACY; hash <= DirHash.TEA; hash++) {
          variants.add(Arguments.of(blockSize, checksummed, hash));
        }
      }
    }
    return variants.stream();
  }

  @ParameterizedTest
  @MethodSource("variants")
  void agreesWithAMapAfterRandomChanges(int blockSize, boolean checksummed, int hash)
      throws IOException {
    long seed = 31L * blockSize + hash;
    try (DirectoryFixture fixture = new DirectoryFixture(blockSize, checksummed, hash, 3000)) {
      randomChanges(fixture, seed, blockSize > 4096 ? 12_000 : 6000);
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void agreesWithAMapBeginningInline(int blockSize, boolean checksummed, int hash)
      throws IOException {
    for (Features features : List.of(NO_INDEX, INDEX)) {
      for (int length = 8; length < 300; length += 47) {
        try (DirectoryFixture fixture =
            new DirectoryFixture(
                blockSize, checksummed, hash, 300, features.with(Feature.INLINE_DATA))) {
          randomChanges(fixture, length, length);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void agreesWithAMapWithoutIndex(int blockSize, boolean checksummed, int hash) throws IOException {
    long seed = 37L * blockSize + hash;
    try (DirectoryFixture fixture =
        new DirectoryFixture(blockSize, checksummed, hash, 3000, NO_INDEX)) {
      randomChanges(fixture, seed, 1500);
    }
  }

  private static void randomChanges(DirectoryFixture fixture, long seed, int operations)
      throws IOException {
    Random random = new Random(seed);
    Inode dir = fixture.newDirectory(12);
    Map<FileName, Long> expected = new TreeMap<>();
    List<FileName> names = new ArrayList<>();
    for (int i = 1; i <= operations; i++) {
      int growth = i / 1500 % 2 == 0 ? 75 : 35;
      if (names.isEmpty() || random.nextInt(100) < growth) {
        FileName name = randomName(random);
        DirectoryEntry entry = fixture.directories.lookup(dir, name);
        Long known = expected.get(name);
        assertThat(entry == null ? null : entry.ino()).as("seed %d", seed).isEqualTo(known);
        if (known == null) {
          long ino = 100 + i;
          fixture.add(dir, name, ino);
          expected.put(name, ino);
          names.add(name);
        }
      } else {
        int index = random.nextInt(names.size());
        FileName name = names.get(index);
        if (random.nextBoolean()) {
          long ino = 100_000 + i;
          fixture.change(h -> fixture.directories.replace(h, dir, name, ino, FileType.SYMLINK));
          expected.put(name, ino);
        } else {
          fixture.change(h -> fixture.directories.remove(h, dir, name));
          expected.remove(name);
          names.set(index, names.getLast());
          names.removeLast();
        }
      }
      if (i % 1500 == 0) {
        fixture.reopen();
        assertThat(fixture.list(dir, 1 + random.nextInt(100)))
            .as("seed %d", seed)
            .isEqualTo(expected);
      }
    }
    for (FileName name : names) {
      assertThat(fixture.directories.lookup(dir, name).ino()).isEqualTo(expected.get(name));
    }
    assertThat(fixture.directories.isEmpty(dir)).isFalse();
    for (FileName name : names) {
      fixture.change(h -> fixture.directories.remove(h, dir, name));
    }
    assertThat(fixture.directories.isEmpty(dir)).isTrue();
    assertThat(fixture.list(dir, 10)).isEmpty();
    assertThat(fixture.reported).isEmpty();
  }

  private static FileName randomName(Random random) {
    byte[] name =
        new byte[random.nextInt(10) == 0 ? 1 + random.nextInt(255) : 1 + random.nextInt(20)];
    for (int i = 0; i < name.length; i++) {
      do {
        name[i] = (byte) random.nextInt(256);
      } while (name[i] == 0 || name[i] == '/' || name[i] == '.');
    }
    return FileName.of(name);
  }

  @Test
  void holdsAHundredThousandNames() throws IOException {
    try (DirectoryFixture fixture = new DirectoryFixture(4096, true, DirHash.HALF_MD4, 4000)) {
      Inode dir = fixture.newDirectory(12);
      Map<FileName, Long> expected = new HashMap<>();
      for (int i = 0; i < 100_000; i++) {
        FileName name = FileName.of("file-number-" + i);
        fixture.add(dir, name, 1000 + i);
        expected.put(name, 1000L + i);
      }
      fixture.reopen();
      for (Map.Entry<FileName, Long> entry : expected.entrySet()) {
        assertThat(fixture.directories.lookup(dir, entry.getKey()).ino())
            .isEqualTo(entry.getValue());
      }
      assertThat(fixture.directories.lookup(dir, FileName.of("file-number-x"))).isNull();
      assertThat(fixture.list(dir, 1000)).isEqualTo(new TreeMap<>(expected));
    }
  }

  @Test
  void refusesLongNames() throws IOException {
    try (DirectoryFixture fixture = new DirectoryFixture(4096, true, DirHash.HALF_MD4, 10)) {
      Inode dir = fixture.newDirectory(12);
      fixture.add(dir, FileName.of("x".repeat(255)), 20);
      assertThat(fixture.directories.lookup(dir, FileName.of("x".repeat(255))))
          .isEqualTo(new DirectoryEntry(20, 1));
      assertThatThrownBy(() -> fixture.add(dir, FileName.of("x".repeat(256)), 21))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENAMETOOLONG));
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void movesBetweenParents(int blockSize, boolean checksummed, int hash) throws IOException {
    try (DirectoryFixture fixture = new DirectoryFixture(blockSize, checksummed, hash, 300)) {
      Inode dir = fixture.newDirectory(12);
      for (int i = 0; i < 6000; i++) {
        if (i == 0 || i == 5999) {
          long parent = 50 + i;
          fixture.change(h -> fixture.directories.setParent(h, dir, parent));
          assertThat(fixture.directories.lookup(dir, FileName.of("..")))
              .isEqualTo(new DirectoryEntry(parent, 2));
          assertThat(fixture.directories.lookup(dir, FileName.of(".")))
              .isEqualTo(new DirectoryEntry(12, 2));
        }
        fixture.add(dir, FileName.of("n" + i), 100 + i);
      }
      assertThat(dir.hasFlag(RawInode.EXT4_INDEX_FL)).isTrue();
    }
  }
}
