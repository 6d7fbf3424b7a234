package dev.extant.ext4;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.extant.block.RamDevice;
import dev.extant.testkit.FuzzBases;
import dev.extant.testkit.ImageMutator;
import dev.extant.testkit.MemoryTempDir;
import dev.extant.testkit.MetadataMap;
import dev.extant.testkit.Seeds;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Damaged images end in typed errors or answers, in bounded time and memory:
/// `-Dextant.fuzz.images=N` images (CI runs 20,000), of which image `i` depends on nothing but the
/// seed and `i`; `-Dextant.fuzz.from=I` begins at one.
class FuzzTest {
  private static final int IMAGES = Integer.getInteger("extant.fuzz.images", 600);
  private static final int FROM = Integer.getInteger("extant.fuzz.from", 0);
  private static final long LIMIT_NANOS = 20_000_000_000L;
  private static final long LIMIT_BYTES = 128L << 20;

  @TempDir(factory = MemoryTempDir.class)
  Path folder;

  private record Base(String name, RamDevice device, ImageMutator mutator) {}

  private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger next = new AtomicInteger(FROM);
  private final AtomicInteger mounts = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final List<Base> bases = new ArrayList<>();
  private long seed;

  @Test
  void everyImageEndsInAnswersOrRefusals() throws IOException, InterruptedException {
    seed = Seeds.fixed(20_261_204);
    for (FuzzBases.Base base : OurBases.make().make(folder)) {
      MetadataMap map = MetadataMap.of(base.device().memory());
      bases.add(new Base(base.name(), base.device(), new ImageMutator(map)));
    }
    // What ends a thread of a mount reaches nobody else.
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) -> failures.add(thread.getName() + " ended with " + described(e)));
    try {
      work();
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertThat(failures).isEmpty();
    assertThat(ended.get()).isEqualTo(IMAGES);
    // Otherwise the deep code was not reached.
    assertThat(mounts.get()).isGreaterThan(IMAGES < 100 ? -1 : IMAGES * 2);
  }

  private void work() throws InterruptedException {
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 8); i++) {
      Worker worker = new Worker();
      worker.setDaemon(true);
      worker.start();
      workers.add(worker);
    }
    for (Worker worker : workers) {
      do {
        worker.join(100);
        workers.forEach(Worker::requireProgress);
      } while (worker.isAlive() && failures.isEmpty());
    }
  }

  private final class Worker extends Thread {
    private volatile long since;
    private volatile String what;

    @Override
    public void run() {
      for (int i = next.getAndIncrement();
          i < FROM + IMAGES && failures.isEmpty();
          i = next.getAndIncrement()) {
        one(i);
      }
      what = null;
    }

    private void one(int index) {
      RandomGenerator random =
          RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 1_000_003 + index);
      Base base = bases.get(index % bases.size());
      RamDevice copy = new RamDevice("image " + index, base.device.sizeBytes());
      copy.memory().copyFrom(base.device.memory());
      String change = base.mutator.mutate(copy.memory(), random);
      since = System.nanoTime();
      what = "image " + index + " of seed " + seed + " (" + base.name + "; " + change + ")";
      long before = allocatedBytes();
      try {
        mounts.addAndGet(new FuzzedImage(copy).run());
        if (allocatedBytes() - before > LIMIT_BYTES) {
          failures.add(what + " took " + (allocatedBytes() - before) + " bytes of memory");
        }
        ended.incrementAndGet();
      } catch (Throwable e) {
        failures.add(what + " ended with " + described(e));
      } finally {
        copy.close();
      }
    }

    private long allocatedBytes() {
      return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
          .getThreadAllocatedBytes(threadId());
    }

    void requireProgress() {
      String running = what;
      if (running != null && System.nanoTime() - since > LIMIT_NANOS) {
        failures.add(running + " does not end: " + List.of(getStackTrace()));
      }
    }
  }

  private static String described(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
