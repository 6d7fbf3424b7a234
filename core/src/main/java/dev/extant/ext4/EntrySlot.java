package dev.extant.ext4;

import dev.extant.ext4.format.DirEntry;
import dev.extant.vfs.FileName;
import java.lang.foreign.MemorySegment;

/// Where an entry is in a run of entries. `previous` is the offset of the entry before it in the
/// run, or -1.
record EntrySlot(MemorySegment data, int offset, int previous) {

  DirectoryEntry entry(boolean typed) {
    return new DirectoryEntry(
        DirEntry.ino(data, offset), typed ? DirEntry.typeCode(data, offset) : 0);
  }

  /// The bytes that the entry really needs.
  int usedLength() {
    return DirEntry.usedLength(data, offset);
  }

  /// Removes the entry: its bytes go to the one before; the first of a run becomes unused.
  void remove() {
    if (previous < 0) {
      DirEntry.ino(data, offset, 0);
    } else {
      int both = DirEntry.recLen(data, previous) + DirEntry.recLen(data, offset);
      DirEntry.recLen(data, previous, both);
    }
  }

  /// Points the entry to another inode.
  void replace(DirectoryEntry entry) {
    DirEntry.ino(data, offset, entry.ino());
    DirEntry.typeCode(data, offset, entry.typeCode());
  }

  /// Puts a new entry into the room that this one has behind its name (all of it if it is unused).
  void insert(FileName name, DirectoryEntry entry) {
    int used = usedLength();
    int rest = DirEntry.recLen(data, offset) - used;
    if (used > 0) {
      DirEntry.recLen(data, offset, used);
    }
    DirEntry.put(data, offset + used, rest, entry.ino(), entry.typeCode(), name);
  }
}
