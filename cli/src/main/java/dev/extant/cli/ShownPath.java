package dev.extant.cli;

import dev.extant.vfs.FileName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/// A path as the user wrote it, and names of the image behind it, in bytes: a name that is no valid
/// UTF-8 is shown as it is.
final class ShownPath {
  private final byte[] bytes;

  private ShownPath(byte[] bytes) {
    this.bytes = bytes;
  }

  static ShownPath of(String text) {
    return new ShownPath(text.getBytes(StandardCharsets.UTF_8));
  }

  ShownPath child(FileName name) {
    byte[] last = name.bytes();
    boolean slash = bytes.length > 0 && bytes[bytes.length - 1] == '/';
    byte[] child = Arrays.copyOf(bytes, bytes.length + (slash ? 0 : 1) + last.length);
    child[child.length - last.length - 1] = '/';
    System.arraycopy(last, 0, child, child.length - last.length, last.length);
    return new ShownPath(child);
  }

  void print(Console console) throws IOException {
    console.printName(bytes);
  }

  int length() {
    return bytes.length;
  }

  /// What is behind the first bytes.
  byte[] bytesFrom(int start) {
    return Arrays.copyOfRange(bytes, start, bytes.length);
  }

  /// As it is, also on a terminal.
  byte[] bytes() {
    return bytes.clone();
  }

  /// Adds `path`, and for one that is no valid UTF-8 its bytes as `pathBase64`.
  void putInto(Map<String, Object> json) {
    put(json, "path", bytes);
  }

  /// Adds text, and for bytes that are no valid UTF-8 these as `KEYBase64`.
  static void put(Map<String, Object> json, String key, byte[] bytes) {
    json.put(key, new String(bytes, StandardCharsets.UTF_8));
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException e) {
      json.put(key + "Base64", Base64.getEncoder().encodeToString(bytes));
    }
  }

  /// For messages: bytes that are no valid UTF-8 show as U+FFFD.
  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
