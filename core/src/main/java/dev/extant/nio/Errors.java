package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;

/// What NIO calls the errors of a volume.
final class Errors {
  private Errors() {}

  /// An exception for an operation on paths. `other` is the target of an operation with two paths,
  /// else null; it is named alone where it is the one that is in the way.
  ///
  /// @throws ReadOnlyFileSystemException for EROFS, as that is no [IOException]
  static IOException of(FsException e, Path file, Path other) {
    if (e.errno() == Errno.EROFS) {
      ReadOnlyFileSystemException readOnly = new ReadOnlyFileSystemException();
      readOnly.initCause(e);
      throw readOnly;
    }
    String name = String.valueOf(file);
    String otherName = other == null ? null : other.toString();
    String inTheWay = other == null ? name : otherName;
    FileSystemException exception =
        switch (e.errno()) {
          case ENOENT -> new NoSuchFileException(name, otherName, null);
          case EEXIST -> new FileAlreadyExistsException(inTheWay);
          case ENOTEMPTY -> new DirectoryNotEmptyException(inTheWay);
          case EACCES -> new AccessDeniedException(name, otherName, null);
          case ELOOP -> new FileSystemLoopException(name);
          default -> new FileSystemException(name, otherName, reason(e));
        };
    exception.initCause(e);
    return exception;
  }

  /// An exception for an operation on an open channel, where a file system that has become
  /// read-only is an I/O error like others.
  static IOException inChannel(FsException e, Path file) {
    FileSystemException exception = new FileSystemException(file.toString(), null, reason(e));
    exception.initCause(e);
    return exception;
  }

  private static String reason(FsException e) {
    return switch (e.errno()) {
      case EIO, EINVAL, EBUSY, EROFS, EOPNOTSUPP, EUCLEAN ->
          e.errno().text() + ": " + e.getMessage();
      default -> e.errno().text();
    };
  }
}
