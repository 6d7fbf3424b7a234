package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.util.Le;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// Moves everything that files have at or behind a block to places in front of it: data, the blocks
/// of block maps, blocks of extended attributes. The journal and the file system's own blocks are
/// moved elsewhere.
///
/// Each piece is one handle: new blocks are taken, filled, named by the file, and the old ones are
/// freed. The content is on the device before the transaction's commit block, so a power cut leaves
/// the file with the old blocks or with the new ones.
final class Relocation {
  private static final int I_BLOCK_DOUBLE_INDIRECT = RawInode.I_BLOCK + 4 * 13;
  private static final int COPY_BYTES = 1 << 20;

  /// Directory blocks and the like go through the journal; so many at a time.
  private static final int MAX_METADATA_BLOCKS = 32;

  /// The old and the new blocks of one piece lie in two groups each at most.
  private static final int BITMAP_CREDITS = 8;

  private final Mount mount;
  private final long limit;
  private final int clusterBlocks;
  private final long orphanFile;
  private final MemorySegment copyBuffer = MemorySegment.ofArray(new byte[COPY_BYTES]);

  /// `limit` is the first block that is to be left, the start of a cluster.
  Relocation(Mount mount, long limit) {
    this.mount = mount;
    this.limit = limit;
    this.clusterBlocks = mount.geometry.blocksPerCluster();
    this.orphanFile =
        mount.features.has(Feature.ORPHAN_FILE)
            ? Superblock.orphanFileInode(mount.superblock.bytes())
            : 0;
  }

  void run() throws IOException {
    mount.blocks.limit(limit);
    new InodeScan(mount).forEachFrom(0, this::move);
  }

  private void move(Inode inode) throws IOException {
    boolean journal =
        mount.features.has(Feature.HAS_JOURNAL)
            && inode.ino() == Superblock.journalInode(mount.superblock.bytes());
    if (journal) {
      return;
    }
    if (inode.ino() == Superblock.RESIZE_INO) {
      moveResizeInode(inode);
      return;
    }
    if (mount.attributes.blockNr(inode) >= limit) {
      try (Handle handle = mount.start(AttributeBlocks.CREDITS + Credits.INODE)) {
        mount.attributes.move(handle, inode);
      }
    }
    if (inode.mapsBlocks()) {
      moveData(inode);
      moveNodes(inode);
    }
  }

  /// The other blocks of the inode are those reserved for descriptors.
  private void moveResizeInode(Inode inode) throws IOException {
    long oldNr = Le.u32(inode.raw, I_BLOCK_DOUBLE_INDIRECT);
    if (oldNr < limit) {
      return;
    }
    try (Handle handle = mount.start(BITMAP_CREDITS)) {
      long newNr = mount.blocks.allocate(handle, mount.blocks.goalOf(inode), 1).blockNr();
      copyMetadata(handle, inode, oldNr, newNr);
      Le.put32(inode.raw, I_BLOCK_DOUBLE_INDIRECT, newNr);
      mount.inodes.update(handle, inode, true);
      mount.blocks.free(handle, oldNr, 1, true);
    }
  }

  private void moveNodes(Inode inode) throws IOException {
    MapRelocation map = mount.map.relocation(inode);
    for (long at = map.nextNode(inode, 0, limit); at >= 0; at = map.nextNode(inode, at, limit)) {
      long logical = at;
      mount.retryWhenFull(
          map.credits(inode) + BITMAP_CREDITS,
          handle -> {
            map.moveNode(handle, inode, logical, limit);
            return null;
          });
    }
  }

  private record Range(long logical, long end) {}

  /// From the end of the file to its front, so that what is moved is always the end of a run.
  private void moveData(Inode inode) throws IOException {
    for (Range range : toMove(inode).reversed()) {
      BlockMap.Run last = lastToMove(inode, range);
      while (last != null) {
        movePiece(inode, last);
        last = lastToMove(inode, range);
      }
    }
  }

  private List<Range> toMove(Inode inode) throws IOException {
    List<Range> ranges = new ArrayList<>();
    for (long logical = 0; logical < ExtentNodes.MAX_LOGICAL_BLOCKS; ) {
      BlockMap.Run run = mount.map.lookup(inode, logical, Integer.MAX_VALUE);
      if (outside(run)) {
        ranges.add(new Range(run.logical(), run.logical() + run.count()));
      }
      logical += run.count();
    }
    return ranges;
  }

  private boolean outside(BlockMap.Run run) {
    return !run.hole() && run.blockNr() + run.count() > limit;
  }

  /// The part at or behind the limit of the last such run in the range, or null.
  private BlockMap.Run lastToMove(Inode inode, Range range) throws IOException {
    BlockMap.Run last = null;
    for (long logical = range.logical; logical < range.end; ) {
      BlockMap.Run run = mount.map.lookup(inode, logical, (int) (range.end - logical));
      last = outside(run) ? run : last;
      logical += run.count();
    }
    return last == null ? null : tail(last, Math.max(0, limit - last.blockNr()));
  }

  private static BlockMap.Run tail(BlockMap.Run run, long from) {
    return new BlockMap.Run(
        run.logical() + from, run.blockNr() + from, (int) (run.count() - from), run.unwritten());
  }

  /// Moves the end of `run`, as much of it as there is room for in one place, in whole clusters:
  /// with all that lies in the same ones.
  private void movePiece(Inode inode, BlockMap.Run run) throws IOException {
    boolean metadata = inode.type() != FileType.REGULAR || inode.ino() == orphanFile;
    int most = metadata ? MAX_METADATA_BLOCKS * clusterBlocks : mount.geometry.blocksPerGroup();
    long end = run.logical() + run.count();
    long clusterEnd = (end + clusterBlocks - 1) & -(long) clusterBlocks;
    long clusterStart = run.logical() & -(long) clusterBlocks;
    int wanted = (int) Math.min(clusterEnd - clusterStart, Math.max(most, clusterBlocks));
    MapRelocation map = mount.map.relocation(inode);
    int parts = 2 * clusterBlocks;
    int credits =
        BITMAP_CREDITS + Math.min(parts, 64) * map.credits(inode) + (metadata ? wanted : 0);
    mount.retryWhenFull(
        Math.min(credits, mount.journal.maxCredits()),
        handle -> {
          BlockSource.Extent got =
              mount.blocks.allocate(handle, mount.blocks.goalOf(inode, wanted), wanted);
          int count = got.count() / clusterBlocks * clusterBlocks;
          long start = clusterEnd - count;
          long oldNr = run.blockNr() + start - run.logical();
          moveParts(handle, inode, start, clusterEnd, got, metadata);
          mount.blocks.free(handle, oldNr, count, metadata);
          return null;
        });
  }

  /// What the file has between the logical blocks `start` and `end` goes to the new blocks.
  private void moveParts(
      Handle handle,
      Inode inode,
      long start,
      long end,
      BlockSource.Extent newBlocks,
      boolean metadata)
      throws IOException {
    List<BlockMap.Run> parts = new ArrayList<>();
    for (long logical = start; logical < end; ) {
      BlockMap.Run part = mount.map.lookup(inode, logical, (int) (end - logical));
      if (!part.hole()) {
        parts.add(part);
      }
      logical += part.count();
    }
    boolean begun = false;
    for (BlockMap.Run part : parts.reversed()) {
      long to = newBlocks.blockNr() + part.logical() - start;
      if (metadata) {
        for (int i = 0; i < part.count(); i++) {
          copyMetadata(handle, inode, part.blockNr() + i, to + i);
        }
      } else if (!part.unwritten()) {
        copyData(part.blockNr(), to, part.count());
      }
      try {
        mount.map.relocation(inode).remap(handle, inode, part, to);
        begun = true;
      } catch (FsException e) {
        if (begun) {
          // Only with clusters: the file would lie half here, half there.
          mount.journal.abort(e);
        } else {
          mount.blocks.free(handle, newBlocks.blockNr(), newBlocks.count(), metadata);
        }
        throw e;
      }
    }
  }

  private void copyData(long fromNr, long toNr, int count) throws IOException {
    int shift = mount.geometry.blockShift();
    long length = (long) count << shift;
    for (long done = 0; done < length; done += COPY_BYTES) {
      MemorySegment chunk = copyBuffer.asSlice(0, Math.min(COPY_BYTES, length - done));
      mount.queue.read((fromNr << shift) + done, chunk);
      mount.queue.write((toNr << shift) + done, List.of(chunk), false);
    }
  }

  private void copyMetadata(Handle handle, Inode inode, long fromNr, long toNr) throws IOException {
    try (Buffer from = mount.buffers.read(fromNr);
        Buffer to = mount.buffers.fresh(toNr)) {
      handle.createAccess(to);
      to.data().copyFrom(from.data());
      if (inode.ino() == orphanFile) {
        int seed = mount.checksums.inodeSeed(inode.ino(), RawInode.generation(inode.raw));
        mount.checksums.sealOrphanBlock(to.data(), toNr, seed);
      }
      handle.dirty(to);
    }
  }
}
