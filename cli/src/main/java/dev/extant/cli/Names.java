package dev.extant.cli;

import dev.extant.vfs.FileName;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Paths inside an image and names of the host, as bytes.
final class Names {
  private Names() {}

  /// The names on a path; slashes that say nothing are left out.
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

  static List<FileName> split(String path) {
    return split(path.getBytes(StandardCharsets.UTF_8));
  }

  /// The last name of a host path, with the bytes that the host knows it by.
  static FileName ofHost(Path path) {
    Path name = path.getFileName();
    return name == null ? FileName.of("") : FileName.of(bytesOfHost(name));
  }

  /// The bytes of a relative host path, such as a name or a symbolic link's target: the URI of a
  /// path escapes them one by one, whatever the locale.
  static byte[] bytesOfHost(Path path) {
    String text = path.toString();
    if (text.chars().allMatch(c -> c < 0x80)) {
      return text.getBytes(StandardCharsets.US_ASCII);
    }
    String uri = path.toUri().getRawPath();
    if (!path.isAbsolute()) {
      uri = uri.substring(Path.of("").toUri().getRawPath().length());
    }
    if (uri.endsWith("/") && !text.endsWith("/")) {
      uri = uri.substring(0, uri.length() - 1);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < uri.length(); i++) {
      if (uri.charAt(i) == '%') {
        bytes.write(Integer.parseInt(uri.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.write(uri.charAt(i));
      }
    }
    return bytes.toByteArray();
  }

  /// The child of a host directory that has exactly these bytes as its name.
  static Path onHost(Path directory, FileName name) {
    return directory.resolve(pathOfHost(name.bytes()));
  }

  /// A host path of exactly these bytes, relative unless they start with a slash.
  static Path pathOfHost(byte[] bytes) {
    boolean plain = true;
    for (byte b : bytes) {
      plain &= b >= 0;
    }
    if (plain || !"/".equals(File.separator)) {
      return Path.of(new String(bytes, StandardCharsets.UTF_8));
    }
    StringBuilder uri = new StringBuilder("file:///");
    for (byte b : bytes) {
      uri.append(b == '/' ? "/" : String.format("%%%02X", b & 0xFF));
    }
    Path absolute = Path.of(URI.create(uri.toString()));
    return bytes[0] == '/' ? absolute : absolute.getRoot().relativize(absolute);
  }
}
