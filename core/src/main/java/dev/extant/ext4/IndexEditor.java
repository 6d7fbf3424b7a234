package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.DirectoryBlocks.Role;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;

/// Adds a leaf to the index of a directory, behind the leaf that a path leads to.
///
/// A full node is split in halves; a full root gives all of its entries to a new node, as long as
/// the index may grow in height.
final class IndexEditor {
  private final Handle handle;
  private final IndexPath path;
  private final DirectoryBlocks blocks;

  IndexEditor(Handle handle, IndexPath path) {
    this.handle = handle;
    this.path = path;
    this.blocks = path.blocks;
  }

  /// The number of new nodes that [#insert] will need. ENOSPC if the index has no room for another
  /// leaf.
  int nodesNeeded() throws FsException {
    int needed = 0;
    int level = path.bottom();
    while (full(level)) {
      if (level == 0 && path.bottom() == blocks.maxIndirectLevels()) {
        throw new FsException(
            Errno.ENOSPC, "the index of directory " + path.dir.ino() + " is full");
      }
      needed++;
      if (level == 0) {
        break;
      }
      level--;
    }
    return needed;
  }

  private boolean full(int level) {
    MemorySegment data = path.node(level).data();
    int base = IndexPath.base(level);
    return DxEntries.count(data, base) == DxEntries.limit(data, base);
  }

  /// Adds the leaf in logical block `leaf`. `spares` are [#nodesNeeded] new blocks, of which the
  /// first is logical block `spareLogical`. The path is of no use afterwards.
  void insert(long bound, long leaf, Iterator<Buffer> spares, long spareLogical)
      throws IOException {
    insert(path.bottom(), bound, leaf, spares, spareLogical);
  }

  private void insert(
      int level, long bound, long logical, Iterator<Buffer> spares, long spareLogical)
      throws IOException {
    Buffer node = path.node(level);
    int base = IndexPath.base(level);
    int position = path.position(level) + 1;
    handle.writeAccess(node);
    if (!full(level)) {
      DxEntries.insert(node.data(), base, position, bound, logical);
      blocks.dirty(handle, path.dir, node, IndexPath.role(level));
      return;
    }
    Buffer spare = spares.next();
    DxNode.initialise(spare.data(), blocks.checksummed());
    if (level == 0) {
      giveAll(node.data(), spare.data(), spareLogical);
      DxEntries.insert(spare.data(), DxNode.ENTRIES, position, bound, logical);
    } else {
      int half = DxEntries.count(node.data(), base) / 2;
      long halfBound = DxEntries.hash(node.data(), base, half);
      DxEntries.copyTail(node.data(), base, half, spare.data(), DxNode.ENTRIES);
      DxEntries.count(node.data(), base, half);
      boolean upper = position > half;
      DxEntries.insert(
          (upper ? spare : node).data(),
          DxNode.ENTRIES,
          upper ? position - half : position,
          bound,
          logical);
      insert(level - 1, halfBound, spareLogical, spares, spareLogical + 1);
    }
    blocks.dirty(handle, path.dir, node, IndexPath.role(level));
    blocks.dirty(handle, path.dir, spare, Role.NODE);
  }

  /// Moves all entries of the root to a new node, the only one below it.
  private static void giveAll(MemorySegment root, MemorySegment node, long nodeLogical) {
    DxEntries.copyTail(root, DxRoot.ENTRIES, 0, node, DxNode.ENTRIES);
    DxEntries.count(root, DxRoot.ENTRIES, 1);
    DxEntries.logical(root, DxRoot.ENTRIES, 0, nodeLogical);
    DxRoot.indirectLevels(root, DxRoot.indirectLevels(root) + 1);
  }
}
