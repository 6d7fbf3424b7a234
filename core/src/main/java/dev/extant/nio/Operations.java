package dev.extant.nio;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import dev.extant.vfs.VolumeStatistics;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.DirectoryStream;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.List;

/// What can be done with the paths of one file system.
///
/// No permissions are checked: whoever may open the image may do anything in it, as root may.
final class Operations {
  private static final int EXECUTE_BITS = 0111;

  private final ExtantFileSystem fileSystem;
  private final PathLookup lookup;
  private final Volume volume;

  Operations(ExtantFileSystem fileSystem, PathLookup lookup) {
    this.fileSystem = fileSystem;
    this.lookup = lookup;
    this.volume = fileSystem.volume();
  }

  /// What is done with the inode of a path.
  @FunctionalInterface
  interface NodeAction<T> {
    T run(Volume volume, Node node) throws IOException;
  }

  /// A step that may fail and gives nothing back.
  @FunctionalInterface
  private interface Step {
    void run() throws IOException;
  }

  private void run(ExtantPath path, ExtantPath other, Step step) throws IOException {
    fileSystem.call(
        path,
        other,
        () -> {
          step.run();
          return null;
        });
  }

  <T> T onNode(ExtantPath path, Follow follow, NodeAction<T> action) throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          try (Node node = lookup.node(path, follow)) {
            return action.run(volume, node);
          }
        });
  }

  void createDirectory(ExtantPath path, FileAttribute<?>... attributes) throws IOException {
    NewFile file = fileSystem.newFiles().file(0777, attributes);
    run(
        path,
        null,
        () -> {
          try (Place place = lookup.parent(path)) {
            volume.mkdir(place.directory(), place.name(), file).close();
          }
        });
  }

  void createSymbolicLink(ExtantPath path, ExtantPath target) throws IOException {
    run(
        path,
        null,
        () -> {
          try (Place place = lookup.parent(path)) {
            NewFile file = fileSystem.newFiles().symlink();
            volume.symlink(place.directory(), place.name(), target.bytes(), file).close();
          }
        });
  }

  /// One more name for an inode; a symbolic link in the last name of `existing` gets it itself.
  void createLink(ExtantPath path, ExtantPath existing) throws IOException {
    run(
        existing,
        path,
        () -> {
          if (existing.getFileSystem() != fileSystem) {
            throw new FsException(Errno.EXDEV, existing + " is on another file system");
          }
          try (Node node = lookup.node(existing, Follow.NOT_LAST);
              Place place = lookup.parent(path)) {
            volume.link(node, place.directory(), place.name());
          }
        });
  }

  ExtantPath readSymbolicLink(ExtantPath path) throws IOException {
    return onNode(
        path,
        Follow.NOT_LAST,
        (_, node) -> {
          if (node.type() != FileType.SYMLINK) {
            throw new NotLinkException(path.toString());
          }
          return ExtantPath.parse(fileSystem, volume.readlink(node));
        });
  }

  void delete(ExtantPath path) throws IOException {
    run(
        path,
        null,
        () -> {
          try (Place place = lookup.place(path, Follow.NOT_LAST)) {
            if (place.node() == null) {
              throw new FsException(Errno.ENOENT, "there is no " + place.name());
            }
            delete(volume, place);
          }
        });
  }

  /// Removes a name and what it stands for, if it is no directory with entries.
  static void delete(Volume volume, Place place) throws FsException {
    if (place.node().type() == FileType.DIRECTORY) {
      volume.rmdir(place.directory(), place.name());
    } else {
      volume.unlink(place.directory(), place.name());
    }
  }

  /// A stream of the directory that `path` leads to here; its entries extend `shown`.
  ExtantDirectoryStream directoryStream(
      ExtantPath path, Follow follow, ExtantPath shown, DirectoryStream.Filter<? super Path> filter)
      throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          Node node = lookup.node(path, follow);
          if (node.type() != FileType.DIRECTORY) {
            node.close();
            throw new NotDirectoryException(path.toString());
          }
          ExtantDirectoryStream stream = new ExtantDirectoryStream(fileSystem, shown, node, filter);
          fileSystem.opened(stream);
          return stream;
        });
  }

  ExtantFileAttributes attributes(ExtantPath path, Follow follow) throws IOException {
    return onNode(
        path,
        follow,
        (_, node) -> new ExtantFileAttributes(volume.attributes(node), fileSystem.deviceNumber()));
  }

  void change(ExtantPath path, Follow follow, AttributeChange change) throws IOException {
    onNode(
        path,
        follow,
        (_, node) -> {
          if (change.permissions() != null && node.type() == FileType.SYMLINK) {
            throw new FsException(Errno.EOPNOTSUPP, "a symbolic link has no permissions");
          }
          if (!change.equals(AttributeChange.times(null, null, null))) {
            volume.setAttributes(node, change);
          }
          return null;
        });
  }

  void checkAccess(ExtantPath path, AccessMode... modes) throws IOException {
    ExtantFileAttributes file = attributes(path, Follow.LAST);
    for (AccessMode mode : modes) {
      boolean denied =
          switch (mode) {
            case READ -> false;
            case WRITE -> volume.readOnly();
            case EXECUTE -> !file.isDirectory() && (file.inode().permissions() & EXECUTE_BITS) == 0;
          };
      if (denied) {
        throw new AccessDeniedException(path.toString(), null, "cannot " + mode);
      }
    }
  }

  boolean isSameFile(ExtantPath one, ExtantPath two) throws IOException {
    return one.equals(two)
        || attributes(one, Follow.LAST)
            .fileKey()
            .equals(two.getFileSystem().operations().attributes(two, Follow.LAST).fileKey());
  }

  /// Without following, a `..` takes away the name before it only where that is no link.
  ExtantPath realPath(ExtantPath path, Follow follow) throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          List<FileName> names =
              follow == Follow.LAST ? lookup.realNames(path) : namesWithLinks(path);
          return new ExtantPath(fileSystem, true, names);
        });
  }

  private List<FileName> namesWithLinks(ExtantPath path) throws FsException {
    lookup.node(path, Follow.NOT_LAST).close();
    List<FileName> kept = new ArrayList<>();
    for (FileName name : path.names()) {
      if (name.isDotDot() && isPlain(kept)) {
        kept.removeLast();
      } else if (!name.isDot() && !(name.isDotDot() && kept.isEmpty())) {
        kept.add(name);
      }
    }
    return kept;
  }

  /// True if there is a last name, and it is neither a link nor `..`.
  private boolean isPlain(List<FileName> names) throws FsException {
    if (names.isEmpty() || names.getLast().isDotDot()) {
      return false;
    }
    try (Node node = lookup.node(new ExtantPath(fileSystem, true, names), Follow.NOT_LAST)) {
      return node.type() != FileType.SYMLINK;
    }
  }

  VolumeStatistics statistics() throws IOException {
    return fileSystem.call(fileSystem.rootPath(), null, volume::statistics);
  }
}
