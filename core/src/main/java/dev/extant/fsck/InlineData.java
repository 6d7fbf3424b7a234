package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrBlock;
import dev.extant.ext4.format.XattrEntry;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// Where an inode with inline data keeps it (Linux documentation, "Inline Data"): in i_block, then
/// in the value of the attribute system.data in the inode itself.
final class InlineData {
  private static final byte[] NAME = "data".getBytes(StandardCharsets.US_ASCII);
  private static final int MAGIC_SIZE = 4;

  private InlineData() {}

  /// True if the attribute is system.data.
  static boolean is(Xattr xattr) {
    return xattr.named(XattrEntry.EXT4_XATTR_INDEX_SYSTEM, NAME) && xattr.valueInum() == 0;
  }

  /// Visits the attributes in an inode, if there are any.
  static void visitAttributes(MemorySegment raw, XattrEntries.Visitor visitor) {
    int extra = RawInode.extraIsize(raw);
    long from = RawInode.GOOD_OLD_INODE_SIZE + extra;
    if (extra >= 4
        && extra % 4 == 0
        && from + MAGIC_SIZE <= raw.byteSize()
        && Le.u32(raw, from) == XattrBlock.EXT4_XATTR_MAGIC) {
      XattrEntries.visit(raw.asSlice(from), MAGIC_SIZE, MAGIC_SIZE, visitor);
    }
  }

  /// The value of system.data, or null if there is none.
  static byte[] second(MemorySegment raw) {
    byte[][] found = new byte[1][];
    visitAttributes(
        raw,
        xattr -> {
          if (is(xattr)) {
            found[0] = xattr.value();
          }
        });
    return found[0];
  }
}
