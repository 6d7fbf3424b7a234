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
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/// The entries of a directory, read in batches as they are asked for. Weakly consistent: a name
/// that is there all the time is given once; one that comes or goes meanwhile may be given or not.
///
/// After [#close()] the iterator is at its end.
final class ExtantDirectoryStream implements DirectoryStream<Path> {
  private static final int BATCH = 256;

  private final ExtantFileSystem fileSystem;
  private final ExtantPath directory;
  private final Node node;
  private final DirectoryStream.Filter<? super Path> filter;

  /// Guards all below; never held while the filter runs.
  private final ReentrantLock lock = new ReentrantLock();

  private final Deque<ExtantPath> batch = new ArrayDeque<>();
  private long cookie;
  private boolean atEnd;
  private boolean closed;
  private boolean iterated;

  /// Takes the node over.
  ExtantDirectoryStream(
      ExtantFileSystem fileSystem,
      ExtantPath directory,
      Node node,
      DirectoryStream.Filter<? super Path> filter) {
    this.fileSystem = fileSystem;
    this.directory = directory;
    this.node = node;
    this.filter = Objects.requireNonNull(filter);
  }

  @Override
  public Iterator<Path> iterator() {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("the directory stream is closed");
      }
      if (iterated) {
        throw new IllegalStateException("the directory stream has given its iterator");
      }
      iterated = true;
    } finally {
      lock.unlock();
    }
    return new Entries();
  }

  /// The next entry whatever the filter says, or null at the end.
  private ExtantPath nextEntry() throws IOException {
    lock.lock();
    try {
      if (closed) {
        return null;
      }
      if (batch.isEmpty() && !atEnd) {
        fileSystem.call(directory, null, this::readBatch);
      }
      return batch.poll();
    } finally {
      lock.unlock();
    }
  }

  /// Caller holds `lock`.
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

  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        batch.clear();
        node.close();
        fileSystem.closed(this);
      }
    } finally {
      lock.unlock();
    }
  }

  /// For one thread, as iterators are.
  private final class Entries implements Iterator<Path> {
    private ExtantPath next;

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
  }
}
