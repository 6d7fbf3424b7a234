package dev.extant.cli;

import java.io.IOException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;

/// Many writers, a virtual thread each, that store one small file after another and go on only when
/// it is durable.
final class DurableWriters {
  /// Told of each file once it is durable.
  interface Listener {
    void acknowledged(int writer) throws IOException;
  }

  private final StoredFiles files;
  private final Listener listener;
  private final LatencyHistogram latencies = new LatencyHistogram();

  /// How many files each writer has stored durably; they are numbered from 0.
  private final AtomicLongArray acknowledged;

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<IOException> failure = new AtomicReference<>();
  private volatile boolean stopping;

  DurableWriters(StoredFiles files, int writers, Listener listener) {
    this.files = files;
    this.listener = listener;
    this.acknowledged = new AtomicLongArray(writers);
  }

  void start() throws IOException {
    files.makeDirectories(acknowledged.length());
    for (int i = 0; i < acknowledged.length(); i++) {
      int writer = i;
      threads.add(Thread.ofVirtual().name("writer-" + i).start(() -> work(writer)));
    }
  }

  private void work(int writer) {
    try {
      for (long number = 0; !stopping; number++) {
        long startNanos = System.nanoTime();
        files.store(writer, number);
        latencies.add(System.nanoTime() - startNanos);
        acknowledged.set(writer, number + 1);
        listener.acknowledged(writer);
      }
    } catch (IOException e) {
      failure.compareAndSet(null, e);
    } catch (ReadOnlyFileSystemException e) {
      // So NIO says it, unchecked, when an error made the mount read-only.
      failure.compareAndSet(null, new IOException(Sentences.of(e), e));
    }
  }

  /// Lets each writer end the file it is at, and waits for them.
  void stop() {
    stopping = true;
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// The first failure of a writer, or null.
  IOException failure() {
    return failure.get();
  }

  LatencyHistogram latencies() {
    return latencies;
  }

  long[] acknowledged() {
    long[] counts = new long[acknowledged.length()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = acknowledged.get(i);
    }
    return counts;
  }
}
