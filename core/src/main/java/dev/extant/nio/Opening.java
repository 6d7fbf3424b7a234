package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.channels.Channel;
import java.nio.file.FileSystemException;
import java.nio.file.attribute.FileAttribute;
import java.util.function.Function;

/// Opens channels, and makes the files they are opened with.
final class Opening {
  private final ExtantFileSystem fileSystem;
  private final PathLookup lookup;
  private final Volume volume;

  Opening(ExtantFileSystem fileSystem, PathLookup lookup) {
    this.fileSystem = fileSystem;
    this.lookup = lookup;
    this.volume = fileSystem.volume();
  }

  /// With DELETE_ON_CLOSE the name is removed at once, so that nothing is left after a crash
  /// either; the file lives until the channel is closed.
  ///
  /// A directory can be opened for reading, to `force` it.
  <C extends Channel> C open(
      ExtantPath path,
      OpenOptions options,
      Function<OpenFile, C> channel,
      FileAttribute<?>... attributes)
      throws IOException {
    NewFile file = fileSystem.newFiles().file(0666, attributes);
    return fileSystem.call(
        path,
        null,
        () -> {
          C opened = channel.apply(new Attempt(path, options, file).open());
          fileSystem.opened(opened);
          return opened;
        });
  }

  /// One opening of a channel.
  private final class Attempt {
    private final ExtantPath path;
    private final OpenOptions options;
    private final NewFile file;

    Attempt(ExtantPath path, OpenOptions options, NewFile file) {
      this.path = path;
      this.options = options;
      this.file = file;
    }

    OpenFile open() throws IOException {
      while (true) {
        try (Place place = lookup.place(path, options.effectiveFollow())) {
          if (place.node() != null) {
            return openExisting(place);
          }
          if (!options.create()) {
            throw new FsException(Errno.ENOENT, "there is no " + place.name());
          }
          Node node = createUnlessThere(place);
          if (node != null) {
            return opened(place, node);
          }
        }
      }
    }

    /// Null if another thread was faster and its file will do.
    private Node createUnlessThere(Place place) throws FsException {
      try {
        return volume.create(place.directory(), place.name(), file);
      } catch (FsException e) {
        if (e.errno() == Errno.EEXIST && !options.createNew()) {
          return null;
        }
        throw e;
      }
    }

    private OpenFile openExisting(Place place) throws IOException {
      Node node = place.node();
      if (options.createNew()) {
        throw new FsException(Errno.EEXIST, place.name() + " exists");
      }
      switch (node.type()) {
        case REGULAR -> {}
        case DIRECTORY -> {
          if (options.write()) {
            throw new FsException(Errno.EISDIR, place.name() + " is a directory");
          }
        }
        case SYMLINK ->
            throw new FileSystemException(
                path.toString(), null, "a symbolic link, not followed with NOFOLLOW_LINKS");
        default ->
            throw new FsException(Errno.EOPNOTSUPP, "a " + node.type() + " cannot be opened");
      }
      if (options.write() && volume.readOnly()) {
        throw new FsException(Errno.EROFS, "the file system is read-only");
      }
      if (options.truncate()) {
        volume.truncate(node, 0);
      }
      return opened(place, node.retain());
    }

    /// Takes the node over.
    private OpenFile opened(Place place, Node node) throws FsException {
      boolean done = false;
      try {
        if (options.deleteOnClose() && node.type() != FileType.DIRECTORY) {
          volume.unlink(place.directory(), place.name());
        }
        done = true;
      } finally {
        if (!done) {
          node.close();
        }
      }
      return new OpenFile(fileSystem, path, node, options);
    }
  }
}
