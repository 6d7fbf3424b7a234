package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrBlock;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// The blocks of extended attributes. Inodes with the same attributes share one, which counts them.
///
/// Invariants:
/// 1. A block that more than one inode uses does not change but for its count.
/// 2. What `known` names is in use: a block leaves it before it is freed or becomes something else.
///
/// `lock` is taken within handles, before the locks of the allocators.
final class AttributeBlocks {
  /// How many blocks are remembered for sharing.
  private static final int MAX_KNOWN = 4096;

  /// Changing or leaving a block, taking a new one: both blocks, and bitmap and descriptor for
  /// either.
  static final int CREDITS = 6;

  private final BufferCache buffers;
  private final BlockSource blocks;
  private final Geometry geometry;
  private final Checksums checksums;
  private final ReentrantLock lock = new ReentrantLock();

  /// A block with attributes of that hash, those asked for longest ago first; guarded by `lock`.
  private final Map<Integer, Long> known = new LinkedHashMap<>(16, 0.75f, true);

  /// Blocks that moved, to where; guarded by `lock`.
  private final Map<Long, Long> moved = new HashMap<>();

  /// What came of a change. `blockNr` is the inode's block now, 0 for none. `released`: nobody has
  /// the old attributes any more. `written`: the new ones are on disk once more than before.
  record Outcome(long blockNr, boolean released, boolean written) {}

  AttributeBlocks(BufferCache buffers, BlockSource blocks, Geometry geometry, Checksums checksums) {
    this.buffers = buffers;
    this.blocks = blocks;
    this.geometry = geometry;
    this.checksums = checksums;
  }

  /// The attributes in the block, in a list of the caller's own.
  List<Xattr> read(long blockNr) throws IOException {
    lock.lock();
    try (Buffer buffer = open(blockNr)) {
      List<Xattr> xattrs = XattrBlock.read(buffer.data(), blockNr);
      remember(buffer);
      return xattrs;
    } finally {
      lock.unlock();
    }
  }

  private Buffer open(long blockNr) throws IOException {
    if (!geometry.validDataBlock(blockNr) || blocks.ownedBySystem(blockNr, 1)) {
      throw new FsException(
          Errno.EUCLEAN,
          "no extended attributes can be in block " + blockNr + ", which an inode names");
    }
    Buffer buffer = buffers.read(blockNr);
    try {
      if (!buffer.verified()) {
        if (XattrBlock.hasMagic(buffer.data())
            && !checksums.xattrBlockValid(buffer.data(), blockNr)) {
          throw new FsException(
              Errno.EUCLEAN,
              "block " + blockNr + " of extended attributes is corrupt: its checksum is wrong");
        }
        XattrBlock.read(buffer.data(), blockNr);
        buffer.verified(true);
      }
      return buffer;
    } catch (IOException e) {
      buffer.close();
      throw e;
    }
  }

  private void remember(Buffer buffer) {
    int hash = XattrBlock.hash(buffer.data());
    if (hash != 0 && XattrBlock.refcount(buffer.data()) < XattrBlock.MAX_REFCOUNT) {
      known.put(hash, buffer.blockNr());
      if (known.size() > MAX_KNOWN) {
        known.remove(known.keySet().iterator().next());
      }
    }
  }

  private void forget(Buffer buffer) {
    known.remove(XattrBlock.hash(buffer.data()), buffer.blockNr());
  }

  /// Gives the inode, which has block `oldNr` (0: none), a block with exactly these attributes: one
  /// that has them already, its own, or a new one. Without attributes it gets none. Needs
  /// [#CREDITS]. ENOSPC leaves everything as it was.
  Outcome replace(Handle handle, Inode inode, long oldNr, List<Xattr> xattrs) throws IOException {
    lock.lock();
    try (Buffer old = oldNr == 0 ? null : open(oldNr)) {
      if (xattrs.isEmpty()) {
        return new Outcome(0, old != null && leave(handle, old), false);
      }
      boolean own = old != null && XattrBlock.refcount(old.data()) <= 1;
      long shared = share(handle, xattrs);
      if (shared != 0) {
        return new Outcome(shared, old != null && leave(handle, old), false);
      }
      if (own) {
        handle.writeAccess(old);
        forget(old);
        fill(handle, old, xattrs);
        return new Outcome(oldNr, true, true);
      }
      long blockNr = make(handle, inode, xattrs);
      return new Outcome(blockNr, old != null && leave(handle, old), true);
    } finally {
      lock.unlock();
    }
  }

  /// One inode more uses a block with these attributes; 0 if none is known.
  private long share(Handle handle, List<Xattr> xattrs) throws IOException {
    int hash = XattrBlock.hash(xattrs);
    Long blockNr = known.get(hash);
    if (hash == 0 || blockNr == null) {
      return 0;
    }
    try (Buffer buffer = open(blockNr)) {
      long references = XattrBlock.refcount(buffer.data());
      if (references >= XattrBlock.MAX_REFCOUNT
          || !XattrBlock.holds(buffer.data(), blockNr, xattrs)) {
        return 0;
      }
      handle.writeAccess(buffer);
      references(handle, buffer, references + 1);
      return blockNr;
    }
  }

  private void references(Handle handle, Buffer buffer, long references) throws IOException {
    XattrBlock.refcount(buffer.data(), references);
    checksums.sealXattrBlock(buffer.data(), buffer.blockNr());
    handle.dirty(buffer);
  }

  private long make(Handle handle, Inode inode, List<Xattr> xattrs) throws IOException {
    long blockNr = blocks.allocate(handle, blocks.goalOf(inode, 1), 1).blockNr();
    try (Buffer buffer = buffers.fresh(blockNr)) {
      handle.createAccess(buffer);
      fill(handle, buffer, xattrs);
      buffer.verified(true);
    }
    return blockNr;
  }

  private void fill(Handle handle, Buffer buffer, List<Xattr> xattrs) throws IOException {
    XattrBlock.write(buffer.data(), xattrs);
    references(handle, buffer, 1);
    remember(buffer);
  }

  /// One inode less uses the block; true if that was the last one, and the block is free.
  private boolean leave(Handle handle, Buffer buffer) throws IOException {
    long references = XattrBlock.refcount(buffer.data());
    if (references > 1) {
      handle.writeAccess(buffer);
      references(handle, buffer, references - 1);
      remember(buffer);
      return false;
    }
    forget(buffer);
    blocks.free(handle, buffer.blockNr(), 1, true);
    return true;
  }

  /// Gives an inode that uses the block another one with the same bytes, to which all that use the
  /// old one come in turn. Returns its number. Needs [#CREDITS].
  long move(Handle handle, Inode inode, long oldNr) throws IOException {
    lock.lock();
    try (Buffer old = open(oldNr)) {
      Long known = moved.get(oldNr);
      if (known == null) {
        long newNr = blocks.allocate(handle, blocks.goalOf(inode, 1), 1).blockNr();
        try (Buffer buffer = buffers.fresh(newNr)) {
          handle.createAccess(buffer);
          buffer.data().copyFrom(old.data());
          references(handle, buffer, 1);
        }
        moved.put(oldNr, newNr);
        known = newNr;
      } else {
        try (Buffer buffer = open(known)) {
          handle.writeAccess(buffer);
          references(handle, buffer, XattrBlock.refcount(buffer.data()) + 1);
        }
      }
      if (leave(handle, old)) {
        moved.remove(oldNr);
      }
      return known;
    } finally {
      lock.unlock();
    }
  }

  /// For the end of an inode: one less uses the block, whatever is in it. Needs [#CREDITS].
  void drop(Handle handle, long blockNr) throws IOException {
    lock.lock();
    try (Buffer buffer = open(blockNr)) {
      leave(handle, buffer);
    } finally {
      lock.unlock();
    }
  }

  /// True if one inode alone uses the block. From now on nobody else will.
  boolean claim(long blockNr) throws IOException {
    lock.lock();
    try (Buffer buffer = open(blockNr)) {
      boolean own = XattrBlock.refcount(buffer.data()) <= 1;
      if (own) {
        forget(buffer);
      }
      return own;
    } finally {
      lock.unlock();
    }
  }
}
