package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileTimes;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Map;

/// What the host's file system tells of a file, in the terms of a volume.
final class HostFiles {
  static final LinkOption[] NO_FOLLOW = {LinkOption.NOFOLLOW_LINKS};

  private HostFiles() {}

  /// True where files have Unix owners, modes and inode numbers.
  static boolean hasUnixAttributes(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("unix");
  }

  static Attributes attributes(Path path, boolean follow) throws IOException {
    LinkOption[] options = follow ? new LinkOption[0] : NO_FOLLOW;
    if (!hasUnixAttributes(path)) {
      return withoutUnixAttributes(Files.readAttributes(path, BasicFileAttributes.class, options));
    }
    Map<String, Object> unix = Files.readAttributes(path, "unix:*", options);
    int mode = (Integer) unix.get("mode");
    return new Attributes(
        (Long) unix.get("ino"),
        0,
        FileType.ofMode(mode),
        mode,
        (Integer) unix.get("nlink"),
        Integer.toUnsignedLong((Integer) unix.get("uid")),
        Integer.toUnsignedLong((Integer) unix.get("gid")),
        (Long) unix.get("size"),
        (Long) unix.get("size"),
        4096,
        encode((Long) unix.get("rdev")),
        new FileTimes(
            ((FileTime) unix.get("lastAccessTime")).toInstant(),
            ((FileTime) unix.get("lastModifiedTime")).toInstant(),
            ((FileTime) unix.get("ctime")).toInstant(),
            null));
  }

  private static Attributes withoutUnixAttributes(BasicFileAttributes basic) {
    FileType type =
        basic.isDirectory()
            ? FileType.DIRECTORY
            : basic.isSymbolicLink() ? FileType.SYMLINK : FileType.REGULAR;
    int permissions = type == FileType.REGULAR ? 0644 : type == FileType.DIRECTORY ? 0755 : 0777;
    return new Attributes(
        0,
        0,
        type,
        type.modeBits() | permissions,
        1,
        0,
        0,
        basic.size(),
        basic.size(),
        4096,
        0,
        new FileTimes(
            basic.lastAccessTime().toInstant(),
            basic.lastModifiedTime().toInstant(),
            basic.lastModifiedTime().toInstant(),
            null));
  }

  /// A device number as glibc packs it in 64 bits, as the kernel packs it in 32.
  static long encode(long device) {
    long major = device >>> 8 & 0xFFF | device >>> 32 & 0xFFFFF000L;
    long minor = device & 0xFF | device >>> 12 & 0xFFFFFF00L;
    return minor & 0xFF | major << 8 | (minor & ~0xFFL) << 12;
  }
}
