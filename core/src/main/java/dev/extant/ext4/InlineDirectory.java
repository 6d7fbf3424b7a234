package dev.extant.ext4;

import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.InlineArea;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.util.Le;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Directories whose entries are in the inode itself (Linux documentation, "Inline Directories"):
/// the parent's number, then two runs of entries, one in the rest of i_block, the other in the rest
/// of the inode. `.` and `..` are not among them.
///
/// Invariants:
/// 1. Entries never move here.
/// 2. An entry's *position* is the offset that it gets in the directory's first block when the
///    directory grows out of the inode. So whether a listing goes by offsets or by hashes, its
///    cookies stay good over that.
///
/// The bytes are changed in the inode, which [InodeTable#update] stores in the same handle.
final class InlineDirectory {
  /// Length of the parent's number, where the first run begins.
  private static final int PARENT_LENGTH = 4;

  /// Positions of `.` and `..` and of the first entry behind them.
  private static final int DOT = 0;

  private static final int DOT_DOT = DirEntry.MIN_RECORD_LENGTH;
  private static final int FIRST = 2 * DirEntry.MIN_RECORD_LENGTH;

  /// From an entry's offset in the content to its position.
  private static final int SHIFT = FIRST - PARENT_LENGTH;

  private final InodeTable inodes;
  private final boolean extents;
  private final boolean typed;

  /// `extents`, `typed`: there are the features extent and filetype.
  InlineDirectory(InodeTable inodes, boolean extents, boolean typed) {
    this.inodes = inodes;
    this.extents = extents;
    this.typed = typed;
  }

  static boolean covers(Inode dir) {
    return dir.hasFlag(RawInode.EXT4_INLINE_DATA_FL);
  }

  /// A copy of what the inode holds.
  private static MemorySegment content(Inode dir) throws FsException {
    byte[] content = InlineArea.read(dir.raw, dir.ino());
    if (RawInode.size(dir.raw) != content.length) {
      throw DirectoryDamage.of(
          dir, "its size is " + RawInode.size(dir.raw) + ", its inode holds " + content.length);
    }
    return MemorySegment.ofArray(content);
  }

  private void store(Handle handle, Inode dir, MemorySegment content) throws IOException {
    InlineArea.store(dir.raw, dir.ino(), content.toArray(ValueLayout.JAVA_BYTE));
    RawInode.size(dir.raw, content.byteSize());
    inodes.update(handle, dir, true);
  }

  private static EntryCursor firstRun(Inode dir, MemorySegment content) {
    return new EntryCursor(dir, 0, content, PARENT_LENGTH, RawInode.I_BLOCK_SIZE);
  }

  private static EntryCursor secondRun(Inode dir, MemorySegment content) {
    int end = (int) content.byteSize();
    return new EntryCursor(dir, 0, content, RawInode.I_BLOCK_SIZE, end);
  }

  private static long parentIno(Inode dir) {
    return Le.u32(dir.raw, RawInode.I_BLOCK);
  }

  DirectoryEntry lookup(Inode dir, FileName name) throws FsException {
    if (name.isDot()) {
      return directory(dir.ino());
    }
    if (name.isDotDot()) {
      return directory(parentIno(dir));
    }
    EntrySlot slot = find(dir, name);
    return slot == null ? null : slot.entry(typed);
  }

  private DirectoryEntry directory(long ino) {
    return new DirectoryEntry(ino, typed ? FileType.DIRECTORY.entryCode() : 0);
  }

  private static EntrySlot find(Inode dir, FileName name) throws FsException {
    MemorySegment content = content(dir);
    EntryCursor first = firstRun(dir, content);
    if (first.find(name)) {
      return first.slot();
    }
    EntryCursor second = secondRun(dir, content);
    return second.find(name) ? second.slot() : null;
  }

  boolean isEmpty(Inode dir) throws FsException {
    MemorySegment content = content(dir);
    return !anyUsed(firstRun(dir, content)) && !anyUsed(secondRun(dir, content));
  }

  /// Checks all entries of the run, too.
  private static boolean anyUsed(EntryCursor cursor) throws FsException {
    boolean used = false;
    while (cursor.next()) {
      used |= cursor.used();
    }
    return used;
  }

  /// Makes a new directory one that is in its inode; false, and nothing was done, if its inode is
  /// too small for that.
  boolean initialise(Handle handle, Inode dir, long parentIno) throws IOException {
    if (InlineArea.capacity(dir.raw, dir.ino()) == 0) {
      return false;
    }
    MemorySegment content = MemorySegment.ofArray(new byte[RawInode.I_BLOCK_SIZE]);
    Le.put32(content, 0, parentIno);
    DirEntry.putUnused(content, PARENT_LENGTH, RawInode.I_BLOCK_SIZE - PARENT_LENGTH);
    store(handle, dir, content);
    return true;
  }

  /// Adds the entry where there is room. False, and nothing was done, if the inode has none.
  boolean add(Handle handle, Inode dir, FileName name, DirectoryEntry entry) throws IOException {
    EntrySlot slot = room(dir, DirEntry.recordLength(name.length()));
    if (slot == null) {
      return false;
    }
    slot.insert(name, entry);
    store(handle, dir, slot.data());
    return true;
  }

  private static EntrySlot room(Inode dir, int length) throws FsException {
    MemorySegment content = content(dir);
    EntryCursor first = firstRun(dir, content);
    if (first.findRoom(length)) {
      return first.slot();
    }
    EntryCursor second = secondRun(dir, content);
    if (second.findRoom(length)) {
      return second.slot();
    }
    return roomInRest(dir, content, length);
  }

  /// Gives the second run all the room that the inode has and returns its last entry, if that then
  /// has room for `length` bytes; else null.
  private static EntrySlot roomInRest(Inode dir, MemorySegment content, int length)
      throws FsException {
    int oldEnd = (int) content.byteSize();
    int end = InlineArea.capacity(dir.raw, dir.ino()) & ~3;
    EntrySlot last = last(secondRun(dir, content));
    int lastUsed = last == null ? oldEnd : last.offset() + last.usedLength();
    if (end <= oldEnd || end - lastUsed < length) {
      return null;
    }
    MemorySegment grown = MemorySegment.ofArray(new byte[end]);
    grown.asSlice(0, oldEnd).copyFrom(content);
    if (last == null) {
      DirEntry.putUnused(grown, oldEnd, end - oldEnd);
      return new EntrySlot(grown, oldEnd, -1);
    }
    DirEntry.recLen(grown, last.offset(), end - last.offset());
    return new EntrySlot(grown, last.offset(), last.previous());
  }

  /// The run's last entry, or null.
  private static EntrySlot last(EntryCursor cursor) throws FsException {
    EntrySlot last = null;
    while (cursor.next()) {
      last = cursor.slot();
    }
    return last;
  }

  /// Removes the name's entry; false if there is none.
  boolean remove(Handle handle, Inode dir, FileName name) throws IOException {
    EntrySlot slot = find(dir, name);
    if (slot != null) {
      slot.remove();
      store(handle, dir, slot.data());
    }
    return slot != null;
  }

  /// Points the name to another inode; false if there is no entry of that name.
  boolean replace(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    EntrySlot slot = find(dir, name);
    if (slot != null) {
      slot.replace(entry);
      store(handle, dir, slot.data());
    }
    return slot != null;
  }

  void setParent(Handle handle, Inode dir, long parentIno) throws IOException {
    Le.put32(dir.raw, RawInode.I_BLOCK, parentIno);
    inodes.update(handle, dir, true);
  }

  /// Shows an entry at its position; false if the listing shall end.
  interface Visitor {
    boolean entry(int position, byte[] name, DirectoryEntry entry) throws FsException;
  }

  /// Shows all entries, `.` and `..` first, in the order of their positions.
  void forEach(Inode dir, Visitor visitor) throws FsException {
    MemorySegment content = content(dir);
    if (visitor.entry(DOT, new byte[] {'.'}, directory(dir.ino()))
        && visitor.entry(DOT_DOT, new byte[] {'.', '.'}, directory(parentIno(dir)))
        && forEach(firstRun(dir, content), visitor)) {
      forEach(secondRun(dir, content), visitor);
    }
  }

  private boolean forEach(EntryCursor cursor, Visitor visitor) throws FsException {
    while (cursor.next()) {
      if (!cursor.used()) {
        continue;
      }
      if (cursor.isDots()) {
        throw cursor.damage("an entry in the inode is called . or ..");
      }
      if (!visitor.entry(SHIFT + cursor.offset(), cursor.name(), cursor.entry(typed))) {
        return false;
      }
    }
    return true;
  }

  /// Lists the directory by positions from a cookie on, like [LinearDirectory#read].
  void read(Inode dir, long cookie, DirectoryVisitor visitor) throws FsException {
    forEach(
        dir,
        (position, name, entry) ->
            position < cookie
                || visitor.entry(
                    FileName.of(name),
                    entry.ino(),
                    FileType.ofEntryCode(entry.typeCode()),
                    position + 1L));
  }

  /// Lists the directory in the order of hashes from a cookie on, like
  /// [IndexedDirectory#readSingleBlock].
  void read(Inode dir, DirHash hash, long cookie, DirectoryVisitor visitor) throws FsException {
    HashOrderListing listing = new HashOrderListing(dir, cookie, visitor);
    listing.showDot(directory(dir.ino()));
    listing.showDotDot(directory(parentIno(dir)));
    forEach(
        dir,
        (position, name, entry) -> {
          if (position >= FIRST) {
            listing.add(hash.of(name), name, entry);
          }
          return true;
        });
    if (!listing.ended()) {
      listing.showAll();
    }
  }

  /// What a directory was before it left its inode: all of the inode, and what it held.
  record Contents(MemorySegment inode, MemorySegment content) {}

  /// Takes the entries out of the inode, which then maps no blocks and has the size 0, but is not
  /// stored. They are checked: EUCLEAN, and nothing was done, if they are damaged.
  Contents takeOut(Inode dir) throws FsException {
    MemorySegment content = content(dir);
    anyUsed(firstRun(dir, content));
    anyUsed(secondRun(dir, content));
    MemorySegment before = MemorySegment.ofArray(dir.raw.toArray(ValueLayout.JAVA_BYTE));
    InlineArea.remove(dir.raw, dir.ino());
    if (extents) {
      ExtentTree.initialise(dir.raw);
    }
    RawInode.size(dir.raw, 0);
    return new Contents(before, content);
  }

  /// Undoes [#takeOut].
  void putBack(Handle handle, Inode dir, Contents contents) throws IOException {
    dir.raw.copyFrom(contents.inode());
    inodes.update(handle, dir, true);
  }

  /// Puts the entries into the first block of a directory, which has entries up to `end`, each at
  /// its position.
  void fill(Inode dir, Contents contents, MemorySegment block, int end) {
    MemorySegment content = contents.content();
    int filled = (int) content.byteSize() + SHIFT;
    block.asSlice(FIRST, filled - FIRST).copyFrom(content.asSlice(PARENT_LENGTH));
    put(block, DOT, ".", dir.ino());
    put(block, DOT_DOT, "..", Le.u32(content, 0));
    int last = FIRST;
    while (last + DirEntry.recLen(block, last) < filled) {
      last += DirEntry.recLen(block, last);
    }
    DirEntry.recLen(block, last, end - last);
  }

  private void put(MemorySegment block, int offset, String name, long ino) {
    int typeCode = directory(ino).typeCode();
    DirEntry.put(block, offset, DirEntry.MIN_RECORD_LENGTH, ino, typeCode, FileName.of(name));
  }
}
