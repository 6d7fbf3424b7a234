package dev.extant.ext4;

import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.journal.Handle;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Cuts extents in two, and makes parts of them written or unwritten.
///
/// Each method needs at most one new entry in a full leaf, and so the blocks for one split of the
/// path; a part of an extent that was cut before an ENOSPC stays cut, which changes nothing about
/// the file. The caller holds `mapLock` for writing, has checked the extent, and stores the inode
/// afterwards, also when this throws.
final class ExtentCuts {
  private final ExtentNodes nodes;
  private final ExtentEditor editor;

  ExtentCuts(ExtentNodes nodes, ExtentEditor editor) {
    this.nodes = nodes;
    this.editor = editor;
  }

  /// Makes `run`, a part of the extent the path leads to, the opposite of what it is.
  void convert(Handle handle, Inode inode, ExtentPath path, BlockMap.Run run) throws IOException {
    boolean unwritten = !run.unwritten();
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    long before = run.logical() - Extent.logical(leaf, position);
    long after = Extent.end(leaf, position) - run.logical() - run.count();
    if (before > 0 && after > 0) {
      split(handle, inode, path, run.logical());
      // The leaf that has the second half has room for one more entry, if the first cut made it.
      try (ExtentPath again = nodes.find(inode, run.logical())) {
        cutHead(handle, inode, again, run.count(), unwritten);
      }
    } else if (before > 0) {
      cutTail(handle, inode, path, run.count(), unwritten);
    } else if (after > 0) {
      cutHead(handle, inode, path, run.count(), unwritten);
    } else {
      editor.access(handle, path, 0);
      Extent.count(leaf, position, run.count(), unwritten);
      ExtentEditor.mergeWithNext(leaf, position);
      if (position > 0) {
        ExtentEditor.mergeWithNext(leaf, position - 1);
      }
      editor.dirty(handle, inode, path, 0);
    }
  }

  /// Cuts the extent the path leads to in two, the second of which begins at `logical`.
  void split(Handle handle, Inode inode, ExtentPath path, long logical) throws IOException {
    int tail = (int) (Extent.end(path.leaf(), path.position(0)) - logical);
    cutTail(handle, inode, path, tail, Extent.unwritten(path.leaf(), path.position(0)));
  }

  /// Makes the last `count` blocks of the extent one of their own.
  private void cutTail(Handle handle, Inode inode, ExtentPath path, int count, boolean unwritten)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    boolean was = Extent.unwritten(leaf, position);
    int whole = Extent.count(leaf, position);
    int rest = whole - count;
    long logical = Extent.logical(leaf, position) + rest;
    long blockNr = Extent.blockNr(leaf, position) + rest;
    editor.access(handle, path, 0);
    Extent.count(leaf, position, rest, was);
    editor.dirty(handle, inode, path, 0);
    try {
      if (unwritten == was) {
        // It would only merge with the extent it was just cut from.
        editor.insertApart(handle, inode, path, logical, Extent.body(blockNr, count, was));
      } else {
        editor.insert(handle, inode, path, logical, blockNr, count, unwritten);
      }
    } catch (FsException e) {
      Extent.count(leaf, position, whole, was);
      throw e;
    }
  }

  /// Makes the first `count` blocks of the extent one of their own, of the other kind.
  private void cutHead(Handle handle, Inode inode, ExtentPath path, int count, boolean unwritten)
      throws IOException {
    MemorySegment leaf = path.leaf();
    int position = path.position(0);
    long logical = Extent.logical(leaf, position);
    long blockNr = Extent.blockNr(leaf, position);
    int whole = Extent.count(leaf, position);
    editor.access(handle, path, 0);
    ExtentHeader.put(
        leaf, position, logical + count, Extent.body(blockNr + count, whole - count, !unwritten));
    editor.dirty(handle, inode, path, 0);
    path.position(0, position - 1);
    try {
      editor.insert(handle, inode, path, logical, blockNr, count, unwritten);
    } catch (FsException e) {
      ExtentHeader.put(leaf, position, logical, Extent.body(blockNr, whole, !unwritten));
      throw e;
    }
  }
}
