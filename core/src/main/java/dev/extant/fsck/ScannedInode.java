package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;

/// One inode in use: its number and a copy of its bytes, `inodeSizeBytes` long. `sound` is false if
/// it is so wrong that its content means nothing.
record ScannedInode(long ino, MemorySegment raw, boolean sound) {
  private static final int S_IFMT = 0xF000;

  int mode() {
    return RawInode.mode(raw);
  }

  boolean regular() {
    return (mode() & S_IFMT) == 0x8000;
  }

  boolean directory() {
    return (mode() & S_IFMT) == 0x4000;
  }

  boolean symbolicLink() {
    return (mode() & S_IFMT) == 0xA000;
  }

  long size() {
    return RawInode.size(raw);
  }

  boolean has(long flag) {
    return RawInode.hasFlag(raw, flag);
  }

  /// The type as directory entries have it; 0 for none that is known.
  int entryType() {
    return switch (mode() & S_IFMT) {
      case 0x8000 -> 1;
      case 0x4000 -> 2;
      case 0x2000 -> 3;
      case 0x6000 -> 4;
      case 0x1000 -> 5;
      case 0xC000 -> 6;
      case 0xA000 -> 7;
      default -> 0;
    };
  }
}
