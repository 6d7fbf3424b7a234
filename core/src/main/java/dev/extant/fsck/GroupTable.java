package dev.extant.fsck;

import java.lang.foreign.MemorySegment;

/// The group descriptors of the file system.
interface GroupTable {
  /// A copy of the group's descriptor; zeroes if it cannot be read.
  MemorySegment descriptor(int group);

  /// The first block of the group's inode table; 0 if its place is impossible.
  long inodeTable(int group);

  /// How many inodes from the table's start on may be in use.
  int scannedInodes(int group);

  /// True if the group's block bitmap was never written.
  boolean blockBitmapUninit(int group);

  /// True if the group's inode bitmap was never written.
  boolean inodeBitmapUninit(int group);
}
