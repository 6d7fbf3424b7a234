package dev.extant.mkfs;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// How an inode says where the blocks of a new file are.
interface FileMap {
  /// How many blocks it needs besides the inode; -1 if the file is in too many pieces.
  int blocksNeeded();

  /// Stores it in the inode and in the given blocks, as many as are needed, and returns their
  /// content.
  List<MapBlock> store(MemorySegment inode, List<Long> blocks);
}
