package dev.extant.cli;

import dev.extant.block.FileDevice;
import dev.extant.mkfs.FsType;
import dev.extant.mkfs.Mkfs;
import dev.extant.mkfs.MkfsOptions;
import dev.extant.vfs.MountOptions;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `extant mkfs`.
@Command(
    name = "mkfs",
    description = "Makes an ext2, ext3 or ext4 file system in an image file or block device.",
    footer = {
      "",
      "Features: has_journal, ext_attr, resize_inode, dir_index, sparse_super2, fast_commit,",
      "stable_inodes, orphan_file, filetype, meta_bg, extent, 64bit, mmp, flex_bg, ea_inode,",
      "metadata_csum_seed, large_dir, inline_data, sparse_super, large_file, huge_file, uninit_bg,",
      "dir_nlink, extra_isize, bigalloc, metadata_csum. Those that a type has by default are those",
      "of mke2fs 1.47.",
      "",
      "Extended options: hash_seed=UUID, root_owner=UID:GID, stride=BLOCKS, stripe_width=BLOCKS,",
      "resize=SIZE (leaves room to grow to that size, a number without a unit being blocks);",
      "lazy_itable_init=0|1 and lazy_journal_init=0|1 are accepted and change nothing.",
      "",
      "With -U, -E hash_seed=UUID and SOURCE_DATE_EPOCH in the environment the same input gives",
      "the same bytes."
    })
final class MkfsCommand extends SubCommand {
  @Option(names = "-t", paramLabel = "TYPE", description = "ext2, ext3 or ext4 (default).")
  private String type = "ext4";

  @Option(names = "-L", paramLabel = "LABEL", description = "The volume's name.")
  private String label = "";

  @Option(
      names = "-b",
      paramLabel = "SIZE",
      description = "Block size: 1024 (below 512M) to 65536. Linux mounts up to the page size.")
  private int blockSizeBytes;

  @Option(
      names = "-C",
      paramLabel = "SIZE",
      converter = Sizes.Converter.class,
      description = "Cluster size, with the feature bigalloc (default: 16 blocks).")
  private long clusterSizeBytes;

  @Option(
      names = "-I",
      paramLabel = "SIZE",
      description = "Inode size: 128 to the block size (default 256).")
  private int inodeSizeBytes;

  @Option(names = "-N", paramLabel = "COUNT", description = "Number of inodes.")
  private long inodesCount;

  @Option(names = "-i", paramLabel = "BYTES", description = "Bytes of the volume per inode.")
  private long bytesPerInode;

  @Option(names = "-J", paramLabel = "size=MB", description = "Size of the journal.")
  private String journal;

  @Option(
      names = "-g",
      paramLabel = "COUNT",
      description = "Blocks per group (clusters with bigalloc).")
  private long blocksPerGroup;

  @Option(
      names = "-G",
      paramLabel = "COUNT",
      description = "Groups whose bitmaps and inode tables lie together (default 16).")
  private int groupsPerFlex;

  @Option(
      names = "-O",
      paramLabel = "FEATURE",
      description =
          "Adds features, or takes them away with ^; none takes all away. Several are separated by"
              + " commas. Names: see below.")
  private List<String> features = List.of();

  @Option(names = "-E", paramLabel = "OPTION", description = "Extended options: see below.")
  private List<String> extended = List.of();

  @Option(names = "-U", paramLabel = "UUID", description = "The volume's UUID.")
  private UUID uuid;

  @Option(names = "-m", paramLabel = "PERCENT", description = "Blocks kept for root (default 5).")
  private double reservedPercent = 5;

  @Option(names = "-d", paramLabel = "DIR", description = "Copies the content of a directory.")
  private Path directory;

  @Option(names = "-q", description = "Says nothing.")
  private boolean quiet;

  @Parameters(index = "0", paramLabel = "IMAGE")
  private Path image;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SIZE",
      converter = Sizes.Converter.class,
      description = "Like 256M or 10T; left out, the size that the image has.")
  private Long sizeBytes;

  @Override
  void run() throws IOException {
    if (directory != null && !Files.isDirectory(directory)) {
      throw new CommandFailure(directory + ": not a directory");
    }
    Instant time = time();
    MkfsOptions.Builder options = options(time);
    make(options);
    if (directory != null) {
      fill(time);
    }
    if (!quiet) {
      long size = sizeBytes == null ? Files.size(image) : sizeBytes;
      console()
          .printLine(
              image + ": " + Sizes.human(size) + " " + type + (label.isEmpty() ? "" : " " + label));
    }
  }

  /// Null means now. Builds that want the same bytes again set the variable.
  private Instant time() throws CommandFailure {
    String epoch = System.getenv("SOURCE_DATE_EPOCH");
    if (epoch == null || epoch.isEmpty()) {
      return null;
    }
    try {
      return Instant.ofEpochSecond(Long.parseLong(epoch));
    } catch (NumberFormatException e) {
      throw new CommandFailure("SOURCE_DATE_EPOCH is not a number of seconds: " + epoch);
    }
  }

  private MkfsOptions.Builder options(Instant time) throws IOException {
    FsType known = FsType.ofSpelling(type);
    if (known == null) {
      throw usage("-t " + type + ": not ext2, ext3 or ext4");
    }
    MkfsOptions.Builder options =
        MkfsOptions.builder()
            .type(known)
            .label(label)
            .blockSizeBytes(blockSizeBytes)
            .clusterSizeBytes((int) Math.min(clusterSizeBytes, Integer.MAX_VALUE))
            .blocksPerGroup(blocksPerGroup)
            .groupsPerFlex(groupsPerFlex)
            .inodeSizeBytes(inodeSizeBytes)
            .inodesCount(inodesCount)
            .bytesPerInode(bytesPerInode)
            .uuid(uuid)
            .time(time)
            .reservedPercent(reservedPercent);
    features.forEach(options::features);
    if (journal != null) {
      options.journalMebibytes(mebibytes(this, journal));
    }
    long size = sizeBytes != null ? sizeBytes : Files.exists(image) ? Files.size(image) : 0;
    new MkfsExtendedOptions(options, size, this).add(extended);
    return options;
  }

  static int mebibytes(SubCommand command, String option) {
    if (option.matches("size=\\d{1,9}")) {
      return Integer.parseInt(option.substring("size=".length()));
    }
    throw command.usage("-J " + option + ": not size= and a number of MiB");
  }

  /// A new image is all zeroes; a device, or a file whose size is kept, is not.
  private void make(MkfsOptions.Builder options) throws IOException {
    boolean regular = Files.notExists(image) || Files.isRegularFile(image);
    if (sizeBytes == null && Files.notExists(image)) {
      throw usage(image + " does not exist, so a SIZE is needed");
    }
    boolean fresh = regular && sizeBytes != null;
    if (sizeBytes != null) {
      options.sizeBytes(sizeBytes);
    }
    boolean existed = Files.exists(image);
    try (FileDevice device =
        fresh ? FileDevice.create(image, checkedSize()) : FileDevice.open(image, false)) {
      Mkfs.make(device, options.zeroed(fresh).build());
    } catch (IOException e) {
      if (!existed) {
        Files.deleteIfExists(image);
      }
      throw e;
    }
  }

  private long checkedSize() {
    if (sizeBytes < 1024) {
      throw usage("a file system of " + sizeBytes + " bytes is too small");
    }
    return sizeBytes;
  }

  /// Nobody needs the file system if this fails in between, so the journal would be lost work. The
  /// clock stands still, so that the same input gives the same bytes.
  private void fill(Instant time) throws IOException {
    InstantSource clock = InstantSource.fixed(time == null ? Instant.now() : time);
    MountOptions mount = MountOptions.defaults().withIgnoreJournal(true).withClock(clock);
    try (Volume volume = images().open(image, mount);
        SourceFile source = new HostSource(directory.toString(), directory, true);
        Progress progress = new Progress(console(), () -> Copier.measure(source));
        Copier copier = new Copier(new Copier.Rules(true, true, true, true), console(), progress)) {
      try (Node root = volume.root();
          TargetFile target = new VolumeTarget(image + ":/", volume, root.retain())) {
        copier.copyContents(source, target);
      }
      if (copier.failures() > 0) {
        failed();
      }
    } catch (IOException e) {
      throw CommandFailure.at(image.toString(), e);
    }
  }
}
