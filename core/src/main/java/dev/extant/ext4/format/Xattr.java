package dev.extant.ext4.format;

import java.util.Arrays;
import java.util.Comparator;

/// One extended attribute as it is stored: in an inode ([XattrBody]) or a block ([XattrBlock]).
///
/// `name` is what follows the name space that `nameIndex` stands for. Either `value` is the value
/// and `valueInum` is 0, or the value is the content of inode `valueInum` and `value` is empty.
/// `hash` is the entry's hash as it was read: 0 where there is none. Nobody changes the arrays.
public record Xattr(
    int nameIndex, byte[] name, byte[] value, long valueInum, long valueSize, int hash) {
  /// The order of entries in a block.
  public static final Comparator<Xattr> BLOCK_ORDER =
      Comparator.comparingInt(Xattr::nameIndex)
          .thenComparingInt(xattr -> xattr.name.length)
          .thenComparing(Xattr::name, Arrays::compareUnsigned);

  public static Xattr of(int nameIndex, byte[] name, byte[] value) {
    return new Xattr(nameIndex, name, value, 0, value.length, 0);
  }

  /// A value in an inode of its own. `valueHash` is [Checksums#xattrValueHash] of it.
  public static Xattr inInode(
      int nameIndex, byte[] name, long valueInum, long valueSize, int valueHash) {
    int hash = XattrEntry.hash(name, valueHash);
    return new Xattr(nameIndex, name, new byte[0], valueInum, valueSize, hash);
  }

  public boolean named(int index, byte[] otherName) {
    return nameIndex == index && Arrays.equals(name, otherName);
  }

  /// Bytes that the value takes in the inode or block itself.
  int storedValueBytes() {
    return XattrEntry.padded(value.length);
  }

  int storedBytes() {
    return XattrEntry.size(name.length) + storedValueBytes();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Xattr xattr
        && xattr.named(nameIndex, name)
        && Arrays.equals(value, xattr.value)
        && valueInum == xattr.valueInum
        && valueSize == xattr.valueSize;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(name) * 31 + Arrays.hashCode(value);
  }
}
