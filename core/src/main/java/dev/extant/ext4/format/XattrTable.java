package dev.extant.ext4.format;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Entries from the front and values from the back of one area: what the attributes of an inode and
/// of a block have in common. The area ends where the segment ends; entries begin at `from`;
/// offsets of values count from `base`.
final class XattrTable {
  /// No value is larger (EXT4_XATTR_SIZE_MAX).
  private static final long MAX_VALUE_BYTES = 1 << 24;

  private record Value(long from, long end) {}

  private final MemorySegment area;
  private final int from;
  private final int base;

  XattrTable(MemorySegment area, int from, int base) {
    this.area = area;
    this.from = from;
    this.base = base;
  }

  /// All attributes in the order of their entries; EUCLEAN, beginning with `where`, if an entry or
  /// a value does not lie within the area or on another one.
  List<Xattr> read(String where) throws FsException {
    List<Long> places = entries(where);
    long valuesFrom =
        places.isEmpty()
            ? from
            : places.getLast() + XattrEntry.size(XattrEntry.nameLength(area, places.getLast()));
    valuesFrom += XattrEntry.END_SIZE;
    List<Xattr> xattrs = new ArrayList<>(places.size());
    List<Value> values = new ArrayList<>(places.size());
    for (long at : places) {
      xattrs.add(read(where, at, valuesFrom, values));
    }
    checkOverlap(where, values);
    return xattrs;
  }

  /// Where the entries are; all of them, and the end behind them, lie within the area.
  private List<Long> entries(String where) throws FsException {
    List<Long> places = new ArrayList<>();
    long at = from;
    while (at + XattrEntry.END_SIZE <= area.byteSize() && !XattrEntry.isEnd(area, at)) {
      long end = at + XattrEntry.size(XattrEntry.nameLength(area, at));
      if (end + XattrEntry.END_SIZE > area.byteSize()) {
        throw corrupt(where, at, "reaches beyond the end");
      }
      places.add(at);
      at = end;
    }
    return places;
  }

  private Xattr read(String where, long at, long valuesFrom, List<Value> values)
      throws FsException {
    byte[] name =
        area.asSlice(at + XattrEntry.NAME, XattrEntry.nameLength(area, at))
            .toArray(ValueLayout.JAVA_BYTE);
    for (byte b : name) {
      if (b == 0) {
        throw corrupt(where, at, "has a zero byte in its name");
      }
    }
    long inum = XattrEntry.valueInum(area, at);
    long size = XattrEntry.valueSize(area, at);
    if (size > MAX_VALUE_BYTES) {
      throw corrupt(where, at, "has a value of " + size + " bytes");
    }
    byte[] value = new byte[0];
    if (inum == 0 && size > 0) {
      long valueFrom = base + (long) XattrEntry.valueOffset(area, at);
      long valueEnd = valueFrom + XattrEntry.padded((int) size);
      if (valueFrom < valuesFrom || valueEnd > area.byteSize()) {
        throw corrupt(
            where,
            at,
            "has its value of " + size + " bytes at " + valueFrom + ", where none can be");
      }
      values.add(new Value(valueFrom, valueEnd));
      value = area.asSlice(valueFrom, size).toArray(ValueLayout.JAVA_BYTE);
    }
    int hash = XattrEntry.hash(area, at);
    return new Xattr(XattrEntry.nameIndex(area, at), name, value, inum, size, hash);
  }

  private static void checkOverlap(String where, List<Value> values) throws FsException {
    values.sort(Comparator.comparingLong(Value::from));
    for (int i = 1; i < values.size(); i++) {
      if (values.get(i).from < values.get(i - 1).end) {
        throw new FsException(
            Errno.EUCLEAN,
            where
                + ": two extended attributes have their values at "
                + values.get(i - 1).from
                + " and "
                + values.get(i).from
                + ", one on the other");
      }
    }
  }

  private static FsException corrupt(String where, long at, String what) {
    return new FsException(Errno.EUCLEAN, where + ": the extended attribute at " + at + " " + what);
  }

  /// Bytes that attributes can take.
  int capacity() {
    return (int) Math.max(0, area.byteSize() - from - XattrEntry.END_SIZE);
  }

  boolean fits(List<Xattr> xattrs) {
    return xattrs.stream().mapToLong(Xattr::storedBytes).sum() <= capacity();
  }

  /// What e_hash becomes.
  interface Hashing {
    int hash(Xattr xattr);
  }

  /// Replaces everything from the first entry on. They fit.
  void write(List<Xattr> xattrs, Hashing hashing) {
    area.asSlice(from).fill((byte) 0);
    long at = from;
    long valuesFrom = area.byteSize();
    for (Xattr xattr : xattrs) {
      byte[] value = xattr.value();
      valuesFrom -= xattr.storedValueBytes();
      int offset = value.length == 0 ? 0 : (int) (valuesFrom - base);
      XattrEntry.put(area, at, xattr, offset, hashing.hash(xattr));
      MemorySegment.copy(MemorySegment.ofArray(value), 0, area, valuesFrom, value.length);
      at += XattrEntry.size(xattr.name().length);
    }
  }
}
