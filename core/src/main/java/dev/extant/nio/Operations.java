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
  private final Volume volume;

  Operations(ExtantFileSystem fileSystem) {
    this.fileSystem = fileSystem;
    this.volume = fileSystem.volume();
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

  private Node node(ExtantPath path, Follow follow) throws FsException {
    return PathWalk.node(volume, path.names(), follow);
  }

  private Place parent(ExtantPath path) throws FsException {
    return PathWalk.parent(volume, path.names());
  }

  void createDirectory(ExtantPath path, FileAttribute<?>... attributes) throws IOException {
    NewFile file = fileSystem.newFiles().file(0777, attributes);
    run(
        path,
        null,
        () -> {
          try (Place place = parent(path)) {
            volume.mkdir(place.directory(), place.name(), file).close();
          }
        });
  }

  void createSymbolicLink(ExtantPath path, ExtantPath target) throws IOException {
    run(
        path,
        null,
        () -> {
          try (Place place = parent(path)) {
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
          try (Node node = node(existing, Follow.NOT_LAST);
              Place place = parent(path)) {
            volume.link(node, place.directory(), place.name());
          }
        });
  }

  ExtantPath readSymbolicLink(ExtantPath path) throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          try (Node node = node(path, Follow.NOT_LAST)) {
            if (node.type() != FileType.SYMLINK) {
              throw new NotLinkException(path.toString());
            }
            return ExtantPath.parse(fileSystem, volume.readlink(node));
          }
        });
  }

  void delete(ExtantPath path) throws IOException {
    run(
        path,
        null,
        () -> {
          try (Place place = PathWalk.place(volume, path.names(), Follow.NOT_LAST)) {
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

  DirectoryStream<Path> directoryStream(
      ExtantPath path, DirectoryStream.Filter<? super Path> filter) throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          Node node = node(path, Follow.LAST);
          if (node.type() != FileType.DIRECTORY) {
            node.close();
            throw new NotDirectoryException(path.toString());
          }
          ExtantDirectoryStream stream = new ExtantDirectoryStream(fileSystem, path, node, filter);
          fileSystem.opened(stream);
          return stream;
        });
  }

  ExtantFileAttributes attributes(ExtantPath path, Follow follow) throws IOException {
    return fileSystem.call(
        path,
        null,
        () -> {
          try (Node node = node(path, follow)) {
            return new ExtantFileAttributes(volume.attributes(node), fileSystem.deviceNumber());
          }
        });
  }

  void change(ExtantPath path, Follow follow, AttributeChange change) throws IOException {
    run(
        path,
        null,
        () -> {
          try (Node node = node(path, follow)) {
            if (change.permissions() != null && node.type() == FileType.SYMLINK) {
              throw new FsException(Errno.EOPNOTSUPP, "a symbolic link has no permissions");
            }
            if (!change.equals(AttributeChange.times(null, null, null))) {
              volume.setAttributes(node, change);
            }
          }
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
              follow == Follow.LAST
                  ? PathWalk.realNames(volume, path.names())
                  : namesWithLinks(path.names());
          return new ExtantPath(fileSystem, true, names);
        });
  }

  private List<FileName> namesWithLinks(List<FileName> names) throws FsException {
    PathWalk.node(volume, names, Follow.NOT_LAST).close();
    List<FileName> kept = new ArrayList<>();
    for (FileName name : names) {
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
    try (Node node = PathWalk.node(volume, names, Follow.NOT_LAST)) {
      return node.type() != FileType.SYMLINK;
    }
  }

  VolumeStatistics statistics() throws IOException {
    return fileSystem.call(fileSystem.rootPath(), null, volume::statistics);
  }
}
