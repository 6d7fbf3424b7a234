package dev.extant.nio;

import dev.extant.vfs.Node;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/// The entries of a directory, read in batches as they are asked for; at its end when the gate is
/// closed. For one thread at a time.
final class EntryIterator implements Iterator<Path> {
  private static final int BATCH = 256;

  private final ExtantFileSystem fileSystem;
  private final ExtantPath directory;
  private final Node node;
  private final Gate gate;
  private final DirectoryStream.Filter<? super Path> filter;
  private final Deque<ExtantPath> batch = new ArrayDeque<>();
  private long cookie;
  private boolean atEnd;
  private ExtantPath next;

  EntryIterator(
      ExtantFileSystem fileSystem,
      ExtantPath directory,
      Node node,
      Gate gate,
      DirectoryStream.Filter<? super Path> filter) {
    this.fileSystem = fileSystem;
    this.directory = directory;
    this.node = node;
    this.gate = gate;
    this.filter = filter;
  }

  @Override
  public boolean hasNext() {
    try {
      while (next == null) {
        ExtantPath entry = nextEntry();
        if (entry == null) {
          return false;
        }
        if (filter.accept(entry)) {
          next = entry;
        }
      }
      return true;
    } catch (IOException e) {
      throw new DirectoryIteratorException(e);
    }
  }

  @Override
  public Path next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    ExtantPath entry = next;
    next = null;
    return entry;
  }

  /// The next entry whatever the filter says, or null at the end.
  private ExtantPath nextEntry() throws IOException {
    if (!gate.enter()) {
      return null;
    }
    try {
      if (batch.isEmpty() && !atEnd) {
        fileSystem.call(directory, null, this::readBatch);
      }
      return batch.poll();
    } finally {
      gate.exit();
    }
  }

  private Void readBatch() throws IOException {
    atEnd = true;
    fileSystem
        .volume()
        .readDirectory(
            node,
            cookie,
            (name, _, _, next) -> {
              cookie = next;
              if (!name.isDot() && !name.isDotDot()) {
                batch.add(directory.resolve(name));
              }
              atEnd = batch.size() < BATCH;
              return atEnd;
            });
    return null;
  }
}
