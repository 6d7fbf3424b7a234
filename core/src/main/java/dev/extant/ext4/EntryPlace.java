package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.DirEntry;
import dev.extant.vfs.FileName;
import java.lang.foreign.MemorySegment;

/// Where an entry is in a block of entries, which stays pinned until this is closed. `previous` is
/// the offset of the entry before it in the block, or -1.
record EntryPlace(Buffer buffer, int offset, int previous) implements AutoCloseable {

  /// Removes the entry: its bytes go to the one before; the first of a block becomes unused.
  void remove() {
    MemorySegment data = buffer.data();
    if (previous < 0) {
      DirEntry.ino(data, offset, 0);
    } else {
      int both = DirEntry.recLen(data, previous) + DirEntry.recLen(data, offset);
      DirEntry.recLen(data, previous, both);
    }
  }

  /// Points the entry to another inode.
  void replace(DirectoryEntry entry) {
    DirEntry.ino(buffer.data(), offset, entry.ino());
    DirEntry.typeCode(buffer.data(), offset, entry.typeCode());
  }

  /// Puts a new entry into the room that this one has behind its name (all of it if it is unused).
  void insert(FileName name, DirectoryEntry entry) {
    MemorySegment data = buffer.data();
    int used = DirEntry.usedLength(data, offset);
    int rest = DirEntry.recLen(data, offset) - used;
    if (used > 0) {
      DirEntry.recLen(data, offset, used);
    }
    DirEntry.put(data, offset + used, rest, entry.ino(), entry.typeCode(), name);
  }

  @Override
  public void close() {
    buffer.close();
  }
}
