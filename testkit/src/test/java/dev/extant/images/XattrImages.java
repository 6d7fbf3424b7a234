package dev.extant.images;

import dev.extant.testkit.Oracles;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The extended attributes of what is in a root directory, by name of the file and of the
/// attribute, with values in hexadecimal: as a volume says and as the kernel says.
final class XattrImages {
  private XattrImages() {}

  static Map<String, Map<String, String>> of(Volume volume) throws FsException {
    Map<String, Map<String, String>> all = new TreeMap<>();
    try (Node root = volume.root()) {
      List<FileName> names = new ArrayList<>();
      volume.readDirectory(root, 0, (name, ino, type, cookie) -> names.add(name));
      for (FileName name : names) {
        try (Node node = volume.lookup(root, name)) {
          Map<String, String> xattrs = of(volume, node);
          if (!xattrs.isEmpty()) {
            all.put(name.toString(), xattrs);
          }
        }
      }
    }
    return all;
  }

  private static Map<String, String> of(Volume volume, Node node) throws FsException {
    Map<String, String> xattrs = new TreeMap<>();
    for (XattrName name : volume.xattrs(node)) {
      xattrs.put(name.toString(), HexFormat.of().formatHex(volume.xattr(node, name)));
    }
    return xattrs;
  }

  /// By getfattr. Names of files and attributes are plain.
  static Map<String, Map<String, String>> of(Path root) throws IOException {
    Map<String, Map<String, String>> all = new TreeMap<>();
    int options = 7;
    List<Object> arguments = new ArrayList<>(List.of("-h", "-d", "-m", "-", "-e", "hex", "--"));
    try (Stream<Path> paths = Files.list(root)) {
      arguments.addAll(paths.sorted().toList());
    }
    if (arguments.size() == options) {
      return all;
    }
    String output = Oracles.run("getfattr", arguments.toArray()).expect(0).output();
    Map<String, String> xattrs = null;
    for (String line : output.lines().toList()) {
      if (line.startsWith("# file: ")) {
        xattrs = new TreeMap<>();
        all.put(line.substring(line.lastIndexOf('/') + 1), xattrs);
      } else if (line.contains("=0x")) {
        String[] parts = line.split("=0x", 2);
        xattrs.put(parts[0], parts[1]);
      } else if (!line.isBlank() && !line.startsWith("getfattr: Removing")) {
        // A value of no bytes has no text behind its name.
        xattrs.put(line.replace("=", ""), "");
      }
    }
    return all;
  }
}
