package dev.extant.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/// An operand of a command: a path of the host, or `IMAGE:/path`.
///
/// The image ends at the first `:/` before which there is a file, else at the first `:/`. A path of
/// the host that exists as it is written wins, so `./odd:/name` can be reached.
sealed interface Location {
  /// As the user wrote it.
  String text();

  /// A path of the host.
  record Host(String text, Path path) implements Location {}

  /// A path inside an image; `path` starts with a slash.
  record InImage(String text, Path image, String path) implements Location {}

  static Location parse(String text) {
    Path whole = Path.of(text);
    int split = text.indexOf(":/");
    if (split <= 0 || isDriveLetter(text, split) || Files.exists(whole)) {
      return new Host(text, whole);
    }
    for (int at = split; at > 0; at = text.indexOf(":/", at + 1)) {
      Path image = Path.of(text.substring(0, at));
      if (Files.exists(image) && !Files.isDirectory(image)) {
        return new InImage(text, image, text.substring(at + 1));
      }
    }
    return new InImage(text, Path.of(text.substring(0, split)), text.substring(split + 1));
  }

  private static boolean isDriveLetter(String text, int split) {
    return split == 1
        && Character.isLetter(text.charAt(0))
        && System.getProperty("os.name").startsWith("Windows");
  }
}
