package dev.extant.fsck;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// What the scan found of each inode, a byte each, in chunks that are made when first touched. For
/// any number of threads. Numbers outside the file system are no inodes in use.
final class InodeStates {
  /// The inode is in use: it has links, or is on the orphan list.
  static final int USED = 0x08;

  /// So wrong that its content means nothing; e2fsck would clear it.
  static final int BAD = 0x10;

  static final int ENCRYPTED = 0x20;

  /// EXT4_EA_INODE_FL: it holds the value of an extended attribute.
  static final int EA_INODE = 0x40;

  static final int CASEFOLDED = 0x80;

  private static final int TYPE = 0x07;
  private static final int CHUNK_SHIFT = 14;
  private static final VarHandle BYTES = MethodHandles.arrayElementVarHandle(byte[].class);

  private final FsLayout layout;
  private final AtomicReferenceArray<byte[]> chunks;

  InodeStates(FsLayout layout) {
    this.layout = layout;
    int count = Math.toIntExact((layout.inodesCount() >>> CHUNK_SHIFT) + 1);
    this.chunks = new AtomicReferenceArray<>(count);
  }

  /// Sets bits, and the type as directory entries have it (1 regular, 2 directory, …).
  void add(long ino, int bits) {
    int chunk = (int) (ino >>> CHUNK_SHIFT);
    byte[] bytes = chunks.get(chunk);
    if (bytes == null) {
      byte[] fresh = new byte[1 << CHUNK_SHIFT];
      bytes = chunks.compareAndSet(chunk, null, fresh) ? fresh : chunks.get(chunk);
    }
    BYTES.getAndBitwiseOr(bytes, inChunk(ino), (byte) bits);
  }

  boolean used(long ino) {
    return has(ino, USED);
  }

  boolean directory(long ino) {
    return type(ino) == 2;
  }

  boolean has(long ino, int bit) {
    return (get(ino) & bit) != 0;
  }

  /// As directory entries have it; 0 if it is not in use or of no known type.
  int type(long ino) {
    return get(ino) & TYPE;
  }

  private int get(long ino) {
    if (!layout.validInode(ino)) {
      return 0;
    }
    byte[] bytes = chunks.get((int) (ino >>> CHUNK_SHIFT));
    return bytes == null ? 0 : (byte) BYTES.getVolatile(bytes, inChunk(ino)) & 0xff;
  }

  private static int inChunk(long ino) {
    return (int) ino & (1 << CHUNK_SHIFT) - 1;
  }
}
