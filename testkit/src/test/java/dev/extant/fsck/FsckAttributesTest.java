package dev.extant.fsck;

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

/// Damaged extended attributes, inline data and inodes of values: what e2fsck finds we find.
class FsckAttributesTest {
  /// Where the attributes in an inode begin, with the usual 32 bytes of further fields, and where
  /// those in a block do.
  private static final int IN_INODE = 160;

  private static final int FIRST_IN_INODE = 164;
  private static final int FIRST_IN_BLOCK = 32;

  @TempDir static Path folder;

  /// `/small` has an attribute in the inode, `/large` one in a block, no checksums.
  private static Path plain;

  private static Path checksummed;

  /// `/text` and `/dir` lie in their inodes.
  private static Path inline;

  /// `/first` and `/second` have values in inodes of their own.
  private static Path values;

  @BeforeAll
  static void make() throws IOException {
    Oracles.require("mke2fs", "debugfs", "e2fsck");
    Path tree = Files.createDirectories(folder.resolve("tree"));
    Files.createFile(tree.resolve("small"));
    Files.createFile(tree.resolve("large"));
    Files.writeString(tree.resolve("text"), "short");
    Files.createDirectory(tree.resolve("dir"));
    Files.createFile(tree.resolve("dir/f1"));
    Files.createFile(tree.resolve("dir/f2"));
    plain = attributes("plain.img", tree, "^metadata_csum", 300);
    checksummed = attributes("checksummed.img", tree, "metadata_csum", 300);
    values = attributes("values.img", tree, "ea_inode,^metadata_csum", 2000);
    inline =
        DamagedImage.make(
            folder.resolve("inline.img"),
            tree,
            "-t",
            "ext4",
            "-b",
            1024,
            "-O",
            "inline_data,^metadata_csum");
  }

  private static Path attributes(String name, Path tree, String features, int length)
      throws IOException {
    Path image =
        DamagedImage.make(folder.resolve(name), tree, "-t", "ext4", "-b", 1024, "-O", features);
    Path value = Files.writeString(folder.resolve("value"), "v".repeat(length));
    Path script =
        Files.write(
            folder.resolve("script"),
            List.of("ea_set /small user.small hello", "ea_set -f " + value + " /large user.large"));
    Oracles.run("debugfs", "-w", "-f", script, image).expect(0);
    Oracles.run("e2fsck", "-fy", image).expect(0, 1);
    return image;
  }

  @TestFactory
  List<DynamicTest> undamaged() {
    return List.of(
        new DamageCases(plain).passed("plain", _ -> {}).tests().getFirst(),
        new DamageCases(checksummed).passed("checksummed", _ -> {}).tests().getFirst(),
        new DamageCases(values).passed("values", _ -> {}).tests().getFirst(),
        new DamageCases(inline).passed("inline", _ -> {}).tests().getFirst());
  }

  private static DamagedImage.Damage inInode(int offset, int width, long value) {
    return image -> image.editInode("/small", inode -> put(inode, offset, width, value));
  }

  private static DamagedImage.Damage inBlock(int offset, int width, long value) {
    return image ->
        image.edit(image.attributeBlock("/large"), block -> put(block, offset, width, value));
  }

  private static void put(MemorySegment segment, int offset, int width, long value) {
    switch (width) {
      case 1 -> Le.put8(segment, offset, (int) value);
      case 2 -> Le.put16(segment, offset, (int) value);
      default -> Le.put32(segment, offset, value);
    }
  }

  @TestFactory
  List<DynamicTest> attributesInTheInode() {
    int first = FIRST_IN_INODE;
    return new DamageCases(plain)
        .passed("no magic number", inInode(IN_INODE, 4, 0))
        .found("shorter name", Problem.XATTR_CORRUPT, inInode(first, 1, 0))
        .found("name behind the end", Problem.XATTR_CORRUPT, inInode(first, 1, 200))
        .passed("unknown name space", inInode(first + 1, 1, 77))
        .found("value in the entry", Problem.XATTR_CORRUPT, inInode(first + 2, 2, 10))
        .found("value behind the end", Problem.XATTR_VALUE_SIZE, inInode(first + 2, 2, 4000))
        .found("long value", Problem.XATTR_VALUE_SIZE, inInode(first + 8, 4, 2000))
        .found("endless value", Problem.XATTR_VALUE_SIZE, inInode(first + 8, 4, 0xffff_ffffL))
        .found("value in an inode", Problem.XATTR_VALUE_INODE, inInode(first + 4, 4, 12))
        .found("hash", Problem.XATTR_HASH, inInode(first + 12, 4, 4660))
        .found("odd size of the inode", Problem.INODE_EXTRA_SIZE, inInode(128, 2, 30))
        .tests();
  }

  @TestFactory
  List<DynamicTest> attributesInABlock() {
    int first = FIRST_IN_BLOCK;
    return new DamageCases(plain)
        .found("magic number", Problem.XATTR_BLOCK_MAGIC, inBlock(0, 4, 0))
        .found("too many users", Problem.XATTR_REFCOUNT, inBlock(4, 4, 2))
        .found("no user", Problem.XATTR_REFCOUNT, inBlock(4, 4, 0))
        .found("two blocks", Problem.XATTR_BLOCK_COUNT, inBlock(8, 4, 2))
        .passed("hash of the block", inBlock(12, 4, 2))
        .found("other name", Problem.XATTR_HASH, inBlock(first + 16, 1, 'x'))
        .found("value in the header", Problem.XATTR_CORRUPT, inBlock(first + 2, 2, 4))
        .found("value behind the end", Problem.XATTR_VALUE_SIZE, inBlock(first + 2, 2, 1000))
        .found("long value", Problem.XATTR_VALUE_SIZE, inBlock(first + 8, 4, 5000))
        .found("hash", Problem.XATTR_HASH, inBlock(first + 12, 4, 5000))
        .found("no hash", Problem.XATTR_HASH, inBlock(first + 12, 4, 0))
        .found("no name space", Problem.XATTR_CORRUPT, inBlock(first + 1, 1, 0))
        .found("an entry more", Problem.XATTR_CORRUPT, inBlock(first + 16 + 8 + 2, 2, 48))
        .found(
            "block outside",
            Problem.XATTR_BLOCK_NUMBER,
            image -> image.debugfs("sif /large file_acl 2000000"))
        .found(
            "a second user",
            Problem.XATTR_REFCOUNT,
            image -> image.debugfs("sif /text file_acl " + image.attributeBlock("/large")))
        .tests();
  }

  @TestFactory
  List<DynamicTest> checksums() {
    return new DamageCases(checksummed)
        .found("block", Problem.XATTR_BLOCK_CHECKSUM, inBlock(900, 1, 7))
        .found("users", Problem.XATTR_BLOCK_CHECKSUM, inBlock(4, 4, 2))
        .found("inode", Problem.INODE_CHECKSUM, inInode(FIRST_IN_INODE + 16, 1, 'x'))
        .tests();
  }

  /// debugfs has put the attribute with the large value into the inode.
  @TestFactory
  List<DynamicTest> valuesInInodes() {
    return new DamageCases(values)
        .found("other users", Problem.EA_INODE_REFCOUNT, holder("version 7"))
        .found("flag missing", Problem.XATTR_VALUE_INODE_FLAG, holder("flags 0x80000"))
        .found("holder deleted", Problem.XATTR_VALUE_INODE, holder("links_count 0"))
        .found("other hash", Problem.XATTR_HASH, holder("atime 12345"))
        .foundByUs("in a directory", Problem.ENTRY_EA_INODE, FsckAttributesTest::enterHolder)
        .found(
            "nobody's",
            Problem.INODE_UNATTACHED,
            image -> image.editInode("/large", inode -> put(inode, IN_INODE, 4, 0)))
        .found(
            "far away",
            Problem.XATTR_VALUE_INODE,
            image -> image.editInode("/large", inode -> put(inode, FIRST_IN_INODE + 4, 4, 9999)))
        .tests();
  }

  private static long holderOf(DamagedImage image) throws IOException {
    long[] ino = new long[1];
    image.editInode("/large", inode -> ino[0] = Le.u32(inode, FIRST_IN_INODE + 4));
    return ino[0];
  }

  private static DamagedImage.Damage holder(String change) {
    return image -> image.debugfs("sif <" + holderOf(image) + "> " + change);
  }

  private static void enterHolder(DamagedImage image) throws IOException {
    image.debugfs("ln <" + holderOf(image) + "> /holder");
  }

  private static DamagedImage.Damage inode(String file, Consumer<MemorySegment> change) {
    return image -> image.editInode(file, change);
  }

  @TestFactory
  List<DynamicTest> inlineData() {
    int parent = 40;
    int entries = 44;
    return new DamageCases(inline)
        .found("no attribute", Problem.INLINE_DATA_MISSING, dir("/text", IN_INODE, 4, 0))
        .found("directory without", Problem.INLINE_DATA_MISSING, dir("/dir", IN_INODE, 4, 0))
        .found("parent", Problem.DIRECTORY_PARENT, dir("/dir", parent, 4, 0))
        .found("parent outside", Problem.ENTRY_INODE, dir("/dir", parent, 4, 100_000))
        .found("short record", Problem.DIRECTORY_CORRUPT, dir("/dir", entries + 4, 2, 8))
        .found("record behind", Problem.DIRECTORY_CORRUPT, dir("/dir", entries + 16, 2, 60))
        .found("lost entry", Problem.INODE_UNATTACHED, dir("/dir", entries, 4, 0))
        .found("size", Problem.INLINE_SIZE, image -> image.debugfs("sif /dir size 64"))
        .passed("size of a file", image -> image.debugfs("sif /text size 64"))
        .found("blocks", Problem.INODE_BLOCK_COUNT, image -> image.debugfs("sif /text blocks 2"))
        .found(
            "index flag", Problem.HTREE_FLAG, image -> image.debugfs("sif /dir flags 0x10001000"))
        .found(
            "encrypted without a policy",
            Problem.ENCRYPTION_CONTEXT_MISSING,
            image -> image.debugfs("feature encrypt", "sif /text flags 0x10000800"))
        .tests();
  }

  private static DamagedImage.Damage dir(String file, int offset, int width, long value) {
    return inode(file, inode -> put(inode, offset, width, value));
  }
}
