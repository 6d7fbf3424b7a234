package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/// Finds the inode of a path in a volume, following symbolic links inside it.
final class Lookup {
  private static final int MAX_LINKS = 40;

  private Lookup() {}

  /// A directory and a name in it that may exist or not; close it to give the directory back.
  record Place(Node directory, FileName name) implements AutoCloseable {
    @Override
    public void close() {
      directory.close();
    }
  }

  /// The inode at the end of the path, retained. A symbolic link there is followed if `follow`.
  static Node find(Volume volume, String path, boolean follow) throws IOException {
    boolean directoryMeant = path.endsWith("/") || path.endsWith("/.");
    Node node = walk(volume, Names.split(path), follow || directoryMeant);
    if (directoryMeant && node.type() != FileType.DIRECTORY) {
      node.close();
      throw new FsException(Errno.ENOTDIR, Errno.ENOTDIR.text());
    }
    return node;
  }

  /// Where the last name of the path is or would be. The root has no such place (EBUSY).
  static Place place(Volume volume, String path) throws IOException {
    List<FileName> names = Names.split(path);
    if (names.isEmpty() || names.getLast().isDot() || names.getLast().isDotDot()) {
      throw new FsException(Errno.EBUSY, "the root directory and . and .. stay where they are");
    }
    Node directory = walk(volume, names.subList(0, names.size() - 1), true);
    if (directory.type() != FileType.DIRECTORY) {
      directory.close();
      throw new FsException(Errno.ENOTDIR, Errno.ENOTDIR.text());
    }
    return new Place(directory, names.getLast());
  }

  private static Node walk(Volume volume, List<FileName> path, boolean follow) throws IOException {
    Deque<FileName> ahead = new ArrayDeque<>(path);
    int links = 0;
    Node at = volume.root();
    try {
      while (!ahead.isEmpty()) {
        Node next = volume.lookup(at, ahead.removeFirst());
        if (next.type() == FileType.SYMLINK && (follow || !ahead.isEmpty())) {
          byte[] target = readAndClose(volume, next);
          if (++links > MAX_LINKS || target.length == 0) {
            throw new FsException(Errno.ELOOP, Errno.ELOOP.text());
          }
          Names.split(target).reversed().forEach(ahead::addFirst);
          next = target[0] == '/' ? volume.root() : at.retain();
        }
        at.close();
        at = next;
      }
      return at;
    } catch (IOException e) {
      at.close();
      throw e;
    }
  }

  private static byte[] readAndClose(Volume volume, Node link) throws IOException {
    try (link) {
      return volume.readlink(link);
    }
  }
}
