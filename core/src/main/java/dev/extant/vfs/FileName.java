package dev.extant.vfs;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// One name in a directory: bytes, of any value but `/` and NUL, usually UTF-8. Immutable.
///
/// Length is checked by the file system (255 bytes in ext4), not here.
public final class FileName implements Comparable<FileName> {
  private final byte[] bytes;
  private final int hash;

  private FileName(byte[] bytes) {
    this.bytes = bytes;
    this.hash = Arrays.hashCode(bytes);
  }

  public static FileName of(String name) {
    return new FileName(name.getBytes(StandardCharsets.UTF_8));
  }

  /// Copies the bytes.
  public static FileName of(byte[] name) {
    return new FileName(name.clone());
  }

  public int length() {
    return bytes.length;
  }

  public byte byteAt(int index) {
    return bytes[index];
  }

  /// A copy of the bytes.
  public byte[] bytes() {
    return bytes.clone();
  }

  public boolean isDot() {
    return bytes.length == 1 && bytes[0] == '.';
  }

  public boolean isDotDot() {
    return bytes.length == 2 && bytes[0] == '.' && bytes[1] == '.';
  }

  /// Bytes compare as unsigned values.
  @Override
  public int compareTo(FileName other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FileName name && hash == name.hash && Arrays.equals(bytes, name.bytes);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /// The name as UTF-8; bytes that are not valid UTF-8 show as U+FFFD. For messages, not for
  /// look-up.
  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
