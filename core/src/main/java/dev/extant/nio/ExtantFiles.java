package dev.extant.nio;

import dev.extant.vfs.AllocateMode;
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

/// What NIO lacks, by path: durability without a channel, of directories, of a whole file system or
/// of all, and without a thread that waits; ranges of files. Links are followed.
///
/// Each method throws a [ProviderMismatchException] if a path or file system is not of this
/// provider.
public final class ExtantFiles {
  private ExtantFiles() {}

  /// Done when the file's data and attributes, or the directory's entries, and the names on the way
  /// there are durable; failed with an [IOException] otherwise.
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
  public static void sync(FileSystem fileSystem) throws IOException {
    if (!(fileSystem instanceof ExtantFileSystem ours)) {
      throw new ProviderMismatchException("not an extant file system: " + fileSystem);
    }
    ours.sync();
  }

  /// Makes everything durable that was done before the call in any file system of the installed
  /// provider, in all of them at the same time.
  ///
  /// @throws IOException the first failure, the others being suppressed
  public static void syncAll() throws IOException {
    ExtantFileSystemProvider.installed().syncAll();
  }

  /// Allocates, frees, zeroes or moves a range of a file, as fallocate(2) does.
  ///
  /// @throws IOException if the file system cannot, or is full
  public static void allocate(Path path, AllocateMode mode, long offset, long lengthBytes)
      throws IOException {
    onNode(
        path,
        (volume, node) -> {
          volume.allocate(node, mode, offset, lengthBytes);
          return null;
        });
  }

  /// The offset of the next data at or behind `offset`, -1 if there is none.
  public static long seekData(Path path, long offset) throws IOException {
    return onNode(path, (volume, node) -> volume.seekData(node, offset));
  }

  /// The offset of the next hole at or behind `offset`, which the end of the file is too; -1 behind
  /// that.
  public static long seekHole(Path path, long offset) throws IOException {
    return onNode(path, (volume, node) -> volume.seekHole(node, offset));
  }

  /// Tells the device of a file system which blocks are free, in runs of at least `minBytes`;
  /// returns how many bytes. What was freed after the last sync may be left out.
  public static long trim(FileSystem fileSystem, long minBytes) throws IOException {
    if (!(fileSystem instanceof ExtantFileSystem ours)) {
      throw new ProviderMismatchException("not an extant file system: " + fileSystem);
    }
    return ours.trim(minBytes);
  }

  private static <T> T onNode(Path path, Operations.NodeAction<T> action) throws IOException {
    ExtantPath file = ExtantPath.of(path);
    return file.getFileSystem().operations().onNode(file, Follow.LAST, action);
  }

  /// What made a volume's future fail.
  static FsException fsException(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause instanceof FsException e
        ? e
        : new FsException(Errno.EIO, "fsync failed: " + cause, cause);
  }
}
