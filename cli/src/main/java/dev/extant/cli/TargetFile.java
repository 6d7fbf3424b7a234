package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A file, of any type, that is copied to: on the host or in an image.
interface TargetFile extends AutoCloseable {
  /// How messages call it.
  String text();

  FileType type();

  /// True if it is the very file that is copied from.
  boolean isSame(SourceFile source) throws IOException;

  /// The child of that name, not followed if a symbolic link; null if there is none.
  TargetFile child(FileName name) throws IOException;

  TargetFile create(FileName name, int permissions) throws IOException;

  TargetFile mkdir(FileName name, int permissions) throws IOException;

  TargetFile symlink(FileName name, byte[] target) throws IOException;

  /// A FIFO, socket or device; null where such a file cannot be made.
  TargetFile mknod(FileName name, FileType type, long rdev, int permissions) throws IOException;

  /// One more name for a file that this kind of target made before.
  void link(TargetFile existing, FileName name) throws IOException;

  /// Removes a name of anything but a directory.
  void unlink(FileName name) throws IOException;

  /// Writes the whole segment.
  void write(long offset, MemorySegment source) throws IOException;

  /// Sets the size.
  void truncate(long sizeBytes) throws IOException;

  /// Gives it owner, permissions and times of the source.
  void preserve(Attributes attributes) throws IOException;

  void permissions(int permissions) throws IOException;

  /// One more reference to the same file, closed on its own.
  TargetFile retain() throws IOException;

  @Override
  void close() throws IOException;
}
