package dev.extant.nio;

import dev.extant.vfs.AttributeChange;
import dev.extant.vfs.Attributes;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.RenameMode;
import dev.extant.vfs.Volume;
import dev.extant.vfs.XattrMode;
import dev.extant.vfs.XattrName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.LinkOption;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;

/// One copy or move, within a file system or from one to another of this provider.
final class Transfer {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int MODE_BITS = 0777;

  private final ExtantPath source;
  private final ExtantPath target;
  private final ExtantFileSystem from;
  private final ExtantFileSystem to;
  private boolean replace;
  private boolean atomic;
  private boolean copyAttributes;
  private Follow follow = Follow.LAST;

  Transfer(ExtantPath source, ExtantPath target, CopyOption... options) {
    this.source = source;
    this.target = target;
    this.from = source.getFileSystem();
    this.to = target.getFileSystem();
    for (CopyOption option : options) {
      switch (Objects.requireNonNull(option)) {
        case StandardCopyOption.REPLACE_EXISTING -> replace = true;
        case StandardCopyOption.ATOMIC_MOVE -> atomic = true;
        case StandardCopyOption.COPY_ATTRIBUTES -> copyAttributes = true;
        case LinkOption.NOFOLLOW_LINKS -> follow = Follow.NOT_LAST;
        default -> throw new UnsupportedOperationException(option + " is not supported");
      }
    }
  }

  void copy() throws IOException {
    if (atomic) {
      throw new UnsupportedOperationException("a copy is not atomic");
    }
    inBoth(this::copyThere);
  }

  void move() throws IOException {
    if (copyAttributes) {
      throw new UnsupportedOperationException("COPY_ATTRIBUTES is not for moves");
    }
    follow = Follow.NOT_LAST;
    if (from == to) {
      from.call(source, target, this::rename);
    } else if (atomic) {
      throw new AtomicMoveNotSupportedException(
          source.toString(), target.toString(), "they are on different file systems");
    } else {
      copyAttributes = true;
      inBoth(this::moveAcross);
    }
  }

  private void inBoth(Action<Void> action) throws IOException {
    from.call(source, target, () -> to.call(source, target, action));
  }

  private Void rename() throws IOException {
    Volume volume = from.volume();
    try (Place old = existing();
        Place there = to.lookup().place(target, Follow.NOT_LAST)) {
      RenameMode mode = atomic || replace ? RenameMode.REPLACE : RenameMode.NO_REPLACE;
      if (!atomic && there.node() != null) {
        if (there.node().ino() == old.node().ino()) {
          return null;
        }
        requireReplace();
        if (isDirectory(there.node()) || isDirectory(old.node())) {
          // One kind does not take the place of another by renaming.
          Operations.delete(volume, there);
        }
      }
      volume.rename(old.directory(), old.name(), there.directory(), there.name(), mode);
    }
    return null;
  }

  private static boolean isDirectory(Node node) {
    return node.type() == FileType.DIRECTORY;
  }

  private void requireReplace() throws FsException {
    if (!replace) {
      throw new FsException(Errno.EEXIST, target + " exists");
    }
  }

  /// The source, which must be there.
  private Place existing() throws FsException {
    Place place = from.lookup().place(source, follow);
    if (place.node() == null) {
      place.close();
      throw new FsException(Errno.ENOENT, "there is no " + source);
    }
    return place;
  }

  private Void moveAcross() throws IOException {
    try (Place old = existing()) {
      if (isDirectory(old.node())) {
        requireEmpty(old.node());
      }
      copyThere();
      Operations.delete(from.volume(), old);
    }
    return null;
  }

  private void requireEmpty(Node directory) throws IOException {
    boolean[] found = new boolean[1];
    from.volume()
        .readDirectory(
            directory,
            0,
            (name, _, _, _) -> {
              found[0] = !name.isDot() && !name.isDotDot();
              return !found[0];
            });
    if (found[0]) {
      throw Errors.of(
          new FsException(Errno.ENOTEMPTY, "a directory with entries is not moved"), source, null);
    }
  }

  private Void copyThere() throws IOException {
    try (Place old = existing();
        Place there = to.lookup().place(target, Follow.NOT_LAST)) {
      if (there.node() != null) {
        if (from == to && there.node().ino() == old.node().ino()) {
          return null;
        }
        requireReplace();
        Operations.delete(to.volume(), there);
      }
      Attributes attributes = from.volume().attributes(old.node());
      try (Node copy = make(old.node(), attributes, there)) {
        boolean done = false;
        try {
          fill(old.node(), attributes, copy);
          done = true;
        } finally {
          if (!done) {
            Operations.delete(to.volume(), new Place(there.directory(), there.name(), copy));
          }
        }
      }
    }
    return null;
  }

  private Node make(Node old, Attributes attributes, Place there) throws FsException {
    Volume volume = to.volume();
    NewFile file = to.newFiles().file(attributes.permissions() & MODE_BITS);
    return switch (attributes.type()) {
      case REGULAR -> volume.create(there.directory(), there.name(), file);
      case DIRECTORY -> volume.mkdir(there.directory(), there.name(), file);
      case SYMLINK ->
          volume.symlink(
              there.directory(),
              there.name(),
              from.volume().readlink(old),
              to.newFiles().symlink());
      default ->
          volume.mknod(there.directory(), there.name(), attributes.type(), attributes.rdev(), file);
    };
  }

  private void fill(Node old, Attributes attributes, Node copy) throws FsException {
    if (attributes.type() == FileType.REGULAR) {
      copyData(old, attributes.sizeBytes(), copy);
    }
    if (copyAttributes) {
      copyXattrs(old, copy);
      boolean link = attributes.type() == FileType.SYMLINK;
      to.volume()
          .setAttributes(
              copy,
              new AttributeChange(
                  link ? null : attributes.permissions(),
                  attributes.uid(),
                  attributes.gid(),
                  attributes.times().accessed(),
                  attributes.times().modified(),
                  null));
    }
  }

  /// Extended attributes of all name spaces, where both file systems have them.
  private void copyXattrs(Node old, Node copy) throws FsException {
    for (XattrName name : xattrs(old)) {
      try {
        to.volume().setXattr(copy, name, from.volume().xattr(old, name), XattrMode.SET);
      } catch (FsException e) {
        if (e.errno() != Errno.EOPNOTSUPP) {
          throw e;
        }
      }
    }
  }

  private List<XattrName> xattrs(Node old) throws FsException {
    try {
      return from.volume().xattrs(old);
    } catch (FsException e) {
      if (e.errno() == Errno.EOPNOTSUPP) {
        return List.of();
      }
      throw e;
    }
  }

  /// Copies data and leaves holes.
  private void copyData(Node old, long sizeBytes, Node copy) throws FsException {
    Volume in = from.volume();
    byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, sizeBytes)];
    long offset = in.seekData(old, 0);
    while (offset >= 0 && offset < sizeBytes) {
      long end = Math.min(in.seekHole(old, offset), sizeBytes);
      while (offset < end) {
        int wanted = (int) Math.min(chunk.length, end - offset);
        int count = in.read(old, offset, MemorySegment.ofArray(chunk).asSlice(0, wanted));
        if (count == 0) {
          return;
        }
        writeAll(copy, offset, MemorySegment.ofArray(chunk).asSlice(0, count));
        offset += count;
      }
      offset = in.seekData(old, offset);
    }
    if (to.volume().attributes(copy).sizeBytes() < sizeBytes) {
      to.volume().truncate(copy, sizeBytes);
    }
  }

  private void writeAll(Node copy, long offset, MemorySegment bytes) throws FsException {
    long done = 0;
    while (done < bytes.byteSize()) {
      done += to.volume().write(copy, offset + done, bytes.asSlice(done));
    }
  }
}
