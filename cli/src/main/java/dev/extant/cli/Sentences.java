package dev.extant.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.ReadOnlyFileSystemException;

/// The one place that turns whatever went wrong into a sentence for the user.
final class Sentences {
  private Sentences() {}

  static String of(Throwable problem) {
    return switch (problem) {
      case UncheckedIOException wrapped -> of(wrapped.getCause());
      case FileSystemException failed -> failed.getFile() + ": " + reason(failed);
      case ReadOnlyFileSystemException _ -> "the file system is read-only";
      case IOException failed -> failed.getMessage() == null ? "I/O error" : failed.getMessage();
      case OutOfMemoryError _ ->
          "out of memory: raise the limit with EXTANT_JAVA_OPTIONS=-Xmx... in the environment";
      case StackOverflowError _ -> "too deeply nested";
      default ->
          "internal error ("
              + problem
              + "); with EXTANT_DEBUG=1 in the environment it tells where, which helps a report";
    };
  }

  private static String reason(FileSystemException failed) {
    return switch (failed) {
      case NoSuchFileException _ -> "no such file or directory";
      case FileAlreadyExistsException _ -> "file exists";
      case AccessDeniedException _ -> "permission denied";
      case DirectoryNotEmptyException _ -> "directory not empty";
      case NotDirectoryException _ -> "not a directory";
      case FileSystemLoopException _ -> "too many levels of symbolic links";
      default -> failed.getReason() == null ? "failed" : failed.getReason();
    };
  }
}
