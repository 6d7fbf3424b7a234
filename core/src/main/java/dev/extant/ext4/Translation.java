package dev.extant.ext4;

import dev.extant.block.DeviceException;
import dev.extant.journal.JournalAbortedException;
import dev.extant.journal.JournalException;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.util.concurrent.CompletionException;

/// Turns failures of the layers below into those that a volume throws.
final class Translation {
  private Translation() {}

  static FsException of(Throwable error) {
    return switch (error) {
      case FsException fs -> fs;
      case JournalAbortedException aborted ->
          new FsException(
              Errno.EROFS,
              "the file system turned read-only after an error: " + aborted.getCause().getMessage(),
              aborted);
      case JournalException journal ->
          new FsException(errno(journal), journal.getMessage(), journal);
      case DeviceException device -> new FsException(errno(device), device.getMessage(), device);
      case CompletionException wrapped when wrapped.getCause() != null -> of(wrapped.getCause());
      default -> new FsException(Errno.EIO, String.valueOf(error.getMessage()), error);
    };
  }

  private static Errno errno(DeviceException error) {
    return error.kind() == DeviceException.Kind.NO_SPACE ? Errno.ENOSPC : Errno.EIO;
  }

  private static Errno errno(JournalException error) {
    return switch (error.kind()) {
      case CORRUPT -> Errno.EUCLEAN;
      case UNSUPPORTED -> Errno.EOPNOTSUPP;
      case TOO_SMALL -> Errno.ENOSPC;
    };
  }
}
