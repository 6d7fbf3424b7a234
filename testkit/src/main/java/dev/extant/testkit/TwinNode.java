package dev.extant.testkit;

import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;

/// The same inode in the model and in the volume under test.
record TwinNode(String label, Node model, Node real) {
  FileType type() {
    return model.type();
  }

  void close() {
    model.close();
    real.close();
  }

  @Override
  public String toString() {
    return label;
  }
}
