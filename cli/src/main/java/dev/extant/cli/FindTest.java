package dev.extant.cli;

import dev.extant.vfs.Attributes;
import dev.extant.vfs.Volume;
import java.io.IOException;

/// A test, an action or an expression of `extant find`.
interface FindTest {
  /// A file that is looked at. `imagePath` is its path from the root of its image.
  record Candidate(TreeWalk.Entry entry, Volume volume, byte[] imagePath) {
    Attributes attributes() {
      return entry.attributes();
    }
  }

  /// Whether the file passes. Actions do their work here and say yes.
  boolean passes(Candidate file) throws IOException;

  default FindTest and(FindTest other) {
    return file -> passes(file) && other.passes(file);
  }

  default FindTest or(FindTest other) {
    return file -> passes(file) || other.passes(file);
  }

  default FindTest not() {
    return file -> !passes(file);
  }
}
