package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Extent;
import dev.extant.ext4.format.ExtentHeader;
import dev.extant.ext4.format.ExtentIndex;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Sealer;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Reads the nodes of extent trees and lets none pass that is wrong.
///
/// What holds of a node that was handed out: its magic is right; its entries fit into it; its depth
/// is one less than its parent's; it begins at the logical block its parent says and ends before
/// the next one's. What was checked when it came from the device: its checksum; its entries are in
/// order and do not overlap; their blocks lie inside the file system.
final class ExtentNodes {
  /// Logical block numbers have 32 bits.
  static final long MAX_LOGICAL_BLOCKS = 1L << 32;

  private final Geometry geometry;
  private final BufferCache buffers;
  private final Checksums checksums;

  ExtentNodes(Geometry geometry, BufferCache buffers, Checksums checksums) {
    this.geometry = geometry;
    this.buffers = buffers;
    this.checksums = checksums;
  }

  static MemorySegment root(MemorySegment raw) {
    return raw.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
  }

  /// The path to the leaf in which `logical` is or would be. The caller holds `mapLock` and closes
  /// the path.
  ExtentPath find(Inode inode, long logical) throws IOException {
    MemorySegment root = root(inode.raw);
    checkHeader(inode, 0, root);
    int depth = ExtentHeader.depth(root);
    if (depth > ExtentHeader.MAX_DEPTH) {
      throw corrupt(inode, 0, "depth " + depth + " is more than " + ExtentHeader.MAX_DEPTH);
    }
    checkEntries(inode, 0, root);
    ExtentPath path = new ExtentPath(root, depth);
    try {
      for (int height = depth; height > 0; height--) {
        descend(inode, path, height, logical);
      }
      path.position(0, lastAtOrBefore(path.leaf(), logical));
      return path;
    } catch (IOException | RuntimeException e) {
      path.close();
      throw e;
    }
  }

  /// The first mapped run in that range of logical blocks, or null. The caller holds `mapLock`.
  BlockMap.Run firstRun(Inode inode, long fromLogical, long endLogical) throws IOException {
    for (long logical = fromLogical; logical < endLogical; ) {
      try (ExtentPath path = find(inode, logical)) {
        int position = path.position(0);
        if (position >= 0 && logical < Extent.end(path.leaf(), position)) {
          return path.run(logical, (int) (endLogical - logical));
        }
        logical = path.endOfHole();
      }
    }
    return null;
  }

  private void descend(Inode inode, ExtentPath path, int height, long logical) throws IOException {
    MemorySegment node = path.node(height);
    int entries = ExtentHeader.entries(node);
    if (entries == 0) {
      throw corrupt(inode, path.blockNr(height), "a node above the leaves is empty");
    }
    int position = Math.max(0, lastAtOrBefore(node, logical));
    path.position(height, position);
    if (position + 1 < entries) {
      path.endOfLeaf(ExtentIndex.logical(node, position + 1));
    }
    long child = ExtentIndex.child(node, position);
    Buffer buffer = read(inode, child, height - 1);
    path.replace(height - 1, buffer);
    MemorySegment data = buffer.data();
    int count = ExtentHeader.entries(data);
    if (count == 0) {
      return;
    }
    if (ExtentHeader.logical(data, 0) != ExtentIndex.logical(node, position)) {
      throw corrupt(inode, child, "it begins at another logical block than its parent says");
    }
    long end = height > 1 ? ExtentIndex.logical(data, count - 1) + 1 : Extent.end(data, count - 1);
    if (end > path.endOfLeaf()) {
      throw corrupt(inode, child, "it overlaps the next node");
    }
  }

  private Buffer read(Inode inode, long blockNr, int depth) throws IOException {
    if (!geometry.validDataBlock(blockNr)) {
      throw corrupt(inode, blockNr, "the block is outside the file system");
    }
    Buffer buffer = buffers.read(blockNr);
    try {
      MemorySegment node = buffer.data();
      checkHeader(inode, blockNr, node);
      if (ExtentHeader.depth(node) != depth) {
        throw corrupt(
            inode, blockNr, "depth is " + ExtentHeader.depth(node) + " instead of " + depth);
      }
      if (!buffer.verified()) {
        if (!checksums.extentBlockValid(node, seed(inode))) {
          throw corrupt(inode, blockNr, "bad checksum");
        }
        checkEntries(inode, blockNr, node);
        buffer.verified(true);
      }
      return buffer;
    } catch (IOException | RuntimeException e) {
      buffer.close();
      throw e;
    }
  }

  private static void checkHeader(Inode inode, long blockNr, MemorySegment node)
      throws FsException {
    if (ExtentHeader.magic(node) != ExtentHeader.MAGIC) {
      throw corrupt(inode, blockNr, "bad magic 0x" + Integer.toHexString(ExtentHeader.magic(node)));
    }
    int max = ExtentHeader.max(node);
    int entries = ExtentHeader.entries(node);
    if (max == 0 || max > ExtentHeader.capacity(node.byteSize())) {
      throw corrupt(inode, blockNr, "room for " + max + " entries is not in it");
    }
    if (entries > max) {
      throw corrupt(inode, blockNr, entries + " entries where " + max + " have room");
    }
  }

  private void checkEntries(Inode inode, long blockNr, MemorySegment node) throws FsException {
    int entries = ExtentHeader.entries(node);
    boolean leaf = ExtentHeader.depth(node) == 0;
    long end = 0;
    for (int i = 0; i < entries; i++) {
      if (ExtentHeader.logical(node, i) < end) {
        throw corrupt(inode, blockNr, "entry " + i + " is out of order or overlaps");
      }
      if (leaf) {
        checkExtent(inode, blockNr, node, i);
        end = Extent.end(node, i);
      } else {
        if (!geometry.validDataBlock(ExtentIndex.child(node, i))) {
          throw corrupt(inode, blockNr, "entry " + i + " points outside the file system");
        }
        end = ExtentIndex.logical(node, i) + 1;
      }
    }
  }

  /// Checks one extent's length and place.
  void checkExtent(Inode inode, long blockNr, MemorySegment leaf, int index) throws FsException {
    int count = Extent.count(leaf, index);
    long first = Extent.blockNr(leaf, index);
    if (count == 0 || Extent.end(leaf, index) > MAX_LOGICAL_BLOCKS) {
      throw corrupt(inode, blockNr, "extent " + index + " has a bad length");
    }
    if (!geometry.validDataBlock(first) || !geometry.validDataBlock(first + count - 1)) {
      throw corrupt(inode, blockNr, "extent " + index + " lies outside the file system");
    }
  }

  private int seed(Inode inode) {
    return checksums.inodeSeed(inode.ino(), RawInode.generation(inode.raw));
  }

  /// What stores the checksum of a changed node before it is written; null without metadata_csum.
  Sealer sealer(Inode inode) {
    return checksums.enabled() ? new TailSealer(checksums, seed(inode)) : null;
  }

  private record TailSealer(Checksums checksums, int seed) implements Sealer {
    @Override
    public int rank() {
      return 0;
    }

    @Override
    public void seal(Buffer buffer) {
      checksums.sealExtentBlock(buffer.data(), seed);
    }
  }

  /// The last entry that begins at or before `logical`, or -1.
  static int lastAtOrBefore(MemorySegment node, long logical) {
    int low = 0;
    int high = ExtentHeader.entries(node) - 1;
    while (low <= high) {
      int middle = low + high >>> 1;
      if (ExtentHeader.logical(node, middle) <= logical) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return high;
  }

  static FsException corrupt(Inode inode, long blockNr, String reason) {
    String where = blockNr == 0 ? "root" : "node in block " + blockNr;
    return new FsException(
        Errno.EUCLEAN, "inode " + inode.ino() + ": extent tree " + where + ": " + reason);
  }
}
