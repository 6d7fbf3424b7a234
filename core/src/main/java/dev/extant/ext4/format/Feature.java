package dev.extant.ext4.format;

import java.util.Locale;

/// One feature of the ext2/3/4 format: its bit in the superblock and what this implementation does
/// with an image that has it (Linux documentation, "The Super Block"; `struct ext4_super_block`
/// s_feature_compat, s_feature_incompat, s_feature_ro_compat).
public enum Feature {
  DIR_PREALLOC(Word.COMPAT, 0x1, Support.WRITE),
  IMAGIC_INODES(Word.COMPAT, 0x2, Support.REFUSE),
  HAS_JOURNAL(Word.COMPAT, 0x4, Support.WRITE),
  EXT_ATTR(Word.COMPAT, 0x8, Support.WRITE),
  RESIZE_INODE(Word.COMPAT, 0x10, Support.WRITE),
  DIR_INDEX(Word.COMPAT, 0x20, Support.WRITE),
  EXCLUDE_BITMAP(Word.COMPAT, 0x100, Support.READ),
  SPARSE_SUPER2(Word.COMPAT, 0x200, Support.WRITE),
  FAST_COMMIT(Word.COMPAT, 0x400, Support.WRITE),
  STABLE_INODES(Word.COMPAT, 0x800, Support.WRITE),
  ORPHAN_FILE(Word.COMPAT, 0x1000, Support.WRITE),

  COMPRESSION(Word.INCOMPAT, 0x1, Support.REFUSE),
  FILETYPE(Word.INCOMPAT, 0x2, Support.WRITE),
  NEEDS_RECOVERY(Word.INCOMPAT, 0x4, Support.WRITE),
  JOURNAL_DEV(Word.INCOMPAT, 0x8, Support.REFUSE),
  META_BG(Word.INCOMPAT, 0x10, Support.WRITE),
  EXTENT(Word.INCOMPAT, 0x40, Support.WRITE),
  BIT64(Word.INCOMPAT, 0x80, Support.WRITE),
  MMP(Word.INCOMPAT, 0x100, Support.WRITE),
  FLEX_BG(Word.INCOMPAT, 0x200, Support.WRITE),
  EA_INODE(Word.INCOMPAT, 0x400, Support.WRITE),
  DIRDATA(Word.INCOMPAT, 0x1000, Support.REFUSE),
  METADATA_CSUM_SEED(Word.INCOMPAT, 0x2000, Support.WRITE),
  LARGE_DIR(Word.INCOMPAT, 0x4000, Support.WRITE),
  INLINE_DATA(Word.INCOMPAT, 0x8000, Support.WRITE),
  ENCRYPT(Word.INCOMPAT, 0x10000, Support.READ),
  CASEFOLD(Word.INCOMPAT, 0x20000, Support.READ),

  SPARSE_SUPER(Word.RO_COMPAT, 0x1, Support.WRITE),
  LARGE_FILE(Word.RO_COMPAT, 0x2, Support.WRITE),
  BTREE_DIR(Word.RO_COMPAT, 0x4, Support.READ),
  HUGE_FILE(Word.RO_COMPAT, 0x8, Support.WRITE),
  UNINIT_BG(Word.RO_COMPAT, 0x10, Support.WRITE),
  DIR_NLINK(Word.RO_COMPAT, 0x20, Support.WRITE),
  EXTRA_ISIZE(Word.RO_COMPAT, 0x40, Support.WRITE),
  HAS_SNAPSHOT(Word.RO_COMPAT, 0x80, Support.READ),
  QUOTA(Word.RO_COMPAT, 0x100, Support.READ),
  BIGALLOC(Word.RO_COMPAT, 0x200, Support.WRITE),
  METADATA_CSUM(Word.RO_COMPAT, 0x400, Support.WRITE),
  REPLICA(Word.RO_COMPAT, 0x800, Support.READ),
  READ_ONLY(Word.RO_COMPAT, 0x1000, Support.READ),
  PROJECT(Word.RO_COMPAT, 0x2000, Support.READ),
  SHARED_BLOCKS(Word.RO_COMPAT, 0x4000, Support.READ),
  VERITY(Word.RO_COMPAT, 0x8000, Support.READ),
  ORPHAN_PRESENT(Word.RO_COMPAT, 0x10000, Support.WRITE);

  /// Which word of the superblock holds the bit; it decides what an implementation that does not
  /// know the bit may do: everything, nothing, or only read.
  public enum Word {
    COMPAT,
    INCOMPAT,
    RO_COMPAT
  }

  /// What is done with an image that has the feature.
  public enum Support {
    /// Read and written.
    WRITE,
    /// Only read.
    READ,
    /// Not opened at all.
    REFUSE
  }

  private final Word word;
  private final int bit;
  private final Support support;

  Feature(Word word, int bit, Support support) {
    this.word = word;
    this.bit = bit;
    this.support = support;
  }

  public Word word() {
    return word;
  }

  public int bit() {
    return bit;
  }

  public Support support() {
    return support;
  }

  /// The name that mke2fs and dumpe2fs use, e.g. `has_journal`.
  public String spelling() {
    return switch (this) {
      case BIT64 -> "64bit";
      case READ_ONLY -> "read-only";
      default -> name().toLowerCase(Locale.ROOT);
    };
  }

  /// The feature of that name, or null. Other usual spellings count too (`gdt_csum`, `extents`).
  public static Feature ofSpelling(String spelling) {
    for (Feature feature : values()) {
      if (feature.spelling().equals(spelling)) {
        return feature;
      }
    }
    return switch (spelling) {
      case "gdt_csum" -> UNINIT_BG;
      case "extents" -> EXTENT;
      case "snapshot_bitmap" -> EXCLUDE_BITMAP;
      default -> null;
    };
  }
}
