package dev.extant.ext4;

import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirHash;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The entries of one leaf, taken out of it to be written again in the order of their hashes, in
/// one leaf or in two. `.` and `..` are kept apart.
final class HashedEntries {
  private record Item(long major, FileName name, DirectoryEntry entry) {
    int length() {
      return DirEntry.recordLength(name.length());
    }
  }

  private final DirHash hash;
  private final List<Item> items = new ArrayList<>();
  private DirectoryEntry self;
  private DirectoryEntry parent;
  private int totalLength;

  /// Takes all entries that the cursor has still to show.
  HashedEntries(DirHash hash, EntryCursor cursor) throws FsException {
    this.hash = hash;
    while (cursor.next()) {
      if (cursor.used()) {
        FileName name = FileName.of(cursor.name());
        DirectoryEntry entry = cursor.entry(true);
        if (name.isDot()) {
          self = entry;
        } else if (name.isDotDot()) {
          parent = entry;
        } else {
          add(name, entry);
        }
      }
    }
  }

  void add(FileName name, DirectoryEntry entry) {
    items.add(new Item(DirHash.major(hash.of(name)), name, entry));
    totalLength += DirEntry.recordLength(name.length());
  }

  void sort() {
    items.sort(Comparator.comparingLong(Item::major));
  }

  int count() {
    return items.size();
  }

  /// The bytes that all entries need, without `.` and `..`.
  int totalLength() {
    return totalLength;
  }

  boolean hasDots() {
    return self != null && parent != null;
  }

  /// The index of the first entry of the upper of two halves of about the same length.
  int middle() {
    int length = 0;
    int index = 0;
    while (length + items.get(index).length() <= totalLength / 2) {
      length += items.get(index).length();
      index++;
    }
    return Math.max(index, 1);
  }

  /// The bound of a leaf that begins with the entry at `index` >= 1: see [IndexPath].
  long bound(int index) {
    long major = items.get(index).major();
    return items.get(index - 1).major() == major ? major | 1 : major;
  }

  /// Writes `.` and `..`; returns where they end.
  int writeDots(MemorySegment data) {
    DirEntry.put(
        data, 0, DirEntry.MIN_RECORD_LENGTH, self.ino(), self.typeCode(), FileName.of("."));
    DirEntry.put(
        data,
        DirEntry.MIN_RECORD_LENGTH,
        DirEntry.MIN_RECORD_LENGTH,
        parent.ino(),
        parent.typeCode(),
        FileName.of(".."));
    return 2 * DirEntry.MIN_RECORD_LENGTH;
  }

  /// Writes the entries from index `from` to `to` one behind the other, from `offset` to `end`.
  /// There must be one at least, and room for all.
  void write(MemorySegment data, int offset, int end, int from, int to) {
    int at = offset;
    for (Item item : items.subList(from, to)) {
      DirEntry.put(
          data, at, item.length(), item.entry().ino(), item.entry().typeCode(), item.name());
      at += item.length();
    }
    int last = at - items.get(to - 1).length();
    DirEntry.recLen(data, last, end - last);
  }
}
