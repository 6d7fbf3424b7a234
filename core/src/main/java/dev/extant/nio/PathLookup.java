package dev.extant.nio;

import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.nio.file.ClosedDirectoryStreamException;
import java.nio.file.ProviderMismatchException;
import java.util.List;

/// Finds what paths of one file system name: absolute ones from the root, relative ones from the
/// root too, or from a directory that a stream holds open, wherever that is by now.
final class PathLookup {
  private static final FileName DOT = FileName.of(".");

  private final ExtantFileSystem fileSystem;
  private final Volume volume;

  /// The directory of a stream, closed with the gate; null with the gate where relative paths begin
  /// at the root.
  private final Node directory;

  private final Gate gate;

  private PathLookup(ExtantFileSystem fileSystem, Node directory, Gate gate) {
    this.fileSystem = fileSystem;
    this.volume = fileSystem.volume();
    this.directory = directory;
    this.gate = gate;
  }

  static PathLookup fromRoot(ExtantFileSystem fileSystem) {
    return new PathLookup(fileSystem, null, null);
  }

  /// Once the gate is closed, every look-up throws [ClosedDirectoryStreamException].
  static PathLookup fromDirectory(ExtantFileSystem fileSystem, Node directory, Gate gate) {
    return new PathLookup(fileSystem, directory, gate);
  }

  /// The inode of a path.
  Node node(ExtantPath path, Follow follow) throws FsException {
    return PathWalk.node(volume, start(path), path.names(), follow);
  }

  /// The directory and last name of a path; what is there is not looked at.
  Place parent(ExtantPath path) throws FsException {
    List<FileName> names = path.names();
    if (names.isEmpty()) {
      return new Place(start(path), DOT, null);
    }
    List<FileName> above = names.subList(0, names.size() - 1);
    return new Place(PathWalk.node(volume, start(path), above, Follow.LAST), names.getLast(), null);
  }

  /// Where a path leads, be there something or not. A link that leads nowhere is followed too: the
  /// place is then the one it names.
  Place place(ExtantPath path, Follow follow) throws FsException {
    List<FileName> names = path.names().isEmpty() ? List.of(DOT) : path.names();
    return PathWalk.place(volume, start(path), names, follow);
  }

  /// The names from the root without links and dots.
  List<FileName> realNames(ExtantPath path) throws FsException {
    return PathWalk.realNames(volume, start(path), path.names());
  }

  /// Where a walk begins; the walk takes the reference over.
  private Node start(ExtantPath path) throws FsException {
    if (path.getFileSystem() != fileSystem) {
      throw new ProviderMismatchException(path + " is a path of another file system");
    }
    if (gate == null) {
      return volume.root();
    }
    if (!gate.enter()) {
      throw new ClosedDirectoryStreamException();
    }
    try {
      return path.isAbsolute() ? volume.root() : directory.retain();
    } finally {
      gate.exit();
    }
  }
}
