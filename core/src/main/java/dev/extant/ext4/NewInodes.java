package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.util.Le;
import dev.extant.vfs.FileType;
import dev.extant.vfs.NewFile;
import java.lang.foreign.MemorySegment;
import java.time.Instant;

/// The first bytes of an inode that is being made.
final class NewInodes {
  private static final int S_ISGID = 02000;

  /// What a file takes over from its directory (`EXT4_FL_INHERITED`, as far as it is safe without
  /// the feature behind the flag): no dump, no access time; where it has content also synchronous
  /// and data journaled.
  private static final long INHERITED = RawInode.EXT4_NODUMP_FL | RawInode.EXT4_NOATIME_FL;

  private static final long INHERITED_WITH_CONTENT =
      INHERITED | RawInode.EXT4_SYNC_FL | RawInode.EXT4_JOURNAL_DATA_FL;

  private static final int S_IXGRP = 010;

  private final Geometry geometry;
  private final int extraIsize;
  private final boolean extents;

  /// `extraIsize` as the superblock wants it; ignored for 128-byte inodes.
  NewInodes(Geometry geometry, int extraIsize, boolean extents) {
    this.geometry = geometry;
    this.extraIsize = extraIsize;
    this.extents = extents;
  }

  /// Bytes of no inode yet, but laid out as those of a new one are.
  MemorySegment blank() {
    MemorySegment raw = MemorySegment.ofArray(new byte[geometry.inodeSizeBytes()]);
    if (geometry.inodeSizeBytes() > RawInode.GOOD_OLD_INODE_SIZE) {
      RawInode.extraIsize(raw, extraIsize);
    }
    return raw;
  }

  MemorySegment prepare(
      Inode parent, FileType type, NewFile file, int links, int generation, Instant now) {
    MemorySegment raw = blank();
    int permissions = file.permissions() & 0xFFF;
    long gid = file.gid();
    int parentMode = RawInode.mode(parent.raw);
    if ((parentMode & S_ISGID) != 0) {
      gid = RawInode.gid(parent.raw);
      if (type == FileType.DIRECTORY) {
        permissions |= S_ISGID;
      } else if ((permissions & S_IXGRP) == 0) {
        permissions &= ~S_ISGID;
      }
    }
    RawInode.mode(raw, type.modeBits() | permissions);
    RawInode.uid(raw, file.uid());
    RawInode.gid(raw, gid);
    RawInode.linksCount(raw, links);
    RawInode.generation(raw, generation);
    RawInode.accessed(raw, now);
    RawInode.modified(raw, now);
    RawInode.changed(raw, now);
    RawInode.created(raw, now);
    long inherited = mapped(type) ? INHERITED_WITH_CONTENT : INHERITED;
    RawInode.flags(raw, RawInode.flags(parent.raw) & inherited);
    if (extents && mapped(type)) {
      ExtentTree.initialise(raw);
    }
    return raw;
  }

  /// An inode for the value of an extended attribute of `owner`, without links. Its checksum and
  /// references come when it is used.
  MemorySegment prepareValue(Inode owner, int generation, Instant now) {
    NewFile file = new NewFile(0600, RawInode.uid(owner.raw), RawInode.gid(owner.raw));
    MemorySegment raw = prepare(owner, FileType.REGULAR, file, 0, generation, now);
    RawInode.gid(raw, file.gid());
    long map = RawInode.flags(raw) & RawInode.EXT4_EXTENTS_FL;
    RawInode.flags(raw, map | RawInode.EXT4_EA_INODE_FL);
    return raw;
  }

  private static boolean mapped(FileType type) {
    return type == FileType.REGULAR || type == FileType.DIRECTORY;
  }

  /// Stores a device number: in i_block[0] as 8 + 8 bits if it fits, else in i_block[1] as 12 + 20
  /// bits (spec: "The Contents of inode.i_block", struct ext4_inode i_block of devices).
  static void deviceNumber(MemorySegment raw, long rdev) {
    long major = rdev >>> 8 & 0xFFF;
    long minor = rdev & 0xFF | rdev >>> 12 & 0xFFF00;
    if (major < 256 && minor < 256) {
      Le.put32(raw, RawInode.I_BLOCK, major << 8 | minor);
    } else {
      Le.put32(raw, RawInode.I_BLOCK + 4, minor & 0xFF | major << 8 | (minor & ~0xFFL) << 12);
    }
  }

  static long deviceNumber(MemorySegment raw) {
    long old = Le.u32(raw, RawInode.I_BLOCK);
    return old != 0 ? old & 0xFFFF : Le.u32(raw, RawInode.I_BLOCK + 4);
  }
}
