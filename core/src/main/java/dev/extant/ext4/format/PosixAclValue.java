package dev.extant.ext4.format;

import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.PosixAcl;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A POSIX ACL as the value of an extended attribute on disk: `ext4_acl_header`, then entries of
/// `ext4_acl_entry`, or `ext4_acl_entry_short` where the tag has no id (Linux's fs/ext4/acl.h).
///
/// | offset | field |
/// | --- | --- |
/// | 0x0 | a_version 1 |
/// | 0x4 | entries: e_tag (2 bytes), e_perm (2 bytes), and, of named users and groups, e_id (4 bytes) |
public final class PosixAclValue {
  private static final int VERSION = 1;
  private static final int HEADER_SIZE = 4;
  private static final int SHORT_SIZE = 4;
  private static final int LONG_SIZE = 8;

  private PosixAclValue() {}

  public static byte[] encode(PosixAcl acl) {
    int size = HEADER_SIZE;
    for (PosixAcl.Entry entry : acl.entries()) {
      size += entry.named() ? LONG_SIZE : SHORT_SIZE;
    }
    byte[] value = new byte[size];
    MemorySegment segment = MemorySegment.ofArray(value);
    Le.put32(segment, 0, VERSION);
    int at = HEADER_SIZE;
    for (PosixAcl.Entry entry : acl.entries()) {
      Le.put16(segment, at, entry.tag());
      Le.put16(segment, at + 2, entry.permissions());
      if (entry.named()) {
        Le.put32(segment, at + 4, entry.id());
      }
      at += entry.named() ? LONG_SIZE : SHORT_SIZE;
    }
    return value;
  }

  /// EUCLEAN naming inode `ino` if it is none. Whether the entries belong together is not checked.
  public static PosixAcl decode(byte[] value, long ino) throws FsException {
    MemorySegment segment = MemorySegment.ofArray(value);
    if (value.length < HEADER_SIZE || Le.u32(segment, 0) != VERSION) {
      throw corrupt(ino, "has no known version");
    }
    List<PosixAcl.Entry> entries = new ArrayList<>();
    int at = HEADER_SIZE;
    while (at < value.length) {
      if (at + SHORT_SIZE > value.length) {
        throw corrupt(ino, "ends within an entry");
      }
      int tag = Le.u16(segment, at);
      boolean named = tag == PosixAcl.USER || tag == PosixAcl.GROUP;
      if (Integer.bitCount(tag) != 1 || tag > PosixAcl.OTHER) {
        throw corrupt(ino, "has an entry with tag " + tag);
      }
      int end = at + (named ? LONG_SIZE : SHORT_SIZE);
      if (end > value.length) {
        throw corrupt(ino, "ends within an entry");
      }
      long id = named ? Le.u32(segment, at + 4) : 0;
      entries.add(new PosixAcl.Entry(tag, Le.u16(segment, at + 2), id));
      at = end;
    }
    return new PosixAcl(entries);
  }

  private static FsException corrupt(long ino, String why) {
    return new FsException(Errno.EUCLEAN, "inode " + ino + " is corrupt: its ACL " + why);
  }
}
