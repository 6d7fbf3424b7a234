package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import dev.extant.testkit.Seeds;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Random bytes changed in directories, indexes, attributes and inodes of file systems without
/// checksums: where e2fsck finds an error we do, and where it does not we find at most what is
/// listed here. `-Dextant.fsck.bytes=N` changes N images instead of a few.
class FsckRandomBytesTest {
  private static final int IMAGES = Integer.getInteger("extant.fsck.bytes", 120);
  private static final int NAMES = 1200;

  /// What we call an error and e2fsck passes, in some of its versions at least.
  private static final Set<Problem> STRICTER =
      EnumSet.of(
          // From version 1.47.1 on e2fsck finds it too.
          Problem.EA_INODE_FLAG,
          // A name with zeroes at its end is another name, but not to e2fsck.
          Problem.INLINE_DATA_MISSING,
          // A tree without entries whose depth is impossible.
          Problem.EXTENT_HEADER);

  @TempDir static Path folder;
  private static final List<Base> BASES = new ArrayList<>();

  /// An image, and where to change it.
  private record Base(Path image, List<DamagedImage.Place> places) {}

  @BeforeAll
  static void make() throws IOException {
    Oracles.require("mke2fs", "debugfs", "e2fsck");
    Path tree = Files.createDirectories(folder.resolve("tree"));
    Files.createDirectories(tree.resolve("d/e"));
    Files.createDirectory(tree.resolve("h"));
    for (int i = 0; i < NAMES; i++) {
      Files.createFile(tree.resolve("h/a-name-that-fills-the-block-soon-" + i));
    }
    for (String name : List.of("a", "b", "c", "d/x", "d/y", "d/e/z")) {
      Files.writeString(tree.resolve(name), name);
    }
    Path value = Files.writeString(folder.resolve("value"), "v".repeat(300));
    List<String> attributes =
        List.of("ea_set /a user.small hello", "ea_set -f " + value + " /b user.large");
    Path script = Files.write(folder.resolve("script"), attributes);
    for (String features : List.of("^metadata_csum", "^metadata_csum,inline_data")) {
      Path base = folder.resolve("base" + BASES.size() + ".img");
      DamagedImage.make(base, tree, "-t", "ext4", "-b", 1024, "-N", 2048, "-O", features);
      Oracles.run("debugfs", "-w", "-f", script, base).expect(0);
      Oracles.run("e2fsck", "-fyD", base).expect(0, 1);
      BASES.add(new Base(base, places(DamagedImage.copyOf(base))));
    }
  }

  private static List<DamagedImage.Place> places(DamagedImage image) throws IOException {
    List<DamagedImage.Place> places = new ArrayList<>();
    for (int logical = 0; logical < 8; logical++) {
      places.add(image.wholeBlock(image.block("/h", logical)));
    }
    places.add(image.wholeBlock(image.block("/", 0)));
    places.add(image.wholeBlock(image.block("<8>", 0)));
    places.add(image.wholeBlock(image.attributeBlock("/b")));
    for (String file : List.of("/", "/a", "/a", "/b", "/c", "/d", "/d/e", "/d/e/z", "/h")) {
      places.add(image.inode(file));
    }
    return places;
  }

  @Test
  void whatE2fsckFindsWeFind() throws IOException {
    long seed = Seeds.fixed(20_261_201);
    Random random = new Random(seed);
    int damaged = 0;
    for (int i = 0; i < IMAGES; i++) {
      Base base = BASES.get(random.nextInt(BASES.size()));
      DamagedImage image = DamagedImage.copyOf(base.image);
      List<String> changes = new ArrayList<>();
      for (int n = random.nextInt(4) == 0 ? 2 : 1; n > 0; n--) {
        changes.add(change(image, base.places, random));
      }
      damaged += compare(image, "seed " + seed + ", image " + i + ": " + changes) ? 1 : 0;
    }
    assertThat(damaged).isGreaterThan(IMAGES / 10);
  }

  private static String change(DamagedImage image, List<DamagedImage.Place> places, Random random)
      throws IOException {
    DamagedImage.Place place = places.get(random.nextInt(places.size()));
    int offset = random.nextInt(random.nextBoolean() ? 64 : place.length());
    image.edit(place, bytes -> damage(bytes, offset, random));
    return "byte " + offset + " of " + place;
  }

  private static void damage(MemorySegment segment, int offset, Random random) {
    int old = Le.u8(segment, offset);
    int value =
        switch (random.nextInt(4)) {
          case 0 -> 0;
          case 1 -> 0xff;
          case 2 -> random.nextInt(256);
          default -> old ^ 1 << random.nextInt(8);
        };
    Le.put8(segment, offset, value);
  }

  /// True if e2fsck finds an error.
  private static boolean compare(DamagedImage image, String what) throws IOException {
    Oracles.Result result = image.e2fsck();
    FsckReport report = image.check();
    if (result.exitCode() != 0) {
      assertThat(report.exitCode()).as("%s%n%s", what, result.output()).isNotZero();
      return true;
    }
    assertThat(report.findings())
        .as("%s%n%s", what, result.output())
        .allMatch(finding -> finding.problem().warning() || STRICTER.contains(finding.problem()));
    return false;
  }
}
