package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;

/// The directory that is being checked: what its inode says, and what was met so far.
final class CheckedDirectory {
  final ScannedInode inode;

  /// Where it is in the list of directories.
  final int index;

  final int checksumSeed;
  final NameSet names;

  CheckedDirectory(CheckContext context, ScannedInode inode, int index, NameSet names) {
    this.inode = inode;
    this.index = index;
    this.checksumSeed =
        context.checksums().inodeSeed(inode.ino(), RawInode.generation(inode.raw()));
    this.names = names;
  }

  long ino() {
    return inode.ino();
  }

  boolean encrypted() {
    return inode.has(RawInode.EXT4_ENCRYPT_FL);
  }

  boolean casefolded() {
    return inode.has(RawInode.EXT4_CASEFOLD_FL);
  }

  boolean indexed() {
    return inode.has(RawInode.EXT4_INDEX_FL);
  }
}
