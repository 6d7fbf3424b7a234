package dev.extant.cli;

import dev.extant.block.FileDevice;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant info`: the superblock, whatever features it has; also of a file system that cannot be
/// opened.
@Command(name = "info", description = "Shows the superblock, like dumpe2fs -h.")
final class InfoCommand extends SubCommand {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss xx");

  private static final List<String> HASHES =
      List.of("legacy", "half_md4", "tea", "legacy_unsigned", "half_md4_unsigned", "tea_unsigned");

  @Option(names = "--json", description = "Writes JSON.")
  private boolean json;

  @Parameters(paramLabel = "IMAGE")
  private Path image;

  private final Figures figures = new Figures();

  @Override
  void run() throws IOException {
    Session.requireImage(image);
    MemorySegment sb = readSuperblock();
    identity(sb);
    counts(sb);
    layout(sb);
    times(sb);
    rest(sb);
    figures.print(console(), json);
  }

  private MemorySegment readSuperblock() throws IOException {
    MemorySegment sb = MemorySegment.ofArray(new byte[Superblock.SIZE]);
    try (FileDevice device = FileDevice.open(image, true)) {
      if (device.sizeBytes() >= Superblock.OFFSET + Superblock.SIZE) {
        device.read(Superblock.OFFSET, sb);
      }
    }
    if (!Superblock.hasMagic(sb)) {
      throw new FsException(
          Errno.EUCLEAN, image + ": not an ext2, ext3 or ext4 file system (no magic number)");
    }
    if (!Superblock.checksumValid(sb)) {
      throw new FsException(Errno.EUCLEAN, image + ": the superblock's checksum is wrong");
    }
    return sb;
  }

  private void identity(MemorySegment sb) {
    Features features = Superblock.features(sb);
    String label = Superblock.label(sb);
    figures.add("Filesystem volume name", "label", label.isEmpty() ? "<none>" : label, label);
    figures.add("Filesystem UUID", "uuid", Superblock.uuid(sb).toString());
    figures.add("Filesystem revision", "revision", Superblock.revision(sb));
    List<String> names = features.names();
    figures.add("Filesystem features", "features", String.join(" ", names), names);
    String flags = Superblock.unsignedHash(sb) ? "unsigned" : "signed";
    figures.add("Filesystem flags", "hashFlag", flags + "_directory_hash");
    List<String> state = state(Superblock.state(sb), features);
    figures.add("Filesystem state", "state", String.join(", ", state), state);
    figures.add("Errors behavior", "errors", errors(Superblock.errors(sb)));
  }

  private static List<String> state(int bits, Features features) {
    List<String> state = new ArrayList<>();
    state.add((bits & Superblock.STATE_CLEAN) != 0 ? "clean" : "not clean");
    if ((bits & Superblock.STATE_ERRORS) != 0) {
      state.add("with errors");
    }
    if ((bits & Superblock.STATE_ORPHANS) != 0) {
      state.add("orphans being recovered");
    }
    if (features.has(Feature.NEEDS_RECOVERY)) {
      state.add("journal needs recovery");
    }
    if (features.has(Feature.ORPHAN_PRESENT)) {
      state.add("orphan file in use");
    }
    return Collections.unmodifiableList(state);
  }

  private static String errors(int behaviour) {
    return switch (behaviour) {
      case Superblock.ERRORS_CONTINUE -> "Continue";
      case Superblock.ERRORS_READ_ONLY -> "Remount read-only";
      case Superblock.ERRORS_PANIC -> "Panic";
      default -> "Unknown (" + behaviour + ")";
    };
  }

  private void counts(MemorySegment sb) {
    figures.add("Inode count", "inodesCount", Superblock.inodesCount(sb));
    figures.add("Block count", "blocksCount", Superblock.blocksCount(sb));
    figures.add("Reserved block count", "reservedBlocks", Superblock.reservedBlocks(sb));
    figures.add("Overhead clusters", "overheadClusters", Superblock.overheadClusters(sb));
    figures.add("Free blocks", "freeBlocks", Superblock.freeBlocks(sb));
    figures.add("Free inodes", "freeInodes", Superblock.freeInodes(sb));
  }

  private void layout(MemorySegment sb) {
    long blockSize = 1024L << Math.min(Superblock.logBlockSize(sb), 20);
    figures.add("First block", "firstDataBlock", Superblock.firstDataBlock(sb));
    figures.add("Block size", "blockSizeBytes", blockSize);
    if (Superblock.features(sb).has(Feature.BIGALLOC)) {
      long clusterSize = 1024L << Math.min(Superblock.logClusterSize(sb), 40);
      figures.add("Cluster size", "clusterSizeBytes", clusterSize);
    }
    if (Superblock.features(sb).has(Feature.BIT64)) {
      figures.add("Group descriptor size", "descriptorSizeBytes", Superblock.descriptorSize(sb));
    }
    figures.add("Reserved GDT blocks", "reservedGdtBlocks", Superblock.reservedGdtBlocks(sb));
    figures.add("Blocks per group", "blocksPerGroup", Superblock.blocksPerGroup(sb));
    figures.add("Inodes per group", "inodesPerGroup", Superblock.inodesPerGroup(sb));
    if (Superblock.features(sb).has(Feature.FLEX_BG)) {
      long groups = 1L << Math.min(Superblock.logGroupsPerFlex(sb), 31);
      figures.add("Flex block group size", "groupsPerFlex", groups);
    }
  }

  private void times(MemorySegment sb) {
    time("Filesystem created", "created", Superblock.mkfsTime(sb));
    time("Last mount time", "mounted", Superblock.mountTime(sb));
    time("Last write time", "written", Superblock.writeTime(sb));
    figures.add("Mount count", "mountCount", Superblock.mountCount(sb));
    time("Last checked", "checked", Superblock.lastCheck(sb));
  }

  private void time(String label, String key, Instant time) {
    boolean never = time.getEpochSecond() == 0;
    String shown = never ? "n/a" : TIME.format(time.atZone(ZoneId.systemDefault()));
    figures.add(label, key, shown, never ? null : time.toString());
  }

  private void rest(MemorySegment sb) {
    Features features = Superblock.features(sb);
    figures.add("First inode", "firstInode", Superblock.firstInode(sb));
    figures.add("Inode size", "inodeSizeBytes", Superblock.inodeSize(sb));
    figures.add("Required extra isize", "minExtraIsize", Superblock.minExtraIsize(sb));
    figures.add("Desired extra isize", "wantExtraIsize", Superblock.wantExtraIsize(sb));
    if (features.has(Feature.HAS_JOURNAL)) {
      figures.add("Journal inode", "journalInode", Superblock.journalInode(sb));
    }
    if (Superblock.lastOrphan(sb) != 0) {
      figures.add("First orphan inode", "firstOrphan", Superblock.lastOrphan(sb));
    }
    if (features.has(Feature.DIR_INDEX)) {
      int hash = Superblock.defaultHashVersion(sb);
      String name = hash < HASHES.size() ? HASHES.get(hash) : "unknown (" + hash + ")";
      figures.add("Default directory hash", "hashVersion", name);
      figures.add("Directory hash seed", "hashSeed", hashSeed(Superblock.hashSeed(sb)));
    }
    if (features.has(Feature.METADATA_CSUM)) {
      String type = Superblock.checksumType(sb) == Superblock.CHECKSUM_TYPE_CRC32C ? "crc32c" : "?";
      figures.add("Checksum type", "checksumType", type);
    }
    if (features.has(Feature.METADATA_CSUM_SEED)) {
      String seed = String.format("0x%08x", Superblock.checksumSeed(sb));
      figures.add("Checksum seed", "checksumSeed", seed);
    }
    if (features.has(Feature.ORPHAN_FILE)) {
      figures.add("Orphan file inode", "orphanFileInode", Superblock.orphanFileInode(sb));
    }
  }

  /// The seed as a UUID: its bytes as they stand, in words that are little-endian.
  private static String hashSeed(int[] words) {
    StringBuilder hex = new StringBuilder();
    for (int word : words) {
      hex.append(String.format("%08x", Integer.reverseBytes(word)));
    }
    return hex.insert(20, '-').insert(16, '-').insert(12, '-').insert(8, '-').toString();
  }
}
