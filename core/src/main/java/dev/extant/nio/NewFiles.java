package dev.extant.nio;

import dev.extant.vfs.NewFile;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Owner, group and umask of the files a file system makes.
record NewFiles(long uid, long gid, int umask) {
  private static final Set<String> PERMISSIONS = Set.of("posix:permissions", "unix:permissions");
  private static final int DEFAULT_UMASK = 022;
  private static final long MAX_ID = 0xffff_ffffL;

  /// Takes `uid`, `gid` and `umask` (octal, or an [Integer]) out of a copy of the environment; see
  /// [#others].
  static NewFiles of(Map<String, ?> env) {
    return new NewFiles(
        number(env, "uid", 10, 0, MAX_ID),
        number(env, "gid", 10, 0, MAX_ID),
        (int) number(env, "umask", 8, DEFAULT_UMASK, 0777));
  }

  /// The environment without what [#of] reads, in its order.
  static Map<String, Object> others(Map<String, ?> env) {
    Map<String, Object> others = new LinkedHashMap<>(env);
    others.keySet().removeAll(Set.of("uid", "gid", "umask"));
    return others;
  }

  private static long number(Map<String, ?> env, String key, int radix, long missing, long most) {
    Object value = env.get(key);
    if (value == null) {
      return missing;
    }
    long number;
    try {
      number =
          value instanceof Number given
              ? given.longValue()
              : Long.parseLong(value.toString(), radix);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(key + " is not a number: " + value, e);
    }
    if (number < 0 || number > most) {
      throw new IllegalArgumentException(key + " is out of range: " + value);
    }
    return number;
  }

  /// A file with these permissions, less the umask; with those of a `posix:permissions` attribute
  /// instead, if there is one, less the umask too.
  ///
  /// @throws UnsupportedOperationException for any other attribute
  NewFile file(int permissions, FileAttribute<?>... attributes) {
    int wanted = permissions;
    for (FileAttribute<?> attribute : attributes) {
      if (!PERMISSIONS.contains(attribute.name())) {
        throw new UnsupportedOperationException(
            "'" + attribute.name() + "' is no attribute a file can be made with");
      }
      wanted = 0;
      for (Object permission : (Set<?>) attribute.value()) {
        wanted |= Permissions.bit((PosixFilePermission) permission);
      }
    }
    return new NewFile(wanted & ~umask, uid, gid);
  }

  NewFile symlink() {
    return new NewFile(0777, uid, gid);
  }
}
