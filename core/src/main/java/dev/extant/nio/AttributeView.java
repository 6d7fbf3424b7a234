package dev.extant.nio;

import dev.extant.vfs.AttributeChange;
import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.Set;

/// All of a path's attributes; `name` is that of the view it was asked for as.
record AttributeView(String name, Operations operations, ExtantPath path, Follow follow)
    implements PosixFileAttributeView {
  @Override
  public ExtantFileAttributes readAttributes() throws IOException {
    return operations.attributes(path, follow);
  }

  @Override
  public void setTimes(FileTime modified, FileTime accessed, FileTime created) throws IOException {
    change(AttributeChange.times(instant(accessed), instant(modified), instant(created)));
  }

  private static Instant instant(FileTime time) {
    return time == null ? null : time.toInstant();
  }

  @Override
  public UserPrincipal getOwner() throws IOException {
    return readAttributes().owner();
  }

  @Override
  public void setOwner(UserPrincipal owner) throws IOException {
    change(AttributeChange.owner(Principals.uid(owner), null));
  }

  @Override
  public void setGroup(GroupPrincipal group) throws IOException {
    change(AttributeChange.owner(null, Principals.gid(group)));
  }

  @Override
  public void setPermissions(Set<PosixFilePermission> permissions) throws IOException {
    change(AttributeChange.permissions(Permissions.bits(permissions)));
  }

  private void change(AttributeChange change) throws IOException {
    operations.change(path, follow, change);
  }
}
