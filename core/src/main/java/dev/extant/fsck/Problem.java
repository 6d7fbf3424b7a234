package dev.extant.fsck;

/// What can be wrong with a file system. `structure` is the part of the format; `wording` is close
/// to what e2fsck prints of the same thing. A warning is told but does not make the check fail.
public enum Problem {
  // Superblock, descriptors, bitmaps, inodes, block maps.
  SUPERBLOCK_CHECKSUM("superblock", "superblock checksum does not match superblock"),
  READ_ERROR("device", "error reading block"),
  INODE_CHECKSUM("inode", "passes checks, but checksum does not match inode"),

// Directories, links, orphans, extended attributes, inline data, journal.
;

  private final String structure;
  private final String wording;
  private final boolean warning;

  Problem(String structure, String wording) {
    this(structure, wording, false);
  }

  Problem(String structure, String wording, boolean warning) {
    this.structure = structure;
    this.wording = wording;
    this.warning = warning;
  }

  public String structure() {
    return structure;
  }

  public String wording() {
    return wording;
  }

  public boolean warning() {
    return warning;
  }
}
