package dev.extant.ext4.format;

import dev.extant.util.Le;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The extended attributes in an inode itself, behind its fields: `struct ext4_xattr_ibody_header`,
/// entries, values (Linux documentation, "Extended Attributes"). Segments are exactly the inode.
///
/// | offset | field |
/// | --- | --- |
/// | 128 + i_extra_isize | h_magic 0xEA020000; another number: no attributes here |
/// | + 4 | entries ([XattrEntry]), in any order |
///
/// Inodes of 128 bytes have no room, and those whose i_extra_isize is 0 are left alone, as the
/// number there and the field overlap.
public final class XattrBody {
  private static final int HEADER_SIZE = 4;

  private XattrBody() {}

  private static int header(MemorySegment inode) {
    return RawInode.GOOD_OLD_INODE_SIZE + RawInode.extraIsize(inode);
  }

  private static XattrTable table(MemorySegment inode) {
    int first = header(inode) + HEADER_SIZE;
    return new XattrTable(inode, first, first);
  }

  /// True if the inode has room for attributes, in use or not.
  public static boolean exists(MemorySegment inode) {
    return RawInode.extraIsize(inode) > 0
        && header(inode) + HEADER_SIZE + XattrEntry.END_SIZE <= inode.byteSize();
  }

  public static boolean hasMagic(MemorySegment inode) {
    return exists(inode) && Le.u32(inode, header(inode)) == XattrBlock.EXT4_XATTR_MAGIC;
  }

  /// The attributes, in a list of the caller's own; EUCLEAN naming inode `ino` if they cannot be
  /// read.
  public static List<Xattr> read(MemorySegment inode, long ino) throws FsException {
    return hasMagic(inode) ? table(inode).read("inode " + ino) : new ArrayList<>();
  }

  /// True if exactly these can be stored.
  public static boolean fits(MemorySegment inode, List<Xattr> xattrs) {
    return xattrs.isEmpty() || exists(inode) && table(inode).fits(xattrs);
  }

  /// Makes these the attributes in the inode. They fit.
  public static void write(MemorySegment inode, List<Xattr> xattrs) {
    if (xattrs.isEmpty()) {
      if (exists(inode)) {
        inode.asSlice(header(inode)).fill((byte) 0);
      }
      return;
    }
    Le.put32(inode, header(inode), XattrBlock.EXT4_XATTR_MAGIC);
    table(inode).write(xattrs, xattr -> xattr.valueInum() == 0 ? 0 : xattr.hash());
  }

  /// The attribute of that name, or null.
  public static Xattr find(MemorySegment inode, long ino, int nameIndex, byte[] name)
      throws FsException {
    for (Xattr xattr : read(inode, ino)) {
      if (xattr.named(nameIndex, name)) {
        return xattr;
      }
    }
    return null;
  }

  /// The longest value that the attribute of that name could have, in place of the one it has; -1
  /// if there is not even room for its entry.
  public static int room(MemorySegment inode, long ino, int nameIndex, byte[] name)
      throws FsException {
    if (!exists(inode)) {
      return -1;
    }
    int left = table(inode).capacity() - XattrEntry.size(name.length);
    for (Xattr xattr : read(inode, ino)) {
      left -= xattr.named(nameIndex, name) ? 0 : xattr.storedBytes();
    }
    return left < 0 ? -1 : left & ~3;
  }

  /// Adds the attribute, or replaces the one of its name; false, and nothing is changed, if it does
  /// not fit.
  public static boolean put(MemorySegment inode, long ino, Xattr xattr) throws FsException {
    List<Xattr> xattrs = read(inode, ino);
    replace(xattrs, xattr);
    if (!fits(inode, xattrs)) {
      return false;
    }
    write(inode, xattrs);
    return true;
  }

  /// False if there is none of that name.
  public static boolean remove(MemorySegment inode, long ino, int nameIndex, byte[] name)
      throws FsException {
    List<Xattr> xattrs = read(inode, ino);
    boolean removed = xattrs.removeIf(xattr -> xattr.named(nameIndex, name));
    if (removed) {
      write(inode, xattrs);
    }
    return removed;
  }

  /// Puts the attribute in the place of the one of its name, or at the end.
  private static void replace(List<Xattr> xattrs, Xattr xattr) {
    for (int i = 0; i < xattrs.size(); i++) {
      if (xattrs.get(i).named(xattr.nameIndex(), xattr.name())) {
        xattrs.set(i, xattr);
        return;
      }
    }
    xattrs.add(xattr);
  }
}
