package dev.extant.testkit;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupDescriptor;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Le;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Damages one thing in an image: a field by debugfs, which makes checksums right again, or bits,
/// which does not.
public final class FsckDamages {
  /// What was done, e.g. `sif <12> links_count 7`.
  public record Damage(String kind, String description) {}

  private static final String[] INODE_FIELDS = {
    "mode",
    "links_count",
    "size",
    "blocks",
    "flags",
    "dtime",
    "file_acl",
    "extra_isize",
    "faddr",
    "generation",
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
    "atime",
    "checksum"
  };

  private static final String[] SUPERBLOCK_FIELDS = {
    "inodes_count", "blocks_count", "r_blocks_count", "free_blocks_count", "free_inodes_count",
    "first_data_block", "log_block_size", "blocks_per_group", "inodes_per_group", "state",
    "rev_level", "first_ino", "inode_size", "feature_compat", "feature_incompat",
    "feature_ro_compat", "reserved_gdt_blocks", "journal_inum", "last_orphan", "def_hash_version",
    "desc_size", "first_meta_bg", "min_extra_isize", "want_extra_isize", "log_groups_per_flex",
    "hash_seed", "errors"
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
    "<5>"
  };

  public static final List<String> KINDS =
      List.of(
          "sif",
          "ssv",
          "set_bg",
          "clri",
          "freeb",
          "setb",
          "freei",
          "seti",
          "unlink",
          "ln",
          "zap",
          "bits: superblock",
          "bits: descriptors",
          "bits: bitmaps",
          "bits: inodes",
          "bits: directories",
          "bits: maps and attributes");

  private final Path image;
  private final RandomGenerator random;
  private final MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
  private final Geometry geometry;

  public FsckDamages(Path image, RandomGenerator random) throws IOException {
    this.image = image;
    this.random = random;
    try (FileChannel channel = FileChannel.open(image)) {
      channel.read(sb.asByteBuffer(), Superblock.OFFSET);
      this.geometry = Superblock.geometry(sb, channel.size());
    }
  }

  /// Damages the image in that way.
  public Damage damage(String kind) throws IOException {
    return switch (kind) {
      case "bits: superblock" -> flip(kind, Superblock.OFFSET, Superblock.SIZE);
      case "bits: descriptors" -> {
        GroupLayout layout = new GroupLayout(sb, geometry);
        int group = random.nextInt(geometry.groupCount());
        long at = layout.descriptorBlockNr(group) * geometry.blockSizeBytes();
        yield flip(kind, at + layout.descriptorOffset(group), geometry.descriptorSizeBytes());
      }
      case "bits: bitmaps" -> {
        MemorySegment descriptor = descriptor();
        long blockNr =
            random.nextBoolean()
                ? GroupDescriptor.blockBitmap(descriptor)
                : GroupDescriptor.inodeBitmap(descriptor);
        yield flip(kind, blockNr * geometry.blockSizeBytes(), geometry.inodesPerGroup() / 8);
      }
      case "bits: inodes" -> {
        long ino = inode(file());
        yield flip(kind, inodeOffset(ino), Math.min(160, geometry.inodeSizeBytes()));
      }
      case "bits: directories" -> flipIn(kind, blocks(random.nextBoolean() ? "/many" : "/"));
      case "bits: maps and attributes" -> flipIn(kind, mapBlocks());
      default -> byDebugfs(kind);
    };
  }

  private Damage byDebugfs(String kind) throws IOException {
    String command =
        switch (kind) {
          case "sif" -> "sif " + file() + " " + pick(INODE_FIELDS) + " " + value();
          case "ssv" -> "ssv " + pick(SUPERBLOCK_FIELDS) + " " + value();
          case "set_bg" -> "set_bg " + group() + " " + pick(GROUP_FIELDS) + " " + value();
          case "clri" -> "clri " + file();
          case "freeb" -> "freeb " + usedBlock() + " " + (1 + random.nextInt(3));
          case "setb" -> "setb " + anyBlock() + " " + (1 + random.nextInt(3));
          case "freei" -> "freei " + file();
          case "seti" -> "seti <" + (1 + random.nextLong(geometry.inodesCount())) + ">";
          case "unlink" -> "unlink " + file();
          case "ln" -> "ln " + file() + " /deep/new";
          case "zap" ->
              "zap_block -f "
                  + (random.nextBoolean() ? "/many" : "/")
                  + " -p "
                  + random.nextInt(256)
                  + " "
                  + random.nextInt(3);
          default -> throw new IllegalArgumentException(kind);
        };
    Debugfs.write(image, List.of(command));
    return new Damage(kind, command);
  }

  private String pick(String[] among) {
    return among[random.nextInt(among.length)];
  }

  private String file() {
    return pick(FILES);
  }

  private int group() {
    return random.nextInt(geometry.groupCount());
  }

  private String value() {
    return switch (random.nextInt(8)) {
      case 0 -> "0";
      case 1 -> "1";
      case 2 -> "0xffff";
      case 3 -> "0x80000000";
      case 4 -> Long.toString(random.nextLong(geometry.blocksCount()));
      case 5 -> Long.toString(1L << random.nextInt(31));
      case 6 -> Integer.toString(random.nextInt(64));
      default -> Long.toString(random.nextLong(0xffff_ffffL));
    };
  }

  private long anyBlock() {
    return 1 + random.nextLong(geometry.blocksCount() - 4);
  }

  private long usedBlock() throws IOException {
    List<Long> blocks = blocks(pick(new String[] {"/large", "/many", "/sparse", "/one-block"}));
    return blocks.isEmpty() ? 1 : blocks.get(random.nextInt(blocks.size()));
  }

  private List<Long> blocks(String file) throws IOException {
    List<Long> blocks = new ArrayList<>();
    for (String word : Debugfs.read(image, "blocks " + file).split("\\s+")) {
      if (word.matches("\\d+") && Long.parseLong(word) > 0) {
        blocks.add(Long.parseLong(word));
      }
    }
    return blocks;
  }

  /// Blocks of extent trees and pointers, of attributes, and of the journal's head.
  private List<Long> mapBlocks() throws IOException {
    List<Long> found = new ArrayList<>();
    for (String file : new String[] {"/large", "/sparse", "/deep", "<8>"}) {
      String text = Debugfs.read(image, "stat " + file);
      for (String pattern :
          new String[] {
            "\\((?:IND|DIND|TIND|ETB\\d)\\):(\\d+)", "File ACL: (\\d+)", "\\(0(?:-\\d+)?\\):(\\d+)"
          }) {
        boolean dataOfFile = pattern.startsWith("\\(0") && !file.equals("<8>");
        java.util.regex.Matcher matcher = java.util.regex.Pattern.compile(pattern).matcher(text);
        while (!dataOfFile && matcher.find()) {
          found.add(Long.parseLong(matcher.group(1)));
        }
      }
    }
    found.removeIf(blockNr -> blockNr == 0);
    return found;
  }

  private long inode(String file) throws IOException {
    var matcher =
        java.util.regex.Pattern.compile("Inode: (\\d+)")
            .matcher(Debugfs.read(image, "stat " + file));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : Superblock.ROOT_INO;
  }

  private MemorySegment descriptor() throws IOException {
    return descriptor(group());
  }

  private MemorySegment descriptor(int group) throws IOException {
    GroupLayout layout = new GroupLayout(sb, geometry);
    long at = layout.descriptorBlockNr(group) * geometry.blockSizeBytes();
    MemorySegment descriptor = MemorySegment.ofArray(new byte[geometry.descriptorSizeBytes()]);
    try (FileChannel channel = FileChannel.open(image)) {
      channel.read(descriptor.asByteBuffer(), at + layout.descriptorOffset(group));
    }
    return descriptor;
  }

  private long inodeOffset(long ino) throws IOException {
    long table = GroupDescriptor.inodeTable(descriptor(geometry.groupOfInode(ino)));
    return table * geometry.blockSizeBytes()
        + (long) geometry.inodeIndexInGroup(ino) * geometry.inodeSizeBytes();
  }

  private Damage flipIn(String kind, List<Long> blocks) throws IOException {
    if (blocks.isEmpty()) {
      return new Damage(kind, "nothing: there is no such block");
    }
    long blockNr = blocks.get(random.nextInt(blocks.size()));
    int length = random.nextBoolean() ? 64 : geometry.blockSizeBytes();
    return flip(kind, blockNr * geometry.blockSizeBytes(), length);
  }

  /// Flips one to three bits.
  private Damage flip(String kind, long offset, int lengthBytes) throws IOException {
    StringBuilder text = new StringBuilder("flip");
    try (FileChannel channel =
        FileChannel.open(image, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      for (int i = random.nextInt(3); i >= 0; i--) {
        long at = offset + random.nextInt(lengthBytes);
        int bit = random.nextInt(8);
        MemorySegment octet = MemorySegment.ofArray(new byte[1]);
        channel.read(octet.asByteBuffer(), at);
        Le.put8(octet, 0, Le.u8(octet, 0) ^ 1 << bit);
        ByteBuffer bytes = octet.asByteBuffer();
        channel.write(bytes, at);
        text.append(" byte ").append(at).append(" bit ").append(bit);
      }
    }
    return new Damage(kind, text.toString());
  }
}
