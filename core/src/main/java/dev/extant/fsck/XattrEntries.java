package dev.extant.fsck;

import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/// Goes over the entries of extended attributes in an inode or a block ([XattrEntry]), whatever
/// their bytes are. No two of the entries, the word of zeroes that ends them and the values may
/// overlap.
final class XattrEntries {
  private static final int FIXED_SIZE = 16;
  private static final int END_SIZE = 4;

  /// Told of each attribute, of one whose value does not lie in the area, and of what keeps the
  /// rest from being read.
  interface Visitor {
    void attribute(Xattr xattr);

    default void badValue(Xattr xattr) {}

    default void corrupt(String why) {}
  }

  private final MemorySegment area;
  private final int valueBase;
  private final Visitor visitor;
  private final BitSet taken = new BitSet();

  private XattrEntries(MemorySegment area, int valueBase, Visitor visitor) {
    this.area = area;
    this.valueBase = valueBase;
    this.visitor = visitor;
  }

  /// `area` ends where the attributes end; values lie at their offsets behind `valueBase`.
  static void visit(MemorySegment area, int first, int valueBase, Visitor visitor) {
    new XattrEntries(area, valueBase, visitor).visit(first);
  }

  private void visit(int first) {
    taken.set(0, first);
    int at = first;
    while (at + END_SIZE <= area.byteSize() && !XattrEntry.isEnd(area, at)) {
      if (!entry(at)) {
        return;
      }
      at += XattrEntry.size(XattrEntry.nameLength(area, at));
    }
    if (at + END_SIZE <= area.byteSize() && !take(at, END_SIZE)) {
      visitor.corrupt("the end of the entries overlaps a value");
    }
  }

  private boolean entry(int at) {
    if (at + FIXED_SIZE > area.byteSize()
        || at + XattrEntry.size(XattrEntry.nameLength(area, at)) > area.byteSize()) {
      return corrupt("the entry at byte " + at + " does not fit");
    }
    if (!take(at, XattrEntry.size(XattrEntry.nameLength(area, at)))) {
      return corrupt("the entry at byte " + at + " overlaps a value");
    }
    if (XattrEntry.nameLength(area, at) == 0 && XattrEntry.nameIndex(area, at) == 0) {
      return corrupt("the entry at byte " + at + " has no name");
    }
    long size = XattrEntry.valueSize(area, at);
    if (XattrEntry.valueInum(area, at) != 0 || size == 0) {
      visitor.attribute(xattr(at, new byte[0]));
      return true;
    }
    long from = valueBase + (long) XattrEntry.valueOffset(area, at);
    if (from + size > area.byteSize()) {
      visitor.badValue(xattr(at, new byte[0]));
      return true;
    }
    if (!take((int) from, (int) size + 3 & ~3)) {
      return corrupt("the value of the entry at byte " + at + " overlaps something");
    }
    visitor.attribute(xattr(at, area.asSlice(from, size).toArray(ValueLayout.JAVA_BYTE)));
    return true;
  }

  private boolean corrupt(String why) {
    visitor.corrupt(why);
    return false;
  }

  private Xattr xattr(int at, byte[] value) {
    int nameLength = XattrEntry.nameLength(area, at);
    return new Xattr(
        XattrEntry.nameIndex(area, at),
        area.asSlice(at + FIXED_SIZE, nameLength).toArray(ValueLayout.JAVA_BYTE),
        value,
        XattrEntry.valueInum(area, at),
        XattrEntry.valueSize(area, at),
        XattrEntry.hash(area, at));
  }

  private boolean take(int from, int length) {
    int next = taken.nextSetBit(from);
    if (next >= 0 && next < from + length) {
      return false;
    }
    taken.set(from, from + length);
    return true;
  }
}
