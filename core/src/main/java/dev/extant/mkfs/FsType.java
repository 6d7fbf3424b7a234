package dev.extant.mkfs;

import java.util.Locale;

/// The members of the family, which differ in the features that a new file system has.
public enum FsType {
  EXT2,
  EXT3,
  EXT4;

  /// As after `-t`, e.g. `ext3`.
  public String spelling() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// The type of that name, or null.
  public static FsType ofSpelling(String spelling) {
    for (FsType type : values()) {
      if (type.spelling().equals(spelling)) {
        return type;
      }
    }
    return null;
  }
}
