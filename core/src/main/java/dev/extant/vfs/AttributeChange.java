package dev.extant.vfs;

import java.time.Instant;

/// What to change on an inode; null leaves a field as it is. The change time is always set to now.
public record AttributeChange(
    Integer permissions, Long uid, Long gid, Instant accessed, Instant modified, Instant created) {
  public static AttributeChange permissions(int permissions) {
    return new AttributeChange(permissions, null, null, null, null, null);
  }

  public static AttributeChange owner(Long uid, Long gid) {
    return new AttributeChange(null, uid, gid, null, null, null);
  }

  public static AttributeChange times(Instant accessed, Instant modified, Instant created) {
    return new AttributeChange(null, null, null, accessed, modified, created);
  }
}
