package dev.extant.nio;

import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// Durability, where NIO lacks it: for paths rather than channels, for directories, for a whole
/// file system, and without a thread that waits.
public final class ExtantFiles {
  private ExtantFiles() {}

  /// Done when the file's data and attributes, or the directory's entries, and the names on the way
  /// there are durable; failed with an [IOException] otherwise. Links are followed.
  ///
  /// @throws ProviderMismatchException if the path is not of an extant file system
  public static CompletableFuture<Void> fsync(Path path) {
    ExtantPath file = ExtantPath.of(path);
    ExtantFileSystem fileSystem = file.getFileSystem();
    Volume volume = fileSystem.volume();
    fileSystem.enterOrThrow();
    Node node;
    try {
      node = fileSystem.lookup().node(file, Follow.LAST);
    } catch (FsException e) {
      fileSystem.exit();
      return CompletableFuture.failedFuture(Errors.of(e, file, null));
    }
    return volume
        .fsync(node, false)
        .handle(
            (_, failure) -> {
              node.close();
              fileSystem.exit();
              if (failure != null) {
                throw new CompletionException(Errors.inChannel(fsException(failure), file));
              }
              return null;
            });
  }

  /// Makes everything durable that was done in a file system before the call.
  ///
  /// @throws ProviderMismatchException if it is not an extant file system
  public static void sync(FileSystem fileSystem) throws IOException {
    if (!(fileSystem instanceof ExtantFileSystem ours)) {
      throw new ProviderMismatchException("not an extant file system: " + fileSystem);
    }
    ours.call(
        ours.rootPath(),
        null,
        () -> {
          ours.volume().sync();
          return null;
        });
  }

  /// What made a volume's future fail.
  static FsException fsException(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof FsException e
        ? e
        : new FsException(Errno.EIO, "fsync failed: " + cause, cause);
  }
}
