package dev.extant.nio;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/// What the parts of [NioContract] need, and where a file system may differ from the others.
interface NioFixture {
  /// A directory that is empty before each test.
  Path directory();

  /// One more file system of the same kind, empty, closed by the fixture; null where there is but
  /// one, as on the host.
  Path otherDirectory() throws IOException;

  default Path path(String relative) {
    return directory().resolve(relative);
  }

  /// What too many symbolic links are.
  default Class<? extends FileSystemException> loopException() {
    return java.nio.file.FileSystemLoopException.class;
  }

  /// What a full or directory target of an atomic move is.
  default Class<? extends FileSystemException> notEmptyException() {
    return java.nio.file.DirectoryNotEmptyException.class;
  }

  /// False on the host: the JDK's default provider, whose paths outside UTF-8 depend on the locale,
  /// whose permissions depend on the user, and whose times may be coarse.
  default boolean isExtant() {
    return true;
  }
}
