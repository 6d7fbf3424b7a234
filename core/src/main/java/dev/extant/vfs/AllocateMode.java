package dev.extant.vfs;

/// What [Volume#allocate] does to a range of a file (fallocate(2)).
public enum AllocateMode {
  /// Gives the range blocks that read as zeroes where it had none; grows the file to the range's
  /// end.
  ALLOCATE,
  /// The same, but the file's size stays; blocks may lie behind its end.
  ALLOCATE_KEEP_SIZE,
  /// Makes the range a hole that reads as zeroes; the size stays. Parts of blocks are zeroed.
  PUNCH_HOLE,
  /// The range reads as zeroes and is allocated; grows the file to the range's end.
  ZERO_RANGE,
  ZERO_RANGE_KEEP_SIZE,
  /// Takes the range out of the file; what is behind moves down. Offset and length are multiples of
  /// the block size (of the cluster size where there are clusters), and the range ends before the
  /// file does (EINVAL).
  COLLAPSE_RANGE,
  /// Moves what is at and behind the offset up by the length, leaving a hole. Multiples as above;
  /// the offset lies before the end of the file (EINVAL).
  INSERT_RANGE
}
