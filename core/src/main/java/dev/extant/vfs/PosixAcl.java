package dev.extant.vfs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// A POSIX access control list (acl(5)) and how it and the permission bits of a mode depend on each
/// other.
///
/// Outside it has the form of Linux's `struct posix_acl_xattr_header`: the version (4 bytes), then
/// 8 bytes for each entry: tag, permissions (2 bytes each), id (4 bytes, all ones where the tag has
/// none), little-endian.
public record PosixAcl(List<Entry> entries) {
  public static final int USER_OBJ = 0x01;
  public static final int USER = 0x02;
  public static final int GROUP_OBJ = 0x04;
  public static final int GROUP = 0x08;
  public static final int MASK = 0x10;
  public static final int OTHER = 0x20;

  private static final int VERSION = 2;
  private static final int HEADER_BYTES = 4;
  private static final int ENTRY_BYTES = 8;
  private static final int NO_ID = -1;

  /// One line: `id` is the user or group of the tags USER and GROUP, 0 otherwise.
  public record Entry(int tag, int permissions, long id) {
    public boolean named() {
      return tag == USER || tag == GROUP;
    }

    private Entry masked(int mask) {
      return new Entry(tag, permissions & mask & 7, id);
    }
  }

  /// What a new file gets from its directory's default ACL. `access` is null where the permissions
  /// say it all.
  public record Inherited(int permissions, PosixAcl access) {}

  public PosixAcl {
    entries = List.copyOf(entries);
  }

  /// Reads the outside form. EOPNOTSUPP for another version, EINVAL for an ACL that is not valid.
  /// Without entries it is no ACL: setting it means removing.
  public static PosixAcl parse(byte[] xattr) throws FsException {
    if (xattr.length == 0) {
      return new PosixAcl(List.of());
    }
    if (xattr.length < HEADER_BYTES) {
      throw invalid("it has " + xattr.length + " bytes");
    }
    ByteBuffer bytes = ByteBuffer.wrap(xattr).order(ByteOrder.LITTLE_ENDIAN);
    int version = bytes.getInt();
    if (version != VERSION) {
      throw new FsException(Errno.EOPNOTSUPP, "an ACL of version " + version + " is not known");
    }
    if (bytes.remaining() % ENTRY_BYTES != 0) {
      throw invalid("it has " + xattr.length + " bytes");
    }
    List<Entry> entries = new ArrayList<>();
    while (bytes.hasRemaining()) {
      int tag = bytes.getShort() & 0xFFFF;
      int permissions = bytes.getShort() & 0xFFFF;
      long id = bytes.getInt() & 0xFFFF_FFFFL;
      entries.add(new Entry(tag, permissions, tag == USER || tag == GROUP ? id : 0));
    }
    PosixAcl acl = new PosixAcl(entries);
    if (!entries.isEmpty()) {
      acl.requireValid();
    }
    return acl;
  }

  /// The outside form.
  public byte[] xattr() {
    ByteBuffer bytes =
        ByteBuffer.allocate(HEADER_BYTES + ENTRY_BYTES * entries.size())
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(VERSION);
    for (Entry entry : entries) {
      bytes.putShort((short) entry.tag).putShort((short) entry.permissions);
      bytes.putInt(entry.named() ? (int) entry.id : NO_ID);
    }
    return bytes.array();
  }

  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /// The owner, group and others once each, tags in ascending order, named users and groups in
  /// ascending order without doubles, and a mask if there are any of these.
  private void requireValid() throws FsException {
    int seen = 0;
    Entry before = null;
    for (Entry entry : entries) {
      if (Integer.bitCount(entry.tag) != 1 || entry.tag > OTHER) {
        throw invalid("there is no tag " + entry.tag);
      }
      if (entry.permissions > 7) {
        throw invalid("there are no permissions " + Integer.toOctalString(entry.permissions));
      }
      if (entry.named() && entry.id == (NO_ID & 0xFFFF_FFFFL)) {
        throw invalid("a named entry has no id");
      }
      if (before != null && !ascending(before, entry)) {
        throw invalid("its entries are not in order, or one is there twice");
      }
      seen |= entry.tag;
      before = entry;
    }
    int needed = USER_OBJ | GROUP_OBJ | OTHER | ((seen & (USER | GROUP)) != 0 ? MASK : 0);
    if ((seen & needed) != needed) {
      throw invalid("the owner, group, others or mask is missing");
    }
  }

  private static boolean ascending(Entry before, Entry entry) {
    return before.tag < entry.tag
        || before.tag == entry.tag && before.named() && before.id < entry.id;
  }

  private static FsException invalid(String why) {
    return new FsException(Errno.EINVAL, "not a valid ACL: " + why);
  }

  private int permissionsOf(int tag) {
    for (Entry entry : entries) {
      if (entry.tag == tag) {
        return entry.permissions & 7;
      }
    }
    return -1;
  }

  /// True if the owner, group and others are there, without which nothing can be said of a mode. An
  /// ACL that was parsed has them.
  public boolean complete() {
    return permissionsOf(USER_OBJ) >= 0
        && permissionsOf(GROUP_OBJ) >= 0
        && permissionsOf(OTHER) >= 0;
  }

  /// True if a mode's nine bits say the same.
  public boolean equivalentToMode() {
    return entries.stream().noneMatch(entry -> entry.named() || entry.tag == MASK);
  }

  /// `permissions` with the lowest nine bits as this ACL has them: those of the group are the mask.
  public int permissions(int permissions) {
    int mask = permissionsOf(MASK);
    int group = mask >= 0 ? mask : permissionsOf(GROUP_OBJ);
    return permissions & ~0777 | permissionsOf(USER_OBJ) << 6 | group << 3 | permissionsOf(OTHER);
  }

  /// The ACL, which is complete, after its file's permissions were set.
  public PosixAcl withPermissions(int permissions) {
    boolean hasMask = permissionsOf(MASK) >= 0;
    List<Entry> changed = new ArrayList<>();
    for (Entry entry : entries) {
      int now =
          switch (entry.tag) {
            case USER_OBJ -> permissions >> 6 & 7;
            case GROUP_OBJ -> hasMask ? entry.permissions : permissions >> 3 & 7;
            case MASK -> permissions >> 3 & 7;
            case OTHER -> permissions & 7;
            default -> entry.permissions;
          };
      changed.add(new Entry(entry.tag, now, entry.id));
    }
    return new PosixAcl(changed);
  }

  /// What a file gets that is made with these permissions in a directory whose default ACL this is.
  public Inherited inherited(int permissions) {
    boolean hasMask = permissionsOf(MASK) >= 0;
    List<Entry> masked = new ArrayList<>();
    for (Entry entry : entries) {
      masked.add(
          switch (entry.tag) {
            case USER_OBJ -> entry.masked(permissions >> 6);
            case GROUP_OBJ -> hasMask ? entry : entry.masked(permissions >> 3);
            case MASK -> entry.masked(permissions >> 3);
            case OTHER -> entry.masked(permissions);
            default -> entry;
          });
    }
    PosixAcl access = new PosixAcl(masked);
    return new Inherited(
        access.permissions(permissions), access.equivalentToMode() ? null : access);
  }
}
