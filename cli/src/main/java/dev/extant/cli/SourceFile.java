package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A file, of any type, that is copied from: on the host or in an image.
interface SourceFile extends AutoCloseable {
  /// How messages call it.
  String text();

  /// As they were when it was found.
  Attributes attributes();

  default FileType type() {
    return attributes().type();
  }

  /// Equal for two names of one file.
  Object identity() throws IOException;

  /// Names in a directory without `.` and `..`, in the order of their bytes.
  List<FileName> names() throws IOException;

  SourceFile child(FileName name) throws IOException;

  byte[] readlink() throws IOException;

  /// Reads up to the segment's size; 0 at the end.
  int read(long offset, MemorySegment target) throws IOException;

  /// The offset of the next byte at or behind `offset` that may not be in a hole, -1 if there is
  /// none.
  long nextData(long offset) throws IOException;

  @Override
  void close() throws IOException;
}
