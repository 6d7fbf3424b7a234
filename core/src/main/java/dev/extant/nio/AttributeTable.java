package dev.extant.nio;

import dev.extant.vfs.AttributeChange;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/// Attributes by name, `VIEW:NAME` (without a view: `basic`), of all views but `user`.
///
/// The view `unix` has all of `posix` and, as stat(2) names them: `mode`, `ino`, `dev`, `rdev`,
/// `nlink`, `uid`, `gid`, `ctime`.
final class AttributeTable {
  private static final int PERMISSION_BITS = 07777;

  private static final Map<String, Function<ExtantFileAttributes, Object>> BASIC =
      Map.of(
          "lastModifiedTime", ExtantFileAttributes::lastModifiedTime,
          "lastAccessTime", ExtantFileAttributes::lastAccessTime,
          "creationTime", ExtantFileAttributes::creationTime,
          "size", ExtantFileAttributes::size,
          "isRegularFile", ExtantFileAttributes::isRegularFile,
          "isDirectory", ExtantFileAttributes::isDirectory,
          "isSymbolicLink", ExtantFileAttributes::isSymbolicLink,
          "isOther", ExtantFileAttributes::isOther,
          "fileKey", ExtantFileAttributes::fileKey);
  private static final Map<String, Function<ExtantFileAttributes, Object>> OWNER =
      Map.of("owner", ExtantFileAttributes::owner);
  private static final Map<String, Function<ExtantFileAttributes, Object>> POSIX =
      union(
          BASIC,
          Map.of(
              "permissions", ExtantFileAttributes::permissions,
              "owner", ExtantFileAttributes::owner,
              "group", ExtantFileAttributes::group));
  private static final Map<String, Function<ExtantFileAttributes, Object>> UNIX =
      union(
          POSIX,
          Map.of(
              "mode", file -> file.inode().mode(),
              "ino", file -> file.inode().ino(),
              "dev", ExtantFileAttributes::dev,
              "rdev", file -> file.inode().rdev(),
              "nlink", file -> file.inode().nlink(),
              "uid", file -> (int) file.inode().uid(),
              "gid", file -> (int) file.inode().gid(),
              "ctime", ExtantFileAttributes::changeTime));
  private static final Map<String, Map<String, Function<ExtantFileAttributes, Object>>> VIEWS =
      Map.of("basic", BASIC, "owner", OWNER, "posix", POSIX, "unix", UNIX);

  private AttributeTable() {}

  private static Map<String, Function<ExtantFileAttributes, Object>> union(
      Map<String, Function<ExtantFileAttributes, Object>> one,
      Map<String, Function<ExtantFileAttributes, Object>> two) {
    Map<String, Function<ExtantFileAttributes, Object>> union = new HashMap<>(one);
    union.putAll(two);
    return Map.copyOf(union);
  }

  /// What reads the attributes of a list such as `size,fileKey`, `posix:*` or `unix:ino,nlink`, by
  /// name.
  ///
  /// @throws UnsupportedOperationException for an unknown view
  /// @throws IllegalArgumentException for an unknown attribute
  static Map<String, Function<ExtantFileAttributes, Object>> select(String list) {
    String view = AttributeViews.viewOf(list);
    Map<String, Function<ExtantFileAttributes, Object>> known = VIEWS.get(view);
    Map<String, Function<ExtantFileAttributes, Object>> selected = new LinkedHashMap<>();
    for (String name : AttributeViews.namesOf(list).split(",", -1)) {
      if (name.equals("*")) {
        selected.putAll(known);
      } else if (known.containsKey(name)) {
        selected.put(name, known.get(name));
      } else {
        throw new IllegalArgumentException("'" + view + ":" + name + "' is not known");
      }
    }
    return selected;
  }

  /// The change that setting one attribute asks for.
  ///
  /// @throws UnsupportedOperationException for an unknown view
  /// @throws IllegalArgumentException for an unknown attribute or one that cannot be set
  /// @throws ClassCastException if the value is not of the attribute's type
  static AttributeChange change(String attribute, Object value) {
    String view = AttributeViews.viewOf(attribute);
    String name = AttributeViews.namesOf(attribute);
    if (!VIEWS.get(view).containsKey(name)) {
      throw new IllegalArgumentException("'" + view + ":" + name + "' is not known");
    }
    return switch (name) {
      case "lastModifiedTime" -> AttributeChange.times(null, instant(value), null);
      case "lastAccessTime" -> AttributeChange.times(instant(value), null, null);
      case "creationTime" -> AttributeChange.times(null, null, instant(value));
      case "permissions" -> AttributeChange.permissions(permissions((Set<?>) value));
      case "mode" -> AttributeChange.permissions((Integer) value & PERMISSION_BITS);
      case "owner" -> AttributeChange.owner(Principals.uid((UserPrincipal) value), null);
      case "group" -> AttributeChange.owner(null, Principals.gid((GroupPrincipal) value));
      case "uid" -> AttributeChange.owner(Integer.toUnsignedLong((Integer) value), null);
      case "gid" -> AttributeChange.owner(null, Integer.toUnsignedLong((Integer) value));
      default -> throw new IllegalArgumentException("'" + view + ":" + name + "' cannot be set");
    };
  }

  private static Instant instant(Object value) {
    return value == null ? null : ((FileTime) value).toInstant();
  }

  private static int permissions(Set<?> values) {
    int bits = 0;
    for (Object value : values) {
      bits |= Permissions.bit((PosixFilePermission) value);
    }
    return bits;
  }
}
