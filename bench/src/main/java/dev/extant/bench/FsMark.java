package dev.extant.bench;

import dev.extant.Extant;
import dev.extant.journal.JournalStatistics;
import dev.extant.vfs.FileName;
import dev.extant.vfs.NewFile;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// The workload of `fs_mark -s 4096 -D 64 -t N` in process: N virtual threads, each of which again
/// and again creates a file in one of 64 directories, writes it, makes it durable and closes it.
public final class FsMark {
  private static final int DIRECTORIES = 64;
  private static final NewFile FILE = new NewFile(0644, 0, 0);
  private static final NewFile DIRECTORY = new NewFile(0755, 0, 0);

  /// How much to do.
  public record Load(int threads, int filesPerThread, int sizeBytes) {
    public int files() {
      return threads * filesPerThread;
    }
  }

  /// What came out; latencies are those of fsync.
  public record Result(
      double filesPerSecond, long p50Nanos, long p99Nanos, long maxNanos, long commits) {}

  private final Volume volume;
  private final Load load;
  private final MemorySegment content;

  private FsMark(Volume volume, Load load) {
    this.volume = volume;
    this.load = load;
    this.content = MemorySegment.ofArray(new byte[load.sizeBytes()]).fill((byte) 'x');
  }

  /// Runs the load in a new directory `name` of the mount.
  public static Result run(Extant mount, String name, Load load) throws IOException {
    return new FsMark(mount.volume(), load).run(mount, name);
  }

  private Result run(Extant mount, String name) throws IOException {
    List<Node> directories = new ArrayList<>();
    try (Node root = volume.root();
        Node top = volume.mkdir(root, FileName.of(name), DIRECTORY)) {
      for (int i = 0; i < DIRECTORIES; i++) {
        directories.add(volume.mkdir(top, FileName.of("d" + i), DIRECTORY));
      }
      volume.sync();
      long commitsBefore = commits(mount);
      long[] latencies = new long[load.files()];
      long nanos = runThreads(directories, latencies);
      Arrays.sort(latencies);
      return new Result(
          load.files() * 1e9 / nanos,
          latencies[latencies.length / 2],
          latencies[(int) (latencies.length * 0.99)],
          latencies[latencies.length - 1],
          commits(mount) - commitsBefore);
    } finally {
      directories.forEach(Node::close);
    }
  }

  private static long commits(Extant mount) {
    JournalStatistics statistics = mount.journalStatistics();
    return statistics == null ? 0 : statistics.commits();
  }

  private long runThreads(List<Node> directories, long[] latencies) throws IOException {
    CountDownLatch start = new CountDownLatch(1);
    List<Future<?>> writers = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int thread = 0; thread < load.threads(); thread++) {
        int first = thread * load.filesPerThread();
        writers.add(
            executor.submit(
                () -> {
                  start.await();
                  for (int i = first; i < first + load.filesPerThread(); i++) {
                    latencies[i] = store(directories.get(i % DIRECTORIES), "file" + i);
                  }
                  return null;
                }));
      }
      long begin = System.nanoTime();
      start.countDown();
      for (Future<?> writer : writers) {
        writer.get();
      }
      return System.nanoTime() - begin;
    } catch (ExecutionException e) {
      throw new IOException("a writer failed: " + e.getCause().getMessage(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /// Returns how long the fsync took.
  private long store(Node directory, String name) throws IOException {
    try (Node file = volume.create(directory, FileName.of(name), FILE)) {
      volume.write(file, 0, content);
      long begin = System.nanoTime();
      volume.fsync(file, false).join();
      return System.nanoTime() - begin;
    }
  }
}
