package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/// An open directory: its entries, and operations on paths relative to it, wherever it was moved
/// meanwhile and even when it was removed (then there is nothing in it any more). Absolute paths
/// begin at the root as ever.
///
/// The entries are weakly consistent: a name that is there all the time is given once; one that
/// comes or goes meanwhile may be given or not. After [#close()] the iterator is at its end.
final class ExtantDirectoryStream implements SecureDirectoryStream<Path> {
  private final ExtantFileSystem fileSystem;
  private final ExtantPath directory;
  private final Node node;
  private final DirectoryStream.Filter<? super Path> filter;
  private final Gate gate;
  private final PathLookup lookup;
  private final Operations operations;
  private final AtomicBoolean iterated = new AtomicBoolean();

  /// Takes the node over. Entries extend the path `directory`.
  ExtantDirectoryStream(
      ExtantFileSystem fileSystem,
      ExtantPath directory,
      Node node,
      DirectoryStream.Filter<? super Path> filter) {
    this.fileSystem = fileSystem;
    this.directory = directory;
    this.node = node;
    this.filter = Objects.requireNonNull(filter);
    this.gate = new Gate(node::close);
    this.lookup = PathLookup.fromDirectory(fileSystem, node, gate);
    this.operations = new Operations(fileSystem, lookup);
  }

  @Override
  public Iterator<Path> iterator() {
    if (!gate.isOpen()) {
      throw new IllegalStateException("the directory stream is closed");
    }
    if (iterated.getAndSet(true)) {
      throw new IllegalStateException("the directory stream has given its iterator");
    }
    return new EntryIterator(fileSystem, directory, node, gate, filter);
  }

  @Override
  public SecureDirectoryStream<Path> newDirectoryStream(Path path, LinkOption... options)
      throws IOException {
    ExtantPath file = ExtantPath.of(path);
    return operations.directoryStream(file, Follow.of(options), directory.resolve(file), _ -> true);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return new Opening(fileSystem, lookup)
        .open(ExtantPath.of(path), OpenOptions.of(options), ExtantFileChannel::new, attributes);
  }

  @Override
  public void deleteFile(Path path) throws IOException {
    delete(ExtantPath.of(path), false);
  }

  @Override
  public void deleteDirectory(Path path) throws IOException {
    delete(ExtantPath.of(path), true);
  }

  private void delete(ExtantPath path, boolean asDirectory) throws IOException {
    fileSystem.call(
        path,
        null,
        () -> {
          try (Place place = existing(lookup, path)) {
            if (asDirectory) {
              fileSystem.volume().rmdir(place.directory(), place.name());
            } else {
              fileSystem.volume().unlink(place.directory(), place.name());
            }
          }
          return null;
        });
  }

  private static Place existing(PathLookup lookup, ExtantPath path) throws FsException {
    Place place = lookup.place(path, Follow.NOT_LAST);
    if (place.node() == null) {
      place.close();
      throw new FsException(Errno.ENOENT, "there is no " + place.name());
    }
    return place;
  }

  /// Renames atomically; what is at the target is replaced.
  @Override
  public void move(Path source, SecureDirectoryStream<Path> targetDirectory, Path target)
      throws IOException {
    ExtantPath from = ExtantPath.of(source);
    ExtantPath to = ExtantPath.of(target);
    if (!(Objects.requireNonNull(targetDirectory) instanceof ExtantDirectoryStream other)) {
      throw new ProviderMismatchException("not a directory stream of an extant file system");
    }
    if (other.fileSystem != fileSystem) {
      throw new AtomicMoveNotSupportedException(
          from.toString(), to.toString(), "they are on different file systems");
    }
    Volume volume = fileSystem.volume();
    fileSystem.call(
        from,
        to,
        () -> {
          try (Place old = existing(lookup, from);
              Place there = other.lookup.place(to, Follow.NOT_LAST)) {
            volume.rename(
                old.directory(), old.name(), there.directory(), there.name(), RenameMode.REPLACE);
          }
          return null;
        });
  }

  /// A view of the directory itself.
  @Override
  public <V extends FileAttributeView> V getFileAttributeView(Class<V> type) {
    ExtantPath self = new ExtantPath(fileSystem, false, List.of());
    return AttributeViews.of(type, operations, self, Follow.LAST);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return AttributeViews.of(type, operations, ExtantPath.of(path), Follow.of(options));
  }

  @Override
  public void close() {
    if (gate.close()) {
      fileSystem.closed(this);
    }
  }
}
