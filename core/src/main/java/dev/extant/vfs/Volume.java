package dev.extant.vfs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A mounted file system as its fronts (NIO, FUSE, command line) see it: operations by inode.
///
/// A volume checks no permissions and follows no symbolic links; fronts do. It knows nothing of
/// paths. Every method may be called by any number of threads. Names `.` and `..` are looked up
/// like any other, but never created, removed or renamed (EINVAL, ENOTEMPTY or EBUSY as in POSIX).
///
/// A [Node] given back is retained for the caller, who closes it; [#root()] too. Using a node of
/// another volume or a closed one is a programming error. After [#close()] everything throws EBADF.
public interface Volume extends AutoCloseable {
  boolean readOnly();

  Node root() throws FsException;

  /// ENOENT if there is no such name (in a removed directory there is none, not even `.`), ENOTDIR
  /// if `directory` is none.
  Node lookup(Node directory, FileName name) throws FsException;

  /// A new regular file; EEXIST if the name is taken.
  Node create(Node directory, FileName name, NewFile file) throws FsException;

  Node mkdir(Node directory, FileName name, NewFile file) throws FsException;

  Node symlink(Node directory, FileName name, byte[] target, NewFile file) throws FsException;

  /// A FIFO, socket or device node.
  Node mknod(Node directory, FileName name, FileType type, long rdev, NewFile file)
      throws FsException;

  void link(Node target, Node directory, FileName name) throws FsException;

  /// Removes a name of anything but a directory (EISDIR).
  void unlink(Node directory, FileName name) throws FsException;

  void rmdir(Node directory, FileName name) throws FsException;

  void rename(Node fromDirectory, FileName from, Node toDirectory, FileName to, RenameMode mode)
      throws FsException;

  byte[] readlink(Node symlink) throws FsException;

  Attributes attributes(Node node) throws FsException;

  void setAttributes(Node node, AttributeChange change) throws FsException;

  /// Reads up to the segment's size; returns the number of bytes read, 0 at or behind the end of
  /// the file.
  int read(Node file, long offset, MemorySegment target) throws FsException;

  /// Writes the whole segment (a hole behind the old end reads as zeroes) and returns when the page
  /// cache has it. On a full disk nothing or a prefix is written; a prefix is returned as a short
  /// count.
  int write(Node file, long offset, MemorySegment source) throws FsException;

  /// Writes the whole segment atomically at the end of the file; returns the offset it got.
  long append(Node file, MemorySegment source) throws FsException;

  /// Sets the size, cutting off or adding a hole.
  void truncate(Node file, long sizeBytes) throws FsException;

  /// Calls `visitor` for each entry from `cookie` on (0: the first), `.` and `..` included, in an
  /// order that stays valid while names come and go: a name present all the time is seen exactly
  /// once.
  void readDirectory(Node directory, long cookie, DirectoryVisitor visitor) throws FsException;

  /// The future is done when the file's data, size and name are durable, and failed with an
  /// [FsException] otherwise. With `dataOnly`, attributes that are not needed to read the data back
  /// may be left out.
  CompletableFuture<Void> fsync(Node node, boolean dataOnly);

  /// Makes everything durable that was done before the call.
  void sync() throws FsException;

  VolumeStatistics statistics() throws FsException;

  /// The offset of the next data at or behind `offset`, or -1 when there is none up to the end of
  /// the file.
  long seekData(Node file, long offset) throws FsException;

  /// The next hole at or behind `offset`; the end of the file counts as one. -1 if offset is behind
  /// the end.
  long seekHole(Node file, long offset) throws FsException;

  /// Allocates, frees, zeroes or moves a range of a file (fallocate(2)). The length is positive.
  /// EOPNOTSUPP where the file's format cannot; ENOSPC leaves what was there and may leave a part
  /// allocated.
  default void allocate(Node file, AllocateMode mode, long offset, long lengthBytes)
      throws FsException {
    throw new FsException(Errno.EOPNOTSUPP, "ranges of files cannot be allocated here");
  }

  /// Tells the device which free blocks hold nothing any more, in runs of at least `minBytes`;
  /// returns how many bytes (FITRIM). What was freed after the last sync may be left out, since a
  /// crash could bring it back.
  default long trim(long minBytes) throws FsException {
    throw new FsException(Errno.EOPNOTSUPP, "free space cannot be discarded here");
  }

  /// The names of the node's extended attributes, in no particular order. POSIX ACLs are among them
  /// as `system.posix_acl_access` and `system.posix_acl_default`.
  default List<XattrName> xattrs(Node node) throws FsException {
    throw noXattrs();
  }

  /// The value; ENODATA if there is no such attribute.
  default byte[] xattr(Node node, XattrName name) throws FsException {
    throw noXattrs();
  }

  /// EOPNOTSUPP for a name space that is not known, ENOSPC if the value does not fit. A POSIX ACL
  /// has the form of Linux's `posix_acl_xattr` (version 2); setting an access ACL changes the mode
  /// as acl(5) says.
  default void setXattr(Node node, XattrName name, byte[] value, XattrMode mode)
      throws FsException {
    throw noXattrs();
  }

  /// ENODATA if there is no such attribute.
  default void removeXattr(Node node, XattrName name) throws FsException {
    throw noXattrs();
  }

  private static FsException noXattrs() {
    return new FsException(Errno.EOPNOTSUPP, "extended attributes are not supported here");
  }

  /// Makes everything durable, marks the file system clean, and releases the device. Closing twice
  /// does nothing.
  @Override
  void close() throws FsException;
}
