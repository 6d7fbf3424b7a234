package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.DirEntry;
import dev.extant.util.Le;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;

/// Goes through a run of entries, unused ones included, and checks each before it shows it: entries
/// lie one behind the other, each longer than what is in it, and the last ends exactly where the
/// run ends. So it ends, whatever the bytes are.
final class EntryCursor {
  private final Inode dir;
  private final long blockNr;
  private final MemorySegment data;
  private final int end;
  private final boolean encrypted;
  private int previous = -1;
  private int offset = -1;
  private int next;

  /// `end` is where the entries end: the end of the block or its checksum tail. Names that are
  /// `encrypted` may be any bytes.
  EntryCursor(Inode dir, Buffer buffer, int end, boolean encrypted) {
    this(dir, buffer.blockNr(), buffer.data(), 0, end, encrypted);
  }

  /// The entries from `start` to `end` of any bytes; `blockNr` 0: those of the inode itself.
  EntryCursor(Inode dir, long blockNr, MemorySegment data, int start, int end) {
    this(dir, blockNr, data, start, end, false);
  }

  private EntryCursor(
      Inode dir, long blockNr, MemorySegment data, int start, int end, boolean encrypted) {
    this.dir = dir;
    this.blockNr = blockNr;
    this.data = data;
    this.next = start;
    this.end = end;
    this.encrypted = encrypted;
  }

  /// Moves to the next entry; false if there is none.
  boolean next() throws FsException {
    previous = offset;
    offset = next;
    if (offset == end) {
      return false;
    }
    if (offset + DirEntry.MIN_RECORD_LENGTH > end) {
      throw damage("the entries do not end where they should");
    }
    int recLen = DirEntry.recLen(data, offset);
    if (recLen < DirEntry.MIN_RECORD_LENGTH || (recLen & 3) != 0 || recLen > end - offset) {
      throw damage("an entry has the record length " + recLen);
    }
    int nameLength = DirEntry.nameLength(data, offset);
    if (DirEntry.recordLength(nameLength) > recLen) {
      throw damage("a name of " + nameLength + " bytes is in a record of " + recLen);
    }
    if (nameLength == 0 && DirEntry.ino(data, offset) != 0) {
      throw damage("an entry has no name");
    }
    next = offset + recLen;
    return true;
  }

  /// Moves to the entry of that name; false if there is none.
  boolean find(FileName name) throws FsException {
    while (next()) {
      if (DirEntry.matches(data, offset, name)) {
        return true;
      }
    }
    return false;
  }

  /// Where the current entry is, for changing it.
  EntrySlot slot() {
    return new EntrySlot(data, offset, previous);
  }

  /// Moves to the first entry that can give `length` bytes to a new one; false if there is none.
  boolean findRoom(int length) throws FsException {
    while (next()) {
      if (next - offset - DirEntry.usedLength(data, offset) >= length) {
        return true;
      }
    }
    return false;
  }

  int offset() {
    return offset;
  }

  boolean used() {
    return DirEntry.ino(data, offset) != 0;
  }

  /// `.` or `..`.
  boolean isDots() {
    int length = DirEntry.nameLength(data, offset);
    return length >= 1 && length <= 2 && isDot(0) && (length == 1 || isDot(1));
  }

  private boolean isDot(int index) {
    return Le.u8(data, offset + DirEntry.HEADER_SIZE + index) == '.';
  }

  DirectoryEntry entry(boolean typed) {
    return new DirectoryEntry(
        DirEntry.ino(data, offset), typed ? DirEntry.typeCode(data, offset) : 0);
  }

  /// A copy of the name's bytes; EUCLEAN if they could not be a name.
  byte[] name() throws FsException {
    byte[] name = DirEntry.name(data, offset);
    for (byte octet : name) {
      if (!encrypted && (octet == '/' || octet == 0)) {
        throw damage("a name contains a slash or a zero byte");
      }
    }
    return name;
  }

  FsException damage(String what) {
    return blockNr == 0
        ? DirectoryDamage.of(dir, "offset " + offset + " of what its inode holds: " + what)
        : DirectoryDamage.at(dir, blockNr, offset, what);
  }
}
