package dev.extant.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// Damages one thing in an image: by a command of debugfs, which makes most checksums right again,
/// or by changing bytes ([FsckBits]).
public final class FsckDamages {
  /// What was done, e.g. `sif /large links_count 7`.
  public record Damage(String kind, String description) {}

  private static final String[] INODE_FIELDS = {
    "mode",
    "links_count",
    "size",
    "size_high",
    "blocks",
    "blocks_hi",
    "flags",
    "dtime",
    "file_acl",
    "file_acl_high",
    "extra_isize",
    "faddr",
    "generation",
    "version",
    "block[0]",
    "block[1]",
    "block[2]",
    "block[3]",
    "block[4]",
    "block[5]",
    "block[IND]",
    "block[DIND]",
    "block[TIND]",
    "uid",
    "gid",
    "projid",
    "atime",
    "ctime",
    "checksum"
  };

  private static final String[] SUPERBLOCK_FIELDS = {
    "inodes_count",
    "blocks_count",
    "r_blocks_count",
    "free_blocks_count",
    "free_inodes_count",
    "first_data_block",
    "log_block_size",
    "log_cluster_size",
    "blocks_per_group",
    "clusters_per_group",
    "inodes_per_group",
    "state",
    "rev_level",
    "first_ino",
    "inode_size",
    "feature_compat",
    "feature_incompat",
    "feature_ro_compat",
    "reserved_gdt_blocks",
    "journal_inum",
    "journal_dev",
    "last_orphan",
    "def_hash_version",
    "desc_size",
    "first_meta_bg",
    "min_extra_isize",
    "want_extra_isize",
    "log_groups_per_flex",
    "hash_seed",
    "uuid",
    "errors",
    "flags",
    "jnl_backup_type",
    "usr_quota_inum",
    "grp_quota_inum",
    "prj_quota_inum",
    "backup_bgs[0]",
    "checksum_type",
    "checksum_seed",
    "mmp_block",
    "mmp_interval",
    "overhead_clusters",
    "orphan_file_inum",
    "wtime",
    "mtime",
    "lastcheck",
    "mkfs_time",
    "mnt_count",
    "max_mnt_count",
    "encoding"
  };

  private static final String[] GROUP_FIELDS = {
    "block_bitmap",
    "inode_bitmap",
    "inode_table",
    "free_blocks_count",
    "free_inodes_count",
    "used_dirs_count",
    "flags",
    "itable_unused",
    "block_bitmap_csum",
    "inode_bitmap_csum",
    "checksum"
  };

  private static final String[] FILES = {
    "/",
    "/many",
    "/deep",
    "/deep/er",
    "/deep/er/hello",
    "/large",
    "/one-block",
    "/short",
    "/long",
    "/sparse",
    "/char",
    "/pipe",
    "/lost+found",
    "<7>",
    "<8>",
    "<1>",
    "<3>",
    "<5>",
    "<12>"
  };

  /// `mi` asks for this many fields, one after the other.
  private static final int QUESTIONS = 31;

  private static final String[] PLACES_OF_BYTES = {
    "superblock",
    "descriptors",
    "bitmaps",
    "inodes",
    "directories",
    "indexes",
    "maps",
    "attributes",
    "journal",
    "special files"
  };

  public static final List<String> KINDS =
      java.util.stream.Stream.concat(
              java.util.stream.Stream.of(
                  "sif",
                  "mi",
                  "ssv",
                  "set_bg",
                  "clri",
                  "freeb",
                  "setb",
                  "freei",
                  "seti",
                  "unlink",
                  "kill_file",
                  "rm",
                  "ln",
                  "zap_block, of a file",
                  "zap_block, of metadata",
                  "attributes",
                  "extents"),
              java.util.stream.Stream.of(PLACES_OF_BYTES)
                  .flatMap(
                      place -> java.util.stream.Stream.of("bytes: " + place, "sealed: " + place)))
          .toList();

  private final Path image;
  private final RandomGenerator random;
  private final FsckBits bits;
  private final Map<String, Supplier<String>> commands;

  public FsckDamages(Path image, RandomGenerator random) throws IOException {
    this.image = image;
    this.random = random;
    this.bits = new FsckBits(image, random);
    this.commands =
        Map.ofEntries(
            Map.entry("sif", () -> "sif " + file() + " " + pick(INODE_FIELDS) + " " + value()),
            Map.entry("ssv", () -> "ssv " + pick(SUPERBLOCK_FIELDS) + " " + value()),
            Map.entry("set_bg", this::setGroup),
            Map.entry("clri", () -> "clri " + file()),
            Map.entry("setb", () -> "setb " + bits.anyBlock() + " " + few()),
            Map.entry("freei", () -> "freei " + file()),
            Map.entry("seti", () -> "seti <" + bits.anyInode() + ">"),
            Map.entry("unlink", () -> "unlink " + file()),
            Map.entry("kill_file", () -> "kill_file " + file()),
            Map.entry("rm", () -> "rm " + file()),
            Map.entry("ln", () -> "ln " + file() + " /deep/new"),
            Map.entry("zap_block, of a file", this::zapFile),
            Map.entry("zap_block, of metadata", this::zapMetadata),
            Map.entry("attributes", this::changeAttribute));
  }

  /// Damages the image in that way, one of [#KINDS].
  public Damage damage(String kind) throws IOException {
    if (kind.startsWith("bytes: ") || kind.startsWith("sealed: ")) {
      String place = kind.substring(kind.indexOf(' ') + 1);
      return new Damage(kind, bits.change(place, kind.startsWith("sealed")));
    }
    return switch (kind) {
      case "mi" -> modifyInode();
      case "extents" -> changeExtents();
      case "freeb" -> run(kind, List.of("freeb " + usedBlock() + " " + few()));
      default -> run(kind, List.of(commands.get(kind).get()));
    };
  }

  private Damage run(String kind, List<String> script) throws IOException {
    Debugfs.write(image, script);
    return new Damage(kind, String.join("; ", script));
  }

  private String setGroup() {
    return "set_bg " + bits.anyGroup() + " " + pick(GROUP_FIELDS) + " " + value();
  }

  private String zapFile() {
    String file = pick("/many", "/", "/deep", "/long", "<8>", "<3>", "<12>");
    return "zap_block -f " + file + pattern() + random.nextInt(3);
  }

  private String zapMetadata() {
    return "zap_block" + pattern() + bits.metadataBlock();
  }

  /// Random bytes are changed in the middle of a block, or it is filled.
  private String pattern() {
    String pattern = " -p " + random.nextInt(256);
    return switch (random.nextInt(3)) {
      case 0 -> pattern + " ";
      case 1 -> pattern + " -o " + 4 * random.nextInt(60) + " -l " + few() * 4 + " ";
      default -> " -o " + random.nextInt(250) + " -l " + few() + " ";
    };
  }

  private String changeAttribute() {
    String file = file();
    return switch (random.nextInt(4)) {
      case 0 -> "ea_rm " + file + " user.big";
      case 1 -> "ea_rm " + file + " user.large";
      case 2 -> "ea_set " + file + " user.other " + "o".repeat(1 + random.nextInt(100));
      default -> "ea_set " + file + " system.data value";
    };
  }

  /// Changes one extent with the editor of debugfs, which lets much pass.
  private Damage changeExtents() throws IOException {
    String file = pick("/large", "/sparse", "/many", "/one-block", "/deep");
    String go = pick("root", "down", "next", "next_leaf", "last_leaf", "last_sib");
    String edit =
        switch (random.nextInt(6)) {
          case 0 -> "delete_node";
          case 1 -> "insert_node " + edge() + " " + few() + " " + bits.anyBlock();
          case 2 -> "replace_node " + edge() + " " + few() + " " + bits.anyBlock();
          case 3 -> "set_bmap " + edge() + " " + bits.anyBlock();
          case 4 -> "replace_node --uninit " + edge() + " " + few() + " " + bits.anyBlock();
          default -> "split_node";
        };
    return run("extents", List.of("eo " + file, "root", "down", go, edit, "extent_close"));
  }

  private int edge() {
    return random.nextInt(4) == 0 ? random.nextInt() >>> 1 : random.nextInt(400);
  }

  /// Answers the questions of `mi`, all but one by what is there already.
  private Damage modifyInode() throws IOException {
    String file = file();
    int question = random.nextInt(QUESTIONS);
    String value = value();
    Path answers = Files.createTempFile("extant-debugfs", ".in");
    try {
      Files.writeString(
          answers, "\n".repeat(question) + value + "\n".repeat(QUESTIONS - question + 1));
      String debugfs = Oracles.find("debugfs").orElseThrow().toString();
      String command = "'%s' -w -R 'mi %s' '%s' < '%s'".formatted(debugfs, file, image, answers);
      Oracles.run(List.of("/bin/sh", "-c", command), Map.of());
    } finally {
      Files.delete(answers);
    }
    return new Damage("mi", "mi " + file + ", answer " + question + ": " + value);
  }

  private String pick(String... among) {
    return among[random.nextInt(among.length)];
  }

  private String file() {
    return pick(FILES);
  }

  private int few() {
    return 1 + random.nextInt(3);
  }

  private String value() {
    return switch (random.nextInt(8)) {
      case 0 -> "0";
      case 1 -> "1";
      case 2 -> "0xffff";
      case 3 -> "0x80000000";
      case 4 -> Long.toString(bits.anyBlock());
      case 5 -> Long.toString(1L << random.nextInt(31));
      case 6 -> Integer.toString(random.nextInt(64));
      default -> Long.toString(random.nextLong(0xffff_ffffL));
    };
  }

  private long usedBlock() throws IOException {
    List<Long> blocks = bits.blocks(pick("/large", "/many", "/sparse", "/one-block"));
    return blocks.isEmpty() ? 1 : blocks.get(random.nextInt(blocks.size()));
  }
}
