package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/// One file as `ls` and `stat` show it; `target` is null unless it is a symbolic link. `aclMark` is
/// what `ls -l` shows behind the mode: `+` for a file that has an ACL, `?` where its attributes are
/// damaged, else a space.
record Listing(FileName name, Attributes attributes, byte[] target, char aclMark) {
  private static final String ACL_PREFIX = "system.posix_acl_";

  static Listing of(FileName name, Volume volume, Node node) throws IOException {
    return of(name, volume, node, false);
  }

  /// Looks for an ACL only if it is to be `detailed`.
  static Listing of(FileName name, Volume volume, Node node, boolean detailed) throws IOException {
    byte[] target = node.type() == FileType.SYMLINK ? volume.readlink(node) : null;
    char aclMark = detailed ? aclMark(volume, node) : ' ';
    return new Listing(name, volume.attributes(node), target, aclMark);
  }

  private static char aclMark(Volume volume, Node node) {
    try {
      for (XattrName xattr : volume.xattrs(node)) {
        if (xattr.toString().startsWith(ACL_PREFIX)) {
          return '+';
        }
      }
      return ' ';
    } catch (FsException e) {
      return '?';
    }
  }

  /// The mode as `ls -l` shows it, like `drwxr-xr-x`.
  String modeString() {
    int mode = attributes.mode();
    StringBuilder text = new StringBuilder();
    text.append(
        switch (attributes.type()) {
          case REGULAR -> '-';
          case DIRECTORY -> 'd';
          case CHARACTER_DEVICE -> 'c';
          case BLOCK_DEVICE -> 'b';
          case FIFO -> 'p';
          case SOCKET -> 's';
          case SYMLINK -> 'l';
        });
    text.append(triple(mode >> 6, (mode & 04000) != 0, 's'));
    text.append(triple(mode >> 3, (mode & 02000) != 0, 's'));
    text.append(triple(mode, (mode & 01000) != 0, 't'));
    return text.toString();
  }

  private static String triple(int bits, boolean special, char letter) {
    boolean executable = (bits & 1) != 0;
    char last = executable ? 'x' : '-';
    if (special) {
      last = executable ? letter : Character.toUpperCase(letter);
    }
    return "" + ((bits & 4) != 0 ? 'r' : '-') + ((bits & 2) != 0 ? 'w' : '-') + last;
  }

  boolean isDevice() {
    return attributes.type() == FileType.CHARACTER_DEVICE
        || attributes.type() == FileType.BLOCK_DEVICE;
  }

  long deviceMajor() {
    return attributes.rdev() >>> 8 & 0xFFF;
  }

  long deviceMinor() {
    return attributes.rdev() & 0xFF | attributes.rdev() >>> 12 & 0xFFF00;
  }

  Map<String, Object> json(ShownPath path) {
    Map<String, Object> json = new LinkedHashMap<>();
    path.putInto(json);
    json.put("ino", attributes.ino());
    json.put("type", Copier.describe(attributes.type()));
    json.put("mode", String.format("%04o", attributes.permissions()));
    json.put("nlink", attributes.nlink());
    json.put("uid", attributes.uid());
    json.put("gid", attributes.gid());
    json.put("sizeBytes", attributes.sizeBytes());
    json.put("allocatedBytes", attributes.allocatedBytes());
    if (isDevice()) {
      json.put("device", deviceMajor() + ":" + deviceMinor());
    }
    json.put("accessed", string(attributes.times().accessed()));
    json.put("modified", string(attributes.times().modified()));
    json.put("changed", string(attributes.times().changed()));
    json.put("created", string(attributes.times().created()));
    if (target != null) {
      ShownPath.put(json, "target", target);
    }
    return json;
  }

  private static String string(Instant time) {
    return time == null ? null : time.toString();
  }
}
