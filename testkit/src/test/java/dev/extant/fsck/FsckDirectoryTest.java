package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Damaged directories, links and trees: what e2fsck finds we find.
class FsckDirectoryTest {
  @TempDir static Path folder;

  /// No checksums, so that raw bytes can be changed.
  private static Path plain;

  private static Path checksummed;
  private static Path old;

  @BeforeAll
  static void make() throws IOException {
    Oracles.require("mke2fs", "debugfs", "e2fsck");
    Path tree = Files.createDirectory(folder.resolve("tree"));
    Files.writeString(tree.resolve("a"), "a");
    Files.createDirectories(tree.resolve("d/e/f"));
    Files.writeString(tree.resolve("d/b"), "b");
    Files.writeString(tree.resolve("d/long-name"), "c");
    Files.createDirectory(tree.resolve("big"));
    for (int i = 0; i < 100; i++) {
      Files.createFile(tree.resolve("big/a-name-that-takes-some-room-" + i));
    }
    plain =
        DamagedImage.make(
            folder.resolve("plain.img"), tree, "-t", "ext4", "-b", 1024, "-O", "^metadata_csum");
    checksummed =
        DamagedImage.make(folder.resolve("checksummed.img"), tree, "-t", "ext4", "-b", 4096);
    old =
        DamagedImage.make(
            folder.resolve("old.img"), tree, "-t", "ext2", "-O", "^filetype,^dir_index");
  }

  @Test
  void undamagedImagesAreClean() throws IOException {
    for (Path base : List.of(plain, checksummed, old)) {
      DamagedImage.copyOf(base).assertClean();
    }
  }

  private static DamagedImage.Damage entry(String name, int offset, int width, long value) {
    return image -> image.editEntry("/d", name, entry -> put(entry, offset, width, value));
  }

  private static void put(MemorySegment segment, int offset, int width, long value) {
    switch (width) {
      case 1 -> Le.put8(segment, offset, (int) value);
      case 2 -> Le.put16(segment, offset, (int) value);
      default -> Le.put32(segment, offset, value);
    }
  }

  private static DamagedImage.Damage debugfs(String... commands) {
    return image -> image.debugfs(commands);
  }

  @TestFactory
  List<DynamicTest> firstTwoEntries() {
    return new DamageCases(plain)
        .found(". of another inode", Problem.DIRECTORY_DOT_INODE, entry(".", 0, 4, 12))
        .found(". unused", Problem.DIRECTORY_NO_DOT, entry(".", 0, 4, 0))
        .found(". with another name", Problem.DIRECTORY_NO_DOT, entry(".", 8, 1, 'A'))
        .found(". not terminated", Problem.DIRECTORY_DOT_NAME, entry(".", 9, 1, 'X'))
        .found(". of another type", Problem.ENTRY_TYPE, entry(".", 7, 1, 1))
        .passed(". of no type", entry(".", 7, 1, 0))
        .found(".. of a file", Problem.DIRECTORY_PARENT, entry("..", 0, 4, 12))
        .found(".. unused", Problem.DIRECTORY_NO_DOT_DOT, entry("..", 0, 4, 0))
        .found(".. not terminated", Problem.DIRECTORY_DOT_NAME, entry("..", 10, 1, 'X'))
        .found(".. outside", Problem.ENTRY_INODE, entry("..", 0, 4, 1_000_000))
        .found("a second .", Problem.ENTRY_DUPLICATE, entry("b", 8, 1, '.'))
        .tests();
  }

  @TestFactory
  List<DynamicTest> entries() {
    return new DamageCases(plain)
        .found("wrong type", Problem.ENTRY_TYPE, entry("b", 7, 1, 5))
        .found("unknown type", Problem.ENTRY_TYPE, entry("b", 7, 1, 9))
        .passed("no type", entry("b", 7, 1, 0))
        .found("slash", Problem.ENTRY_NAME, entry("b", 8, 1, '/'))
        .found("zero", Problem.ENTRY_NAME, entry("b", 8, 1, 0))
        .found("no name", Problem.ENTRY_NO_NAME, entry("b", 6, 1, 0))
        .found("name longer than its record", Problem.DIRECTORY_CORRUPT, entry("b", 6, 1, 5))
        .found("short record", Problem.DIRECTORY_CORRUPT, entry("b", 4, 2, 8))
        .found("odd record", Problem.DIRECTORY_CORRUPT, entry("b", 4, 2, 14))
        .found("record of nothing", Problem.DIRECTORY_CORRUPT, entry("b", 4, 2, 0))
        .found("record behind the end", Problem.DIRECTORY_CORRUPT, entry("b", 4, 2, 1020))
        .found("reserved inode", Problem.ENTRY_INODE, entry("b", 0, 4, 5))
        .found("the journal", Problem.ENTRY_INODE, entry("b", 0, 4, 8))
        .found("inode outside", Problem.ENTRY_INODE, entry("b", 0, 4, 0xffff_ffffL))
        .found("free inode", Problem.ENTRY_UNUSED_INODE, entry("b", 0, 4, 1500))
        .found("unused, file lost", Problem.INODE_UNATTACHED, entry("b", 0, 4, 0))
        .found("twice the same name", Problem.ENTRY_DUPLICATE, FsckDirectoryTest::duplicate)
        .tests();
  }

  private static void duplicate(DamagedImage image) throws IOException {
    image.editEntry(
        "/d",
        "long-name",
        entry -> {
          put(entry, 6, 1, 1);
          put(entry, 8, 1, 'b');
        });
  }

  @TestFactory
  List<DynamicTest> blocks() {
    return new DamageCases(plain)
        .found("zeroes", Problem.DIRECTORY_CORRUPT, image -> fill(image, 0))
        .found("ones", Problem.DIRECTORY_CORRUPT, image -> fill(image, 0xff))
        .found("size too small", Problem.INODE_SIZE, debugfs("sif /d size 0"))
        .found("size too large", Problem.INODE_SIZE, debugfs("sif /d size 2048"))
        .found("size no multiple", Problem.INODE_SIZE, debugfs("sif /d size 1500"))
        .found("a hole", Problem.DIRECTORY_HOLE, debugfs("punch /big 2 2"))
        .found("no block", Problem.DIRECTORY_EMPTY, debugfs("punch /d 0 0"))
        .tests();
  }

  private static void fill(DamagedImage image, int octet) throws IOException {
    image.edit(image.block("/d", 0), block -> block.fill((byte) octet));
  }

  @TestFactory
  List<DynamicTest> blocksWithChecksums() {
    return new DamageCases(checksummed)
        .found(
            "a changed name",
            Problem.DIRECTORY_CHECKSUM,
            image -> image.editEntry("/d", "long-name", entry -> put(entry, 8, 1, 'm')))
        .found(
            "a changed checksum",
            Problem.DIRECTORY_CHECKSUM,
            image -> image.edit(image.block("/d", 0), block -> put(block, 4092, 4, 7)))
        .found(
            "no tail",
            Problem.DIRECTORY_NO_CHECKSUM,
            image -> image.edit(image.block("/d", 0), block -> put(block, 4091, 1, 0)))
        .found("zapped", Problem.DIRECTORY_CORRUPT, debugfs("zap_block -f /d 0"))
        .tests();
  }

  @TestFactory
  List<DynamicTest> entriesWithoutTypes() {
    return new DamageCases(old)
        .found("a type all the same", Problem.ENTRY_TYPE, entry("b", 7, 1, 1))
        .found("wrong inode", Problem.ENTRY_INODE, entry("b", 0, 4, 7))
        .found("lost", Problem.INODE_UNATTACHED, debugfs("unlink /a"))
        .tests();
  }

  @TestFactory
  List<DynamicTest> links() {
    return new DamageCases(checksummed)
        .found("file with too many", Problem.LINK_COUNT, debugfs("sif /a links_count 2"))
        .found("file with none", Problem.ENTRY_UNUSED_INODE, debugfs("sif /a links_count 0"))
        .found("file with too few", Problem.LINK_COUNT, debugfs("ln /a /d/second"))
        .found("file without entry", Problem.INODE_UNATTACHED, debugfs("unlink /a"))
        .found("directory with too many", Problem.LINK_COUNT, debugfs("sif /d links_count 9"))
        .found("directory with one", Problem.LINK_COUNT, debugfs("sif /d links_count 1"))
        .found("directory removed", Problem.ENTRY_UNUSED_INODE, debugfs("clri /d"))
        .passed("no lost+found", debugfs("rmdir /lost+found"))
        .tests();
  }

  @TestFactory
  List<DynamicTest> tree() {
    return new DamageCases(checksummed)
        .found("no entry", Problem.DIRECTORY_UNCONNECTED, debugfs("unlink /d"))
        .found("two entries", Problem.DIRECTORY_LINKED_TWICE, debugfs("ln /d /second"))
        .found("two below each other", Problem.DIRECTORY_LINKED_TWICE, debugfs("ln /d /d/e/d"))
        .found("the root", Problem.ENTRY_LINK_TO_DIRECTORY, debugfs("ln / /d/root"))
        .found("itself", Problem.ENTRY_LINK_TO_DIRECTORY, debugfs("ln /d /d/self"))
        .found(
            "a loop beside the root",
            Problem.DIRECTORY_UNCONNECTED,
            debugfs("ln /d /d/e/f/d", "unlink /d"))
        .found(
            "moved without telling",
            Problem.DIRECTORY_PARENT,
            debugfs("ln /d/e /big/e", "unlink /d/e"))
        .found("the root is gone", Problem.ROOT_NOT_DIRECTORY, debugfs("sif / mode 0100644"))
        .tests();
  }

  /// One finding for each of forty loops.
  @Test
  void everyLoopIsFound() throws IOException {
    DamagedImage image = DamagedImage.copyOf(checksummed);
    String[] commands = new String[160];
    for (int i = 0; i < 40; i++) {
      commands[i] = "mkdir /x" + i;
      commands[40 + i] = "mkdir /x" + i + "/y";
      commands[80 + i] = "ln /x" + i + " /x" + i + "/y/x";
      commands[120 + i] = "unlink /x" + i;
    }
    image.debugfs(commands);
    FsckReport report = image.check();
    assertThat(report.findings())
        .filteredOn(finding -> finding.problem() == Problem.DIRECTORY_UNCONNECTED)
        .hasSize(40);
  }
}
