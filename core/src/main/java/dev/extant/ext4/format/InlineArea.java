package dev.extant.ext4.format;

import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// The content that an inode with EXT4_INLINE_DATA_FL holds itself (Linux documentation, "Inline
/// Data"): its first 60 bytes in i_block, the others as the value of the extended attribute
/// `system.data`, which must be in the inode and is there even if it is empty.
///
/// The content may be longer than the file: the file's size says what of it counts.
public final class InlineArea {
  private static final byte[] NAME = "data".getBytes(StandardCharsets.US_ASCII);

  private InlineArea() {}

  /// The most bytes that the inode has room for beside its other attributes; 0 if it can hold no
  /// content. EUCLEAN naming inode `ino` if its attributes cannot be read.
  public static int capacity(MemorySegment inode, long ino) throws FsException {
    int room = XattrBody.room(inode, ino, XattrEntry.EXT4_XATTR_INDEX_SYSTEM, NAME);
    return room < 0 ? 0 : RawInode.I_BLOCK_SIZE + room;
  }

  /// A copy of the whole content, at least 60 bytes. EUCLEAN naming inode `ino` if it cannot be
  /// read.
  public static byte[] read(MemorySegment inode, long ino) throws FsException {
    Xattr rest = XattrBody.find(inode, ino, XattrEntry.EXT4_XATTR_INDEX_SYSTEM, NAME);
    byte[] behind = rest == null ? new byte[0] : rest.value();
    byte[] content = new byte[RawInode.I_BLOCK_SIZE + behind.length];
    MemorySegment.copy(
        inode, ValueLayout.JAVA_BYTE, RawInode.I_BLOCK, content, 0, RawInode.I_BLOCK_SIZE);
    System.arraycopy(behind, 0, content, RawInode.I_BLOCK_SIZE, behind.length);
    return content;
  }

  /// Makes these bytes, no more than [#capacity], the content, and the inode one that holds its
  /// content and maps no blocks.
  public static void store(MemorySegment inode, long ino, byte[] content) throws FsException {
    int first = Math.min(content.length, RawInode.I_BLOCK_SIZE);
    byte[] behind = new byte[content.length - first];
    System.arraycopy(content, first, behind, 0, behind.length);
    Xattr rest = Xattr.of(XattrEntry.EXT4_XATTR_INDEX_SYSTEM, NAME, behind);
    if (!XattrBody.put(inode, ino, rest)) {
      throw new IllegalArgumentException(
          "inode " + ino + " has no room for " + content.length + " bytes");
    }
    block(inode).fill((byte) 0);
    MemorySegment.copy(content, 0, inode, ValueLayout.JAVA_BYTE, RawInode.I_BLOCK, first);
    long flags = RawInode.flags(inode) & ~RawInode.EXT4_EXTENTS_FL;
    RawInode.flags(inode, flags | RawInode.EXT4_INLINE_DATA_FL);
  }

  /// Takes the content away. i_block is zero then.
  public static void remove(MemorySegment inode, long ino) throws FsException {
    XattrBody.remove(inode, ino, XattrEntry.EXT4_XATTR_INDEX_SYSTEM, NAME);
    block(inode).fill((byte) 0);
    RawInode.flags(inode, RawInode.flags(inode) & ~RawInode.EXT4_INLINE_DATA_FL);
  }

  private static MemorySegment block(MemorySegment inode) {
    return inode.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE);
  }
}
