package dev.extant.fsck;

import dev.extant.ext4.format.DirEntry;
import dev.extant.testkit.Oracles;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Damaged indexes of directories: what e2fsck finds we find.
class FsckIndexTest {
  /// In blocks of 1 KiB: an index of two levels, and of one.
  private static final int NAMES = 4000;

  private static final int NAMES_OF_ONE_LEVEL = 600;

  /// Where the entries of a root begin.
  private static final int ENTRIES = 0x20;

  @TempDir static Path folder;
  private static Path flat;
  private static Path deep;
  private static Path checksummed;

  @BeforeAll
  static void make() throws IOException {
    Oracles.require("mke2fs", "debugfs", "e2fsck");
    flat = indexed("flat", NAMES_OF_ONE_LEVEL, "^metadata_csum");
    checksummed = indexed("checksummed", NAMES_OF_ONE_LEVEL, "metadata_csum");
    deep = indexed("deep", NAMES, "^metadata_csum");
  }

  private static Path indexed(String name, int names, String feature) throws IOException {
    Path tree = Files.createDirectories(folder.resolve(name + "/h"));
    for (int i = 0; i < names; i++) {
      Files.createFile(tree.resolve("a-name-that-fills-the-block-soon-" + i));
    }
    Path image = folder.resolve(name + ".img");
    DamagedImage.make(
        image, tree.getParent(), "-t", "ext4", "-b", 1024, "-N", NAMES + 100, "-O", feature);
    Oracles.run("e2fsck", "-fyD", image).expect(0, 1);
    return image;
  }

  @TestFactory
  List<DynamicTest> undamaged() {
    return List.of(
        new DamageCases(flat).passed("flat", _ -> {}).tests().getFirst(),
        new DamageCases(deep).passed("deep", _ -> {}).tests().getFirst(),
        new DamageCases(checksummed).passed("checksummed", _ -> {}).tests().getFirst());
  }

  private static DamagedImage.Damage block(int logical, Consumer<MemorySegment> change) {
    return image -> image.edit(image.block("/h", logical), change);
  }

  private static DamagedImage.Damage root8(int offset, int value) {
    return block(0, block -> Le.put8(block, offset, value));
  }

  private static DamagedImage.Damage root16(int offset, int value) {
    return block(0, block -> Le.put16(block, offset, value));
  }

  private static DamagedImage.Damage root32(int offset, long value) {
    return block(0, block -> Le.put32(block, offset, value));
  }

  @TestFactory
  List<DynamicTest> root() {
    return new DamageCases(flat)
        .found("reserved field", Problem.HTREE_ROOT, root32(0x18, 1))
        .found("short information", Problem.HTREE_ROOT, root8(0x1D, 7))
        .found("long information", Problem.HTREE_ROOT, root8(0x1D, 9))
        .found("unknown hash", Problem.HTREE_HASH_VERSION, root8(0x1C, 7))
        .found("hash of encrypted names", Problem.HTREE_HASH_VERSION, root8(0x1C, 6))
        .found("unsigned hash", Problem.HTREE_HASH_VERSION, root8(0x1C, 3))
        .found("legacy hash", Problem.HTREE_MAX_HASH, root8(0x1C, 0))
        .found("hash TEA", Problem.HTREE_MIN_HASH, root8(0x1C, 2))
        .found("a level too many", Problem.HTREE_DEPTH, root8(0x1E, 1))
        .found("far too many levels", Problem.HTREE_DEPTH, root8(0x1E, 8))
        .found("incompatible flag", Problem.HTREE_ROOT_FLAG, root8(0x1F, 1))
        .passed("another flag", root8(0x1F, 2))
        .passed("subdirectories not counted", image -> image.debugfs("sif /h links_count 1"))
        .found("links", Problem.LINK_COUNT, image -> image.debugfs("sif /h links_count 3"))
        .tests();
  }

  @TestFactory
  List<DynamicTest> entries() {
    return new DamageCases(flat)
        .found("small limit", Problem.HTREE_LIMIT, root16(ENTRIES, 123))
        .found("large limit", Problem.HTREE_LIMIT, root16(ENTRIES, 500))
        .found("count above limit", Problem.HTREE_COUNT, root16(ENTRIES + 2, 200))
        .found("no entries", Problem.HTREE_COUNT, root16(ENTRIES + 2, 0))
        .found("one entry", Problem.HTREE_UNREFERENCED, root16(ENTRIES + 2, 1))
        .found("a block twice", Problem.HTREE_REFERENCED_TWICE, root32(ENTRIES + 12, 3))
        .found("the root itself", Problem.HTREE_REFERENCED_TWICE, root32(ENTRIES + 12, 0))
        .found("a block outside", Problem.HTREE_BLOCK, root32(ENTRIES + 12, 4096))
        .found("hashes in disorder", Problem.HTREE_ORDER, hash(_ -> 0xf000_0000L))
        .found("hash too high", Problem.HTREE_MIN_HASH, hash(old -> old + 2))
        .passed("hash goes on", hash(old -> old | 1))
        .tests();
  }

  private interface Change {
    long of(long hash);
  }

  private static DamagedImage.Damage hash(Change change) {
    int at = ENTRIES + 8 * 5;
    return block(0, block -> Le.put32(block, at, change.of(Le.u32(block, at))));
  }

  @TestFactory
  List<DynamicTest> leaves() {
    return new DamageCases(flat)
        .found("lost name", Problem.INODE_UNATTACHED, block(3, FsckIndexTest::drop))
        .found(
            "index flag on a file",
            Problem.HTREE_FLAG,
            image -> image.debugfs("write /dev/null /f", "sif /f flags 0x81000"))
        .found(
            "index flag on an ordinary directory",
            Problem.HTREE_ROOT,
            image -> image.debugfs("sif /lost+found flags 0x81000"))
        .passed("no index flag", image -> image.debugfs("sif /h flags 0x80000"))
        .tests();
  }

  /// Makes the first entry unused.
  private static void drop(MemorySegment block) {
    DirEntry.ino(block, 0, 0);
  }

  @TestFactory
  List<DynamicTest> nodes() {
    return new DamageCases(deep)
        .found("levels too few", Problem.HTREE_DEPTH, root8(0x1E, 0))
        .found("levels without large_dir", Problem.HTREE_DEPTH, root8(0x1E, 2))
        .found("node with a wrong limit", Problem.HTREE_DEPTH, node(8, 7))
        .found("node with a wrong count", Problem.HTREE_COUNT, node(10, 5000))
        .found("node with fewer entries", Problem.HTREE_UNREFERENCED, node(10, 2))
        .found("node twice", Problem.HTREE_REFERENCED_TWICE, FsckIndexTest::nodeTwice)
        .tests();
  }

  private static DamagedImage.Damage node(int offset, int value) {
    return image -> {
      int[] logical = new int[1];
      image.edit(image.block("/h", 0), block -> logical[0] = (int) Le.u32(block, ENTRIES + 8 + 4));
      image.edit(image.block("/h", logical[0]), block -> Le.put16(block, offset, value));
    };
  }

  private static void nodeTwice(DamagedImage image) throws IOException {
    image.edit(
        image.block("/h", 0), block -> Le.put32(block, ENTRIES + 12, Le.u32(block, ENTRIES + 4)));
  }

  @TestFactory
  List<DynamicTest> checksums() {
    return new DamageCases(checksummed)
        .found("root", Problem.HTREE_CHECKSUM, hash(old -> old | 1))
        .found(
            "leaf",
            Problem.DIRECTORY_CHECKSUM,
            block(2, block -> Le.put8(block, 8, Le.u8(block, 8) ^ 1)))
        .tests();
  }
}
