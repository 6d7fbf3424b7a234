package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.InlineArea;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Targets of symbolic links: up to 59 bytes in the inode's i_block, longer ones in a block of
/// their own, which goes through the journal like metadata (spec: "Symbolic Links").
final class Symlinks {
  /// An encrypted target is stored behind its length, u16.
  private static final int ENCRYPTED_HEADER = 2;

  private final BufferCache buffers;
  private final BlockMap blockMap;
  private final boolean extents;
  private final boolean encrypting;

  Symlinks(BufferCache buffers, BlockMap blockMap, Features features) {
    this.buffers = buffers;
    this.blockMap = blockMap;
    this.extents = features.has(Feature.EXTENT);
    this.encrypting = features.has(Feature.ENCRYPT);
  }

  /// True if the target lies in the inode itself, so that the inode maps no blocks.
  static boolean inInode(MemorySegment raw) {
    return FileType.ofMode(RawInode.mode(raw)) == FileType.SYMLINK
        && !RawInode.hasFlag(raw, RawInode.EXT4_EXTENTS_FL)
        && RawInode.size(raw) < RawInode.I_BLOCK_SIZE;
  }

  int credits(int targetLength) {
    return targetLength < RawInode.I_BLOCK_SIZE ? 0 : 16;
  }

  void store(Handle handle, Inode inode, byte[] target) throws IOException {
    RawInode.size(inode.raw, target.length);
    if (target.length < RawInode.I_BLOCK_SIZE) {
      MemorySegment.copy(
          target, 0, inode.raw, ValueLayout.JAVA_BYTE, RawInode.I_BLOCK, target.length);
      return;
    }
    if (extents) {
      ExtentTree.initialise(inode.raw);
    }
    long blockNr = blockMap.allocate(handle, inode, 0, 1).run().blockNr();
    try (Buffer buffer = buffers.fresh(blockNr)) {
      handle.createAccess(buffer);
      MemorySegment.copy(target, 0, buffer.data(), ValueLayout.JAVA_BYTE, 0, target.length);
      handle.dirty(buffer);
    }
  }

  /// Linux has stored targets of 60 bytes and more like small files.
  private static byte[] readInline(Inode inode, long size) throws IOException {
    byte[] content = InlineArea.read(inode.raw, inode.ino());
    if (size <= 0 || size > content.length) {
      throw new FsException(
          Errno.EUCLEAN,
          "symbolic link with inode "
              + inode.ino()
              + " has size "
              + size
              + ", its inode holds "
              + content.length);
    }
    return Arrays.copyOf(content, (int) size);
  }

  private boolean encrypted(Inode inode) {
    return encrypting && inode.hasFlag(RawInode.EXT4_ENCRYPT_FL);
  }

  /// The length of what [#read] gives. The caller holds the inode's lock.
  long targetLength(Inode inode) {
    long size = RawInode.size(inode.raw);
    boolean possible = size > ENCRYPTED_HEADER && size <= buffers.blockSizeBytes();
    return encrypted(inode) && possible
        ? EncryptedNames.shownLength((int) size - ENCRYPTED_HEADER)
        : size;
  }

  /// The target; of an encrypted link what [EncryptedNames] shows of it.
  byte[] read(Inode inode) throws IOException {
    if (inode.type() != FileType.SYMLINK) {
      throw new FsException(Errno.EINVAL, "inode " + inode.ino() + " is not a symbolic link");
    }
    byte[] stored = readStored(inode);
    return encrypted(inode) ? shown(inode, stored) : stored;
  }

  private static byte[] shown(Inode inode, byte[] stored) throws FsException {
    int length = stored.length - ENCRYPTED_HEADER;
    if (length < 1 || Le.u16(MemorySegment.ofArray(stored), 0) != length) {
      throw new FsException(
          Errno.EUCLEAN,
          "encrypted symbolic link with inode " + inode.ino() + " does not say its own length");
    }
    byte[] target = Arrays.copyOfRange(stored, ENCRYPTED_HEADER, stored.length);
    return EncryptedNames.shown(target, 0).bytes();
  }

  private byte[] readStored(Inode inode) throws IOException {
    inode.lock.readLock().lock();
    try {
      long size = RawInode.size(inode.raw);
      if (inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL)) {
        return readInline(inode, size);
      }
      if (inInode(inode.raw)) {
        return inode.raw.asSlice(RawInode.I_BLOCK, size).toArray(ValueLayout.JAVA_BYTE);
      }
      if (size <= 0 || size > buffers.blockSizeBytes()) {
        throw new FsException(
            Errno.EUCLEAN, "symbolic link with inode " + inode.ino() + " has size " + size);
      }
      BlockMap.Run run = blockMap.lookup(inode, 0, 1);
      if (run.hole() || run.unwritten()) {
        throw new FsException(
            Errno.EUCLEAN, "symbolic link with inode " + inode.ino() + " has no target block");
      }
      try (Buffer buffer = buffers.read(run.blockNr())) {
        return buffer.data().asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
      }
    } finally {
      inode.lock.readLock().unlock();
    }
  }
}
