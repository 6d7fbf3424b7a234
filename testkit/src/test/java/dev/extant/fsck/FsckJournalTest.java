package dev.extant.fsck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.testkit.Oracles;
import dev.extant.util.Be;
import dev.extant.util.Le;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/// Damaged journals, orphans and inodes of quotas: what e2fsck finds we find.
class FsckJournalTest {
  @TempDir static Path folder;
  private static Path journal;

  /// With an orphan file, which is inode 12.
  private static Path orphans;

  private static Path checksummed;
  private static Path quotas;

  @BeforeAll
  static void make() throws IOException {
    Oracles.require("mke2fs", "debugfs", "e2fsck");
    Path tree = Files.createDirectories(folder.resolve("tree"));
    Files.writeString(tree.resolve("a"), "a");
    journal = image("journal.img", tree, "^metadata_csum");
    orphans = image("orphans.img", tree, "orphan_file,^metadata_csum");
    checksummed = image("checksummed.img", tree, "orphan_file,metadata_csum");
    quotas = image("quotas.img", tree, "quota");
    Oracles.run("e2fsck", "-fy", quotas).expect(1);
  }

  private static Path image(String name, Path tree, String features) throws IOException {
    return DamagedImage.make(folder.resolve(name), tree, "-t", "ext4", "-b", 1024, "-O", features);
  }

  @TestFactory
  List<DynamicTest> undamaged() {
    return List.of(
        new DamageCases(journal).passed("journal", _ -> {}).tests().getFirst(),
        new DamageCases(orphans).passed("orphan file", _ -> {}).tests().getFirst(),
        new DamageCases(checksummed).passed("checksums", _ -> {}).tests().getFirst(),
        new DamageCases(quotas).passed("quotas", _ -> {}).tests().getFirst());
  }

  private static DamagedImage.Damage superblock(int offset, long value) {
    return image -> image.edit(image.block("<8>", 0), block -> Be.put32(block, offset, value));
  }

  private static DamagedImage.Damage debugfs(String... commands) {
    return image -> image.debugfs(commands);
  }

  @TestFactory
  List<DynamicTest> superblocks() {
    return new DamageCases(journal)
        .found("magic number", Problem.JOURNAL_SUPERBLOCK, superblock(0, 1))
        .found("type", Problem.JOURNAL_SUPERBLOCK, superblock(4, 5))
        .passed("version 1", superblock(4, 3))
        .found("block size", Problem.JOURNAL_SUPERBLOCK, superblock(12, 2048))
        .found("longer than its file", Problem.JOURNAL_SUPERBLOCK, superblock(16, 5000))
        .foundByUsOnly("short", Problem.JOURNAL_SHORT, superblock(16, 500))
        .foundByUsOnly("empty", Problem.JOURNAL_PLACES, superblock(16, 0))
        .foundByUsOnly("starts outside", Problem.JOURNAL_PLACES, superblock(28, 5000))
        .foundByUsOnly("has data", Problem.JOURNAL_RECOVERY_FLAG, superblock(28, 1))
        .found("unknown feature", Problem.JOURNAL_FEATURES, superblock(40, 0x40))
        .found("unknown ro feature", Problem.JOURNAL_FEATURES, superblock(44, 1))
        .found("checksum of version 2", Problem.JOURNAL_SUPERBLOCK, superblock(40, 8))
        .found("two kinds of checksums", Problem.JOURNAL_SUPERBLOCK, superblock(40, 0x18))
        .found("two users", Problem.JOURNAL_SUPERBLOCK, superblock(64, 2))
        .tests();
  }

  @TestFactory
  List<DynamicTest> inodes() {
    return new DamageCases(journal)
        .found("another inode", Problem.JOURNAL_INODE, debugfs("ssv journal_inum 9"))
        .found("no inode", Problem.JOURNAL_INODE, debugfs("ssv journal_inum 0"))
        .found("far inode", Problem.JOURNAL_INODE, debugfs("ssv journal_inum 4000000"))
        .found("deleted", Problem.JOURNAL_INODE, debugfs("sif <8> links_count 0"))
        .found("a directory", Problem.JOURNAL_INODE, debugfs("sif <8> mode 040755"))
        .found("short", Problem.JOURNAL_INODE, debugfs("sif <8> size 10240"))
        .found("long", Problem.JOURNAL_INODE, debugfs("sif <8> size 2000000"))
        .found("cleared", Problem.JOURNAL_INODE, debugfs("clri <8>"))
        .tests();
  }

  @Test
  void journalOnAnotherDeviceCannotBeChecked() throws IOException {
    DamagedImage image = DamagedImage.copyOf(journal);
    image.debugfs("clri <8>", "ssv journal_inum 0", "ssv journal_dev 0x801");
    FsckReport report = image.check();
    assertThat(report.notChecked()).contains("another device");
    assertThat(report.exitCode() & FsckReport.CANNOT_CHECK).isNotZero();
  }

  @TestFactory
  List<DynamicTest> orphanList() {
    return new DamageCases(journal)
        .foundByUsOnly("a file in use", Problem.ORPHANS_LEFT, debugfs("ssv last_orphan 12"))
        .foundByUsOnly("far inode", Problem.ORPHAN_LIST, debugfs("ssv last_orphan 4000000"))
        .foundByUsOnly("free inode", Problem.ORPHAN_LIST, debugfs("ssv last_orphan 500"))
        .found(
            "itself",
            Problem.ORPHAN_LIST,
            debugfs("ssv last_orphan 12", "sif /a dtime @12", "sif /a links_count 1"))
        .found(
            "deleted but there",
            Problem.INODE_ORPHANED,
            debugfs("ssv last_orphan 12", "sif /a links_count 0", "sif /a dtime @11"))
        .tests();
  }

  private static DamagedImage.Damage orphanBlock(int offset, long value) {
    return image -> image.edit(image.block("<12>", 0), block -> Le.put32(block, offset, value));
  }

  @TestFactory
  List<DynamicTest> orphanFile() {
    return new DamageCases(orphans)
        .found("an inode", Problem.ORPHAN_FILE, orphanBlock(0, 13))
        .found("a far inode", Problem.ORPHAN_FILE, orphanBlock(4, 5_000_000))
        .found("magic number", Problem.ORPHAN_FILE, orphanBlock(1016, 1))
        .found("checksum without feature", Problem.ORPHAN_FILE, orphanBlock(1020, 1))
        .found("present", Problem.ORPHAN_FILE, debugfs("feature orphan_present"))
        .found("no regular file", Problem.ORPHAN_FILE, debugfs("sif <12> mode 040755"))
        .found("size", Problem.ORPHAN_FILE, debugfs("sif <12> size 1500"))
        .found("far", Problem.ORPHAN_FILE, debugfs("ssv orphan_file_inum 130000"))
        .found("with an entry", Problem.ENTRY_INODE, debugfs("ln <12> /file"))
        .found("without feature", Problem.INODE_UNATTACHED, debugfs("feature -orphan_file"))
        .tests();
  }

  @TestFactory
  List<DynamicTest> orphanFileWithChecksum() {
    return new DamageCases(checksummed)
        .found("checksum", Problem.ORPHAN_FILE, orphanBlock(1020, 1))
        .found("slot", Problem.ORPHAN_FILE, orphanBlock(0, 13))
        .tests();
  }

  @TestFactory
  List<DynamicTest> quotaInodes() {
    return new DamageCases(quotas)
        .found("far", Problem.QUOTA_INODE, debugfs("ssv usr_quota_inum 100000"))
        .found("free", Problem.QUOTA_INODE, debugfs("ssv grp_quota_inum 1000"))
        .found("a directory", Problem.QUOTA_INODE, debugfs("sif <3> mode 040755"))
        .found("cleared", Problem.QUOTA_INODE, debugfs("clri <3>"))
        .found("owner", Problem.QUOTA_USAGE, debugfs("sif <11> uid 70000"))
        .found("group", Problem.QUOTA_USAGE, debugfs("sif <2> gid 5"))
        .found("version", Problem.QUOTA_FILE, quotaBlock(0, 4, 9))
        .found("length", Problem.QUOTA_FILE, quotaBlock(0, 20, 1000))
        .found("reference", Problem.QUOTA_FILE, quotaBlock(1, 4, 1000))
        .found("no entry", Problem.QUOTA_USAGE, quotaBlock(1, 0, 0))
        .found("inodes", Problem.QUOTA_USAGE, quotaBlock(5, 40, 77))
        .passed("magic number", quotaBlock(0, 0, 1))
        .passed("limit", quotaBlock(5, 32, 1_000_000))
        .passed("a tree that bites its tail", quotaBlock(1, 8, 1))
        .tests();
  }

  /// Writes a word into a block of the file of user quotas, which has blocks of 1 KiB.
  private static DamagedImage.Damage quotaBlock(int logical, int offset, int word) {
    return image -> image.edit(image.block("<3>", logical), block -> Le.put32(block, offset, word));
  }
}
