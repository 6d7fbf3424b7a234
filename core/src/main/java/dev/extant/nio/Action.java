package dev.extant.nio;

import java.io.IOException;

/// A step that may fail.
@FunctionalInterface
interface Action<T> {
  T run() throws IOException;
}
