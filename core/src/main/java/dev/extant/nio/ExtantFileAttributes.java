package dev.extant.nio;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileType;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/// An inode's attributes at one moment; `dev` is the number of its file system in this JVM.
record ExtantFileAttributes(Attributes inode, long dev) implements PosixFileAttributes {
  /// Equal for the same inode only, as long as its file system is open.
  private record Key(long dev, long ino, int generation) {
    @Override
    public String toString() {
      return "(dev=" + dev + ",ino=" + ino + ")";
    }
  }

  @Override
  public FileTime lastModifiedTime() {
    return FileTime.from(inode.times().modified());
  }

  @Override
  public FileTime lastAccessTime() {
    return FileTime.from(inode.times().accessed());
  }

  /// The time of the last modification where the inode does not record its creation.
  @Override
  public FileTime creationTime() {
    return inode.times().created() == null
        ? lastModifiedTime()
        : FileTime.from(inode.times().created());
  }

  FileTime changeTime() {
    return FileTime.from(inode.times().changed());
  }

  @Override
  public boolean isRegularFile() {
    return inode.type() == FileType.REGULAR;
  }

  @Override
  public boolean isDirectory() {
    return inode.type() == FileType.DIRECTORY;
  }

  @Override
  public boolean isSymbolicLink() {
    return inode.type() == FileType.SYMLINK;
  }

  @Override
  public boolean isOther() {
    return !isRegularFile() && !isDirectory() && !isSymbolicLink();
  }

  @Override
  public long size() {
    return inode.sizeBytes();
  }

  @Override
  public Object fileKey() {
    return new Key(dev, inode.ino(), inode.generation());
  }

  @Override
  public UserPrincipal owner() {
    return new Principals.User(inode.uid());
  }

  @Override
  public GroupPrincipal group() {
    return new Principals.Group(inode.gid());
  }

  @Override
  public Set<PosixFilePermission> permissions() {
    return Permissions.set(inode.permissions());
  }
}
