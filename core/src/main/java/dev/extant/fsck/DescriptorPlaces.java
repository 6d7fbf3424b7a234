package dev.extant.fsck;

/// Where the blocks of the descriptor table lie.
interface DescriptorPlaces {
  /// The block with that index in the table; inside the file system.
  long blockNr(int index);
}
