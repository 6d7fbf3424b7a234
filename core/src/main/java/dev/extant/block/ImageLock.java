package dev.extant.block;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/// Keeps an image from being written by two mounts: one writer, or any number of readers.
///
/// Between processes this is a file lock: the writer's is exclusive over the whole file, a reader's
/// is shared over one byte chosen at random (the JVM refuses overlapping locks even if both are
/// shared). A medium that cannot lock at all does not keep readers out.
///
/// POSIX drops a process's locks on a file as soon as the process closes *any* descriptor of it. So
/// within this JVM a second open is refused before it opens the file: that is what [#IN_USE] is
/// for, the one static state of the package. Other code of this JVM that opens and closes the image
/// behind our back still ends the protection against other processes.
final class ImageLock {
  private static final int WRITER = -1;

  /// By file key, the images this JVM has open: [#WRITER] or the number of readers.
  private static final ConcurrentHashMap<Object, Integer> IN_USE = new ConcurrentHashMap<>();

  private final Path image;
  private final Object key;
  private final boolean writer;

  private ImageLock(Path image, Object key, boolean writer) {
    this.image = image;
    this.key = key;
    this.writer = writer;
  }

  /// To be called before the file is opened. The file must exist.
  static ImageLock reserve(Path image, boolean writer) throws IOException {
    Object key = Files.readAttributes(image, BasicFileAttributes.class).fileKey();
    if (key == null) {
      key = image.toRealPath();
    }
    boolean free =
        writer
            ? IN_USE.putIfAbsent(key, WRITER) == null
            : IN_USE.merge(key, 1, (users, one) -> users == WRITER ? WRITER : users + one)
                != WRITER;
    if (!free) {
      throw inUse(image);
    }
    return new ImageLock(image, key, writer);
  }

  /// Takes the lock that other processes see. It is released when the channel is closed.
  void lock(AsynchronousFileChannel channel) throws IOException {
    try {
      FileLock lock =
          writer
              ? channel.tryLock(0, Long.MAX_VALUE, false)
              : channel.tryLock(ThreadLocalRandom.current().nextLong(1L << 40, 1L << 62), 1, true);
      if (lock == null) {
        throw inUse(image);
      }
    } catch (OverlappingFileLockException e) {
      throw inUse(image);
    } catch (DeviceException e) {
      throw e;
    } catch (IOException e) {
      if (writer) {
        throw e;
      }
    }
  }

  private static DeviceException inUse(Path image) {
    return new DeviceException(
        Kind.REFUSED,
        Operation.OPEN,
        image.toString(),
        -1,
        0,
        "it is in use by another mount",
        null);
  }

  /// To be called after the file is closed.
  void close() {
    IN_USE.computeIfPresent(key, (any, users) -> users == WRITER || users == 1 ? null : users - 1);
  }
}
