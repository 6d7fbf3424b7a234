package dev.extant.nio;

import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/// Permission bits as NIO's sets. The enum's order is that of the bits, from 0400 down.
final class Permissions {
  private Permissions() {}

  static int bit(PosixFilePermission permission) {
    return 0400 >> permission.ordinal();
  }

  static int bits(Set<PosixFilePermission> permissions) {
    int bits = 0;
    for (PosixFilePermission permission : permissions) {
      bits |= bit(permission);
    }
    return bits;
  }

  static Set<PosixFilePermission> set(int bits) {
    Set<PosixFilePermission> set = EnumSet.noneOf(PosixFilePermission.class);
    for (PosixFilePermission permission : PosixFilePermission.values()) {
      if ((bits & bit(permission)) != 0) {
        set.add(permission);
      }
    }
    return set;
  }
}
