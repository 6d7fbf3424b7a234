package dev.extant.vfs;

/// The type of an inode: the `S_IFMT` bits of its mode (stat(2)), and the type byte of a directory
/// entry (`EXT4_FT_*`).
public enum FileType {
  REGULAR(0x8000, 1),
  DIRECTORY(0x4000, 2),
  CHARACTER_DEVICE(0x2000, 3),
  BLOCK_DEVICE(0x6000, 4),
  FIFO(0x1000, 5),
  SOCKET(0xC000, 6),
  SYMLINK(0xA000, 7);

  private final int modeBits;
  private final int entryCode;

  FileType(int modeBits, int entryCode) {
    this.modeBits = modeBits;
    this.entryCode = entryCode;
  }

  public int modeBits() {
    return modeBits;
  }

  public int entryCode() {
    return entryCode;
  }

  /// The type in a mode's `S_IFMT` bits, or null if they name none.
  public static FileType ofMode(int mode) {
    for (FileType type : values()) {
      if (type.modeBits == (mode & 0xF000)) {
        return type;
      }
    }
    return null;
  }

  /// The type of a directory entry's type byte, or null for 0 (unknown) and values not defined.
  public static FileType ofEntryCode(int code) {
    return code >= 1 && code <= 7 ? values()[code - 1] : null;
  }
}
