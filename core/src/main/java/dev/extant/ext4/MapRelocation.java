package dev.extant.ext4;

import dev.extant.journal.Handle;
import java.io.IOException;
import java.util.Set;

/// Moves what a file has to other places: changes where its block map says that its blocks are, and
/// where the map's own blocks lie. The content of data blocks is the caller's to copy.
interface MapRelocation {
  /// Credits for [#remap] or [#moveNode].
  int credits(Inode inode);

  /// The blocks of `part` are now from `toBlockNr` on. `part` is the end of a run, or all of it, as
  /// [BlockMap#lookup] shows it. Who owned the old blocks frees them. ENOSPC, with nothing changed,
  /// if the map needs a block and there is none.
  void remap(Handle handle, Inode inode, BlockMap.Run part, long toBlockNr) throws IOException;

  /// The blocks of the map.
  Set<Long> nodes(Inode inode) throws IOException;

  /// The first logical block from `fromLogical` on whose way leads through a block of the map at or
  /// behind `limit`; -1 if there is none.
  long nextNode(Inode inode, long fromLogical, long limit) throws IOException;

  /// Moves the topmost of those blocks on the way to `logical` to wherever the allocator gives one.
  void moveNode(Handle handle, Inode inode, long logical, long limit) throws IOException;
}
