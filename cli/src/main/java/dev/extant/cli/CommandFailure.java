package dev.extant.cli;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.EnumSet;
import java.util.Set;

/// A command could not do what it was asked. The message is one sentence that names the file and
/// the reason.
final class CommandFailure extends IOException {
  private static final long serialVersionUID = 1L;

  /// After these a command that works on many files had better stop: the others will fail too.
  private static final Set<Errno> HOPELESS =
      EnumSet.of(Errno.ENOSPC, Errno.EDQUOT, Errno.EROFS, Errno.EIO, Errno.EBADF, Errno.EUCLEAN);

  /// These say by their number all there is to say; the path is the user's.
  private static final Set<Errno> PLAIN =
      EnumSet.of(
          Errno.ENOENT,
          Errno.EEXIST,
          Errno.ENOTDIR,
          Errno.EISDIR,
          Errno.ENOTEMPTY,
          Errno.ENOSPC,
          Errno.EMLINK,
          Errno.ENAMETOOLONG,
          Errno.ELOOP,
          Errno.EXDEV);

  private final boolean hopeless;

  CommandFailure(String message) {
    super(message);
    this.hopeless = false;
  }

  private CommandFailure(String message, Throwable cause, boolean hopeless) {
    super(message, cause);
    this.hopeless = hopeless;
  }

  /// What failed at a path.
  static CommandFailure at(String path, IOException cause) {
    return switch (cause) {
      case CommandFailure failure -> failure;
      case FsException refused ->
          new CommandFailure(
              path + ": " + reason(refused), refused, HOPELESS.contains(refused.errno()));
      case FileSystemException ofHost -> new CommandFailure(Sentences.of(ofHost), ofHost, false);
      default -> new CommandFailure(path + ": " + Sentences.of(cause), cause, true);
    };
  }

  private static String reason(FsException refused) {
    return PLAIN.contains(refused.errno()) ? refused.errno().text() : refused.getMessage();
  }

  /// True if going on with other files makes no sense.
  boolean hopeless() {
    return hopeless;
  }
}
