package dev.extant.nio;

import java.io.IOException;
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

  /// Whether this file system is of those that may differ.
  boolean differs(Difference difference);
}
