package dev.extant.vfs;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The full name of an extended attribute, such as `user.note` or `system.posix_acl_access`: 1 to
/// 255 bytes without a zero byte. Nothing is said of whether a file system knows the name space.
public final class XattrName implements Comparable<XattrName> {
  public static final int MAX_BYTES = 255;

  private final byte[] bytes;

  private XattrName(byte[] bytes) {
    this.bytes = bytes;
  }

  /// ERANGE if it is empty or too long, EINVAL if it holds a zero byte.
  public static XattrName of(byte[] name) throws FsException {
    if (name.length == 0 || name.length > MAX_BYTES) {
      throw new FsException(
          Errno.ERANGE,
          "a name of an extended attribute has 1 to " + MAX_BYTES + " bytes, not " + name.length);
    }
    for (byte b : name) {
      if (b == 0) {
        throw new FsException(
            Errno.EINVAL, "a name of an extended attribute cannot hold a zero byte");
      }
    }
    return new XattrName(name.clone());
  }

  /// The UTF-8 bytes of `name`.
  public static XattrName of(String name) throws FsException {
    return of(name.getBytes(StandardCharsets.UTF_8));
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public int compareTo(XattrName other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof XattrName name && Arrays.equals(bytes, name.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /// The bytes read as UTF-8.
  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
