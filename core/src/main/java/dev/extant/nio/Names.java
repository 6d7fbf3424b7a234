package dev.extant.nio;

import dev.extant.vfs.FileName;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Splits the bytes of a path into names, and joins them.
final class Names {
  private Names() {}

  /// The names between slashes; empty ones, from repeated, leading or trailing slashes, are left
  /// out.
  static List<FileName> split(byte[] path) {
    List<FileName> names = new ArrayList<>();
    int start = 0;
    for (int i = 0; i <= path.length; i++) {
      if (i == path.length || path[i] == '/') {
        if (i > start) {
          names.add(FileName.of(Arrays.copyOfRange(path, start, i)));
        }
        start = i + 1;
      }
    }
    return names;
  }

  static byte[] join(boolean absolute, List<FileName> names) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    if (absolute) {
      bytes.write('/');
    }
    for (int i = 0; i < names.size(); i++) {
      if (i > 0) {
        bytes.write('/');
      }
      bytes.writeBytes(names.get(i).bytes());
    }
    return bytes.toByteArray();
  }
}
