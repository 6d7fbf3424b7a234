package dev.extant.ext4;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;

/// The errors for damaged directories: say which directory, which block of it, and where.
final class DirectoryDamage {
  private DirectoryDamage() {}

  static FsException of(Inode dir, String what) {
    return new FsException(Errno.EUCLEAN, "directory " + dir.ino() + ": " + what);
  }

  static FsException inBlock(Inode dir, long blockNr, String what) {
    return new FsException(
        Errno.EUCLEAN, "directory " + dir.ino() + ", block " + blockNr + ": " + what);
  }

  static FsException at(Inode dir, long blockNr, int offset, String what) {
    return new FsException(
        Errno.EUCLEAN,
        "directory "
            + dir.ino()
            + ", block "
            + blockNr
            + ", offset "
            + offset
            + " in the block: "
            + what);
  }
}
