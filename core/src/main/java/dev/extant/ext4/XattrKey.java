package dev.extant.ext4;

import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrEntry;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.XattrName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// The name of an extended attribute as it is on disk: a number for the name space, and the rest.
///
/// `system.data` and rich ACLs have numbers too, but nobody outside sees them: what is in them
/// belongs to the file system.
record XattrKey(int index, byte[] name) {
  static final XattrKey ACCESS_ACL =
      new XattrKey(XattrEntry.EXT4_XATTR_INDEX_POSIX_ACL_ACCESS, new byte[0]);
  static final XattrKey DEFAULT_ACL =
      new XattrKey(XattrEntry.EXT4_XATTR_INDEX_POSIX_ACL_DEFAULT, new byte[0]);

  /// A name space, or, if `whole`, the full name of its only attribute.
  private record Space(int index, byte[] prefix, boolean whole) {
    Space(int index, String prefix, boolean whole) {
      this(index, prefix.getBytes(StandardCharsets.US_ASCII), whole);
    }

    boolean covers(byte[] full) {
      return whole
          ? Arrays.equals(full, prefix)
          : full.length >= prefix.length
              && Arrays.equals(full, 0, prefix.length, prefix, 0, prefix.length);
    }
  }

  private static final List<Space> SPACES =
      List.of(
          new Space(XattrEntry.EXT4_XATTR_INDEX_USER, "user.", false),
          new Space(ACCESS_ACL.index, "system.posix_acl_access", true),
          new Space(DEFAULT_ACL.index, "system.posix_acl_default", true),
          new Space(XattrEntry.EXT4_XATTR_INDEX_TRUSTED, "trusted.", false),
          new Space(XattrEntry.EXT4_XATTR_INDEX_SECURITY, "security.", false));

  /// EOPNOTSUPP for a name space that is not known, EINVAL for the name of a name space alone.
  static XattrKey of(XattrName name) throws FsException {
    byte[] full = name.bytes();
    for (Space space : SPACES) {
      if (space.covers(full)) {
        byte[] rest = Arrays.copyOfRange(full, space.prefix.length, full.length);
        if (rest.length == 0 && !space.whole) {
          throw new FsException(Errno.EINVAL, "an extended attribute cannot be called " + name);
        }
        return new XattrKey(space.index, rest);
      }
    }
    throw new FsException(
        Errno.EOPNOTSUPP, "extended attributes like " + name + " are not supported");
  }

  /// The full name; null for one that has none outside.
  static XattrName nameOf(Xattr xattr) throws FsException {
    for (Space space : SPACES) {
      byte[] rest = xattr.name();
      int length = space.prefix.length + rest.length;
      if (space.index == xattr.nameIndex()
          && space.whole == (rest.length == 0)
          && length <= XattrName.MAX_BYTES) {
        byte[] full = Arrays.copyOf(space.prefix, length);
        System.arraycopy(rest, 0, full, space.prefix.length, rest.length);
        return XattrName.of(full);
      }
    }
    return null;
  }

  boolean isAcl() {
    return index == ACCESS_ACL.index || index == DEFAULT_ACL.index;
  }

  boolean isAccessAcl() {
    return index == ACCESS_ACL.index;
  }

  boolean isUser() {
    return index == XattrEntry.EXT4_XATTR_INDEX_USER;
  }

  boolean of(Xattr xattr) {
    return xattr.named(index, name);
  }
}
