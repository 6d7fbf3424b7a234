package dev.extant.cli;

import dev.extant.vfs.FileName;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.Path;

/// A path in an image that is open.
record Operand(String text, Path image, Volume volume, String path) {
  Node find(boolean follow) throws IOException {
    try {
      return Lookup.find(volume, path, follow);
    } catch (IOException e) {
      throw CommandFailure.at(text, e);
    }
  }

  /// Where its last name is or would be.
  Lookup.Place place() throws IOException {
    try {
      return Lookup.place(volume, path);
    } catch (IOException e) {
      throw CommandFailure.at(text, e);
    }
  }

  /// How messages call a child of what they call `parent`.
  static String child(String parent, FileName name) {
    return parent.endsWith("/") ? parent + name : parent + "/" + name;
  }
}
