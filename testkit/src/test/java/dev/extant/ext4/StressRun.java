package dev.extant.ext4;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FsException;
import dev.extant.vfs.Node;
import dev.extant.vfs.Volume;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;

/// Many threads at random work on one volume for some time, some of them interrupted again and
/// again, watched for a standstill.
///
/// What a seed repeats is what each worker wants to do, not the order in which they get at it.
final class StressRun {
  private static final Duration STANDSTILL = Duration.ofSeconds(20);
  private static final int FILES_PER_WORKER = 2;

  private final Volume volume;
  private final StressTree tree;
  private final long seed;
  private final Path dumpFolder;
  private final LongAdder operations = new LongAdder();
  private final LongAdder fullDisks = new LongAdder();
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /// By name, what the workers' own files hold in the end.
  private final ConcurrentHashMap<FileName, byte[]> contents = new ConcurrentHashMap<>();

  /// Nodes without a name that nobody closes before the volume.
  private final ConcurrentLinkedQueue<Node> abandoned = new ConcurrentLinkedQueue<>();

  private volatile boolean stop;

  StressRun(Volume volume, long seed, Path dumpFolder) {
    this.volume = volume;
    this.tree = new StressTree(volume);
    this.seed = seed;
    this.dumpFolder = dumpFolder;
  }

  long operations() {
    return operations.sum();
  }

  /// How many changes of the workers' own files had no room.
  long fullDisks() {
    return fullDisks.sum();
  }

  ConcurrentHashMap<FileName, byte[]> contents() {
    return contents;
  }

  /// Gives the abandoned nodes back; for after the volume was closed.
  void closeAbandoned() {
    abandoned.forEach(Node::close);
  }

  int abandonedNodes() {
    return abandoned.size();
  }

  /// Runs the workers, `platform` of them on platform threads, and throws what the first that
  /// failed has met.
  void run(int workers, int platform, Duration time) throws IOException, InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      int number = i;
      Thread.Builder builder = i < platform ? Thread.ofPlatform() : Thread.ofVirtual();
      threads.add(builder.name("worker-" + i).start(() -> work(number)));
    }
    watch(threads, System.nanoTime() + time.toNanos());
    Throwable failure = failures.peek();
    if (failure != null) {
      throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
    }
  }

  private void watch(List<Thread> threads, long end) throws IOException, InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    long seen = -1;
    long seenAt = System.nanoTime();
    while (threads.stream().anyMatch(Thread::isAlive)) {
      Thread.sleep(10);
      long now = System.nanoTime();
      stop |= now > end || !failures.isEmpty();
      for (int i = 0; i < 4; i++) {
        threads.get(random.nextInt(threads.size())).interrupt();
      }
      if (operations() != seen) {
        seen = operations();
        seenAt = now;
      } else if (now - seenAt > STANDSTILL.toNanos()) {
        Path dump = dumpFolder.resolve("standstill-" + seed + ".txt").toAbsolutePath();
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .dumpThreads(dump.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
        throw new AssertionError("seed " + seed + ": nothing moves; all threads: " + dump);
      }
    }
  }

  private void work(int number) {
    SplittableRandom random = new SplittableRandom(seed * 31 + number);
    StressFile[] files = new StressFile[FILES_PER_WORKER];
    try {
      for (int i = 0; !stop; i++) {
        int slot = random.nextInt(FILES_PER_WORKER);
        if (random.nextInt(3) == 0) {
          tree.operate(random);
        } else if (files[slot] == null) {
          files[slot] = create("own-" + number + "-" + i, random);
        } else {
          files[slot] = use(files[slot], random);
        }
        operations.increment();
        if (random.nextInt(8) == 0) {
          Thread.interrupted();
        }
      }
      for (StressFile file : files) {
        if (file != null) {
          file.check();
          contents.put(file.name(), file.content());
          file.close();
          operations.increment();
        }
      }
    } catch (FsException | RuntimeException | Error e) {
      failures.add(e);
    }
  }

  /// Null if there is no room, or the directory was removed meanwhile.
  private StressFile create(String name, SplittableRandom random) throws FsException {
    Node directory = tree.directory(random);
    try {
      return new StressFile(volume, directory, name, fullDisks);
    } catch (FsException e) {
      directory.close();
      switch (e.errno()) {
        case ENOSPC, ENOENT -> {
          return null;
        }
        default -> throw e;
      }
    }
  }

  /// Returns the file, or null if it is gone.
  private StressFile use(StressFile file, SplittableRandom random) throws FsException {
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> file.write(random);
      case 3, 4 -> file.append(random);
      case 5, 6 -> file.truncate(random);
      case 7, 8 -> file.fsync(random.nextBoolean());
      case 9, 10 -> file.check();
      case 11, 12 -> file.move(tree.directory(random));
      case 13 -> {
        file.unlinkWhileOpen(random);
        return null;
      }
      case 14 -> {
        if (random.nextInt(40) == 0) {
          abandoned.add(file.abandon());
          return null;
        }
        volume.statistics();
      }
      default -> {
        if (random.nextInt(20) == 0) {
          volume.sync();
        }
      }
    }
    return file;
  }
}
