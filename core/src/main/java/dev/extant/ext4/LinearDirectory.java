package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.DirectoryBlocks.Role;
import dev.extant.ext4.format.DirEntry;
import dev.extant.journal.Handle;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.List;

/// Directories as a plain sequence of entries. Also reads the entries of an indexed directory
/// without its index.
///
/// Cookies of [#read] are one more than the offset of the entry before, since entries never move
/// here.
final class LinearDirectory {
  private static final int MAX_UNREADABLE = 1000;

  private final DirectoryBlocks blocks;
  private final boolean typed;

  LinearDirectory(DirectoryBlocks blocks, boolean typed) {
    this.blocks = blocks;
    this.typed = typed;
  }

  /// The entry's place, or null.
  EntryPlace find(Inode dir, FileName name) throws IOException {
    int count = blocks.count(dir);
    for (int logical = 0; logical < count; logical++) {
      EntryPlace place = findIn(dir, logical, name);
      if (place != null) {
        return place;
      }
    }
    return null;
  }

  private EntryPlace findIn(Inode dir, int logical, FileName name) throws IOException {
    Buffer buffer = blocks.readAny(dir, logical);
    boolean found = false;
    try {
      EntryCursor cursor = blocks.entries(dir, buffer);
      found = cursor.find(name);
      return found ? new EntryPlace(buffer, cursor.slot()) : null;
    } finally {
      if (!found) {
        buffer.close();
      }
    }
  }

  DirectoryEntry lookup(Inode dir, FileName name) throws IOException {
    int count = blocks.count(dir);
    for (int logical = 0; logical < count; logical++) {
      DirectoryEntry entry = lookupIn(dir, logical, name);
      if (entry != null) {
        return entry;
      }
    }
    return null;
  }

  /// The same in a directory known to be damaged: blocks that cannot be read are passed over, but a
  /// name that is in none of the others is not known to be absent. Nor is one in a directory of
  /// which so many blocks cannot be read that its size says nothing.
  DirectoryEntry lookupInDamaged(Inode dir, FileName name) throws IOException {
    int count = blocks.count(dir);
    FsException damage = null;
    int unreadable = 0;
    for (int logical = 0; logical < count && unreadable < MAX_UNREADABLE; logical++) {
      try {
        DirectoryEntry entry = lookupIn(dir, logical, name);
        if (entry != null) {
          return entry;
        }
      } catch (FsException e) {
        damage = damage == null ? e : damage;
        unreadable++;
      }
    }
    if (damage != null) {
      throw damage;
    }
    return null;
  }

  private DirectoryEntry lookupIn(Inode dir, int logical, FileName name) throws IOException {
    try (Buffer buffer = blocks.readAny(dir, logical)) {
      EntryCursor cursor = blocks.entries(dir, buffer);
      return cursor.find(name) ? cursor.entry(typed) : null;
    }
  }

  /// Adds the entry where there is room. False if there is none.
  boolean addWhereRoom(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    int length = DirEntry.recordLength(name.length());
    int count = blocks.count(dir);
    for (int logical = 0; logical < count; logical++) {
      try (Buffer buffer = blocks.read(dir, logical, Role.LEAF)) {
        EntryCursor cursor = blocks.entries(dir, buffer);
        if (cursor.findRoom(length)) {
          insert(handle, dir, buffer, cursor, name, entry);
          return true;
        }
      }
    }
    return false;
  }

  private void insert(
      Handle handle,
      Inode dir,
      Buffer buffer,
      EntryCursor cursor,
      FileName name,
      DirectoryEntry entry)
      throws IOException {
    handle.writeAccess(buffer);
    cursor.slot().insert(name, entry);
    blocks.dirty(handle, dir, buffer, Role.LEAF);
  }

  /// Adds the entry in a new block.
  void addInNewBlock(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    List<Buffer> appended = blocks.append(handle, dir, 1);
    try {
      Buffer buffer = appended.getFirst();
      blocks.initialiseLeaf(buffer.data());
      new EntrySlot(buffer.data(), 0, -1).insert(name, entry);
      blocks.dirty(handle, dir, buffer, Role.LEAF);
    } finally {
      DirectoryBlocks.closeAll(appended);
    }
  }

  /// True if there are no names but `.` and `..`.
  boolean isEmpty(Inode dir) throws IOException {
    int count = blocks.count(dir);
    for (int logical = 0; logical < count; logical++) {
      try (Buffer buffer = blocks.readAny(dir, logical)) {
        EntryCursor cursor = blocks.entries(dir, buffer);
        while (cursor.next()) {
          if (cursor.used() && !cursor.isDots()) {
            return false;
          }
        }
      }
    }
    return true;
  }

  void read(Inode dir, long cookie, DirectoryVisitor visitor) throws IOException {
    int blockSize = blocks.blockSizeBytes();
    int count = blocks.count(dir);
    for (long logical = cookie / blockSize; logical < count; logical++) {
      try (Buffer buffer = blocks.readAny(dir, (int) logical)) {
        if (!readBlock(dir, buffer, logical * blockSize, cookie, visitor)) {
          return;
        }
      }
    }
  }

  private boolean readBlock(
      Inode dir, Buffer buffer, long blockOffset, long cookie, DirectoryVisitor visitor)
      throws FsException {
    EntryCursor cursor = blocks.entries(dir, buffer);
    while (cursor.next()) {
      long position = blockOffset + cursor.offset();
      if (position >= cookie && cursor.used()) {
        DirectoryEntry entry = cursor.entry(typed);
        FileName name = FileName.of(cursor.name());
        FileType type = FileType.ofEntryCode(entry.typeCode());
        if (!visitor.entry(name, entry.ino(), type, position + 1)) {
          return false;
        }
      }
    }
    return true;
  }
}
