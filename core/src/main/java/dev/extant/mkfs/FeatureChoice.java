package dev.extant.mkfs;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.util.EnumSet;
import java.util.Set;

/// Works out the features of a new file system: the defaults with the changes that were asked for.
/// A default that does not fit to what was asked is dropped; an explicit wish that does not is an
/// error.
final class FeatureChoice {
  private static final Set<Feature> EXT2 =
      EnumSet.of(
          Feature.EXT_ATTR,
          Feature.RESIZE_INODE,
          Feature.DIR_INDEX,
          Feature.FILETYPE,
          Feature.SPARSE_SUPER,
          Feature.LARGE_FILE);

  /// What ext4 has besides.
  private static final Set<Feature> EXT4 =
      EnumSet.of(
          Feature.HAS_JOURNAL,
          Feature.ORPHAN_FILE,
          Feature.EXTENT,
          Feature.BIT64,
          Feature.FLEX_BG,
          Feature.METADATA_CSUM_SEED,
          Feature.HUGE_FILE,
          Feature.DIR_NLINK,
          Feature.EXTRA_ISIZE,
          Feature.METADATA_CSUM);

  /// What no type has unless it is asked for.
  private static final Set<Feature> OPTIONAL =
      EnumSet.of(
          Feature.UNINIT_BG,
          Feature.SPARSE_SUPER2,
          Feature.STABLE_INODES,
          Feature.META_BG,
          Feature.BIGALLOC,
          Feature.MMP,
          Feature.FAST_COMMIT,
          Feature.LARGE_DIR,
          Feature.INLINE_DATA,
          Feature.EA_INODE);

  private final EnumSet<Feature> chosen;
  private final EnumSet<Feature> explicit = EnumSet.noneOf(Feature.class);

  private final String device;

  private FeatureChoice(String device, FsType type) {
    this.device = device;
    this.chosen = EnumSet.copyOf(EXT2);
    if (type == FsType.EXT3) {
      chosen.add(Feature.HAS_JOURNAL);
    } else if (type == FsType.EXT4) {
      chosen.addAll(EXT4);
    }
  }

  /// `blocksCount`, `inodeSizeBytes` and `journal` (whether there is room for one) decide what does
  /// not fit.
  static Features of(
      String device, MkfsOptions options, long blocksCount, int inodeSizeBytes, boolean journal)
      throws FsException {
    FeatureChoice choice = new FeatureChoice(device, options.type());
    for (String change : options.featureChanges()) {
      choice.apply(change);
    }
    choice.settle(blocksCount, inodeSizeBytes, journal);
    return Features.of(choice.chosen.toArray(Feature[]::new));
  }

  private void apply(String change) throws FsException {
    if (change.equals("none")) {
      chosen.clear();
      explicit.clear();
      return;
    }
    boolean remove = change.startsWith("^");
    String name = remove ? change.substring(1) : change;
    Feature feature = Feature.ofSpelling(name);
    if (feature == null) {
      throw invalid("unknown feature " + name);
    }
    if (remove) {
      chosen.remove(feature);
      explicit.remove(feature);
      return;
    }
    if (!EXT2.contains(feature) && !EXT4.contains(feature) && !OPTIONAL.contains(feature)) {
      throw Mkfs.failure(
          Errno.EOPNOTSUPP, device, "file systems with the feature " + name + " cannot be made");
    }
    chosen.add(feature);
    explicit.add(feature);
  }

  private void settle(long blocksCount, int inodeSizeBytes, boolean journal) throws FsException {
    need(Feature.BIT64, chosen.contains(Feature.EXTENT), "extent");
    need(Feature.BIGALLOC, chosen.contains(Feature.EXTENT), "extent");
    need(Feature.LARGE_DIR, chosen.contains(Feature.DIR_INDEX), "dir_index");
    need(
        Feature.INLINE_DATA,
        chosen.contains(Feature.EXT_ATTR) && inodeSizeBytes > RawInode.GOOD_OLD_INODE_SIZE,
        "ext_attr and inodes of more than 128 bytes");
    boolean small32 = blocksCount < 1L << 32;
    if (!small32 && !chosen.contains(Feature.BIT64)) {
      throw invalid(blocksCount + " blocks need the feature 64bit");
    }
    boolean sparse =
        chosen.contains(Feature.SPARSE_SUPER) || chosen.contains(Feature.SPARSE_SUPER2);
    need(Feature.HAS_JOURNAL, journal, "a file system of at least 2048 blocks");
    need(Feature.FAST_COMMIT, chosen.contains(Feature.HAS_JOURNAL), "has_journal");
    need(Feature.ORPHAN_FILE, chosen.contains(Feature.HAS_JOURNAL), "has_journal");
    need(Feature.METADATA_CSUM_SEED, chosen.contains(Feature.METADATA_CSUM), "metadata_csum");
    need(Feature.RESIZE_INODE, sparse, "sparse_super");
    need(Feature.RESIZE_INODE, small32, "fewer than 2^32 blocks");
    need(Feature.RESIZE_INODE, !chosen.contains(Feature.META_BG), "descriptors without meta_bg");
    need(Feature.RESIZE_INODE, !chosen.contains(Feature.BIGALLOC), "blocks without bigalloc");
    if (chosen.contains(Feature.UNINIT_BG) && chosen.contains(Feature.METADATA_CSUM)) {
      if (explicit.contains(Feature.METADATA_CSUM)) {
        throw invalid("the features uninit_bg and metadata_csum exclude each other");
      }
      chosen.remove(Feature.UNINIT_BG);
    }
  }

  private void need(Feature feature, boolean met, String what) throws FsException {
    if (!met && explicit.contains(feature)) {
      throw invalid("the feature " + feature.spelling() + " needs " + what);
    }
    if (!met) {
      chosen.remove(feature);
    }
  }

  private FsException invalid(String reason) {
    return Mkfs.failure(Errno.EINVAL, device, reason);
  }
}
