package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.vfs.FileName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Listings of directories that change meanwhile.
class DirectoryListingTest {
  @ParameterizedTest
  @CsvSource({
    "1024, 0, 0",
    "1024, 1, 15",
    "1024, 2, 400",
    "2048, 1, 30",
    "4096, 1, 3000",
    "4096, 2, 100"
  })
  void showsEachNameThatStaysExactlyOnce(int blockSize, int hash, int stay) throws IOException {
    long seed = 100L * blockSize + hash;
    try (DirectoryFixture fixture = new DirectoryFixture(blockSize, true, hash, 3000)) {
      listWhileNamesComeAndGo(fixture, seed, stay);
    }
  }

  @ParameterizedTest
  @CsvSource({"1024, 10", "1024, 300", "4096, 100"})
  void showsEachNameThatStaysExactlyOnceWithoutIndex(int blockSize, int stay) throws IOException {
    long seed = 200L * blockSize;
    try (DirectoryFixture fixture =
        new DirectoryFixture(blockSize, true, 1, 3000, Features.of(Feature.FILETYPE))) {
      listWhileNamesComeAndGo(fixture, seed, stay);
    }
  }

  /// They begin in their inodes and leave them while they are listed.
  @ParameterizedTest
  @CsvSource({"1, true", "3, true", "7, true", "1, false", "3, false", "7, false"})
  void showsEachNameThatStaysExactlyOnceBeginningInline(int stay, boolean indexed)
      throws IOException {
    Features plain = Features.of(Feature.FILETYPE, Feature.INLINE_DATA, Feature.EXTENT);
    Features features = indexed ? plain.with(Feature.DIR_INDEX) : plain;
    for (long seed = 300; seed < 340; seed++) {
      try (DirectoryFixture fixture = new DirectoryFixture(1024, true, 1, 3000, features)) {
        listWhileNamesComeAndGo(fixture, seed + stay, stay);
      }
    }
  }

  private static void listWhileNamesComeAndGo(DirectoryFixture fixture, long seed, int stay)
      throws IOException {
    Random random = new Random(seed);
    for (int round = 0; round < 5; round++) {
      Inode dir = fixture.newDirectory(20 + round);
      List<FileName> going = new ArrayList<>();
      Set<FileName> staying = new HashSet<>();
      for (int i = 0; i < stay; i++) {
        FileName name = FileName.of("stays-" + i + "-" + random.nextInt());
        staying.add(name);
        fixture.add(dir, name, 1000 + i);
        if (random.nextBoolean()) {
          going.add(add(fixture, dir, random));
        }
      }
      Map<FileName, Integer> seen = new HashMap<>();
      long cookie = 0;
      while (cookie >= 0) {
        cookie = listSome(fixture, dir, cookie, 1 + random.nextInt(20), seen);
        for (int i = random.nextInt(20); i > 0; i--) {
          if (going.isEmpty() || going.size() < 2 * stay + 10 && random.nextInt(3) > 0) {
            going.add(add(fixture, dir, random));
          } else {
            FileName name = going.remove(random.nextInt(going.size()));
            fixture.change(h -> fixture.directories.remove(h, dir, name));
          }
        }
      }
      for (FileName name : staying) {
        assertThat(seen.get(name)).as("seed %d: times %s was seen", seed, name).isEqualTo(1);
      }
      assertThat(seen).containsEntry(FileName.of("."), 1).containsEntry(FileName.of(".."), 1);
    }
  }

  private static FileName add(DirectoryFixture fixture, Inode dir, Random random)
      throws IOException {
    FileName name = FileName.of("g" + random.nextLong());
    fixture.add(dir, name, 7);
    return name;
  }

  /// Lists up to `count` names; returns the next cookie or, at the end, -1.
  private static long listSome(
      DirectoryFixture fixture, Inode dir, long cookie, int count, Map<FileName, Integer> seen)
      throws IOException {
    int[] left = {count};
    long[] last = {-1};
    fixture.directories.read(
        dir,
        cookie,
        (name, ino, type, next) -> {
          seen.merge(name, 1, Integer::sum);
          last[0] = next;
          return --left[0] > 0;
        });
    return last[0];
  }

  @ParameterizedTest
  @CsvSource({"1, 7", "2, 0x800000ff", "40, 0xffffffff"})
  void showsNamesOfOneHashOneByOne(int batch, String minor) throws IOException {
    long hash = 0x8000_0002L << 32 | Long.decode(minor);
    List<FileName> expected = new ArrayList<>();
    for (int i = 100; i < 356; i++) {
      expected.add(FileName.of("name-" + i));
    }
    List<FileName> seen = new ArrayList<>();
    long[] cookie = {2};
    int before = -1;
    while (seen.size() > before) {
      before = seen.size();
      listEqualHashes(hash, expected, cookie, batch, seen);
    }
    assertThat(seen).isEqualTo(expected);

    expected.add(FileName.of("name-356"));
    cookie[0] = 2;
    assertThatThrownBy(() -> listEqualHashes(hash, expected, cookie, 1000, seen))
        .hasMessageContaining("more than 256 names have the same hash");
  }

  private static void listEqualHashes(
      long hash, List<FileName> names, long[] cookie, int batch, List<FileName> seen)
      throws IOException {
    int[] left = {batch};
    HashOrderListing listing =
        new HashOrderListing(
            new FakeInodes().newFile(12),
            cookie[0],
            (name, ino, type, next) -> {
              seen.add(name);
              cookie[0] = next;
              return --left[0] > 0;
            });
    for (FileName name : names.reversed()) {
      listing.add(hash, name.bytes(), new DirectoryEntry(5, 1));
    }
    listing.showAll();
  }

  @Test
  void tellsNoTypesWithoutTheFeature() throws IOException {
    try (DirectoryFixture fixture =
        new DirectoryFixture(1024, false, 1, 100, Features.of(Feature.DIR_INDEX))) {
      Inode dir = fixture.newDirectory(12);
      fixture.add(dir, FileName.of("name"), 20);
      assertThat(fixture.directories.lookup(dir, FileName.of("name")))
          .isEqualTo(new DirectoryEntry(20, 0));
      fixture.directories.read(
          dir,
          0,
          (name, ino, type, next) -> {
            assertThat(type).isNull();
            return true;
          });
    }
  }
}
