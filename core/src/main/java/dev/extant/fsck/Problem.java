package dev.extant.fsck;

/// What can be wrong with a file system. `structure` is the part of the format; `wording` is close
/// to what e2fsck prints of the same thing.
public enum Problem {
  SUPERBLOCK_CHECKSUM("superblock", "superblock checksum does not match superblock");

  private final String structure;
  private final String wording;

  Problem(String structure, String wording) {
    this.structure = structure;
    this.wording = wording;
  }

  public String structure() {
    return structure;
  }

  public String wording() {
    return wording;
  }
}
