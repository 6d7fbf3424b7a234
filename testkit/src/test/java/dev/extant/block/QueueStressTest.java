package dev.extant.block;

import static org.assertj.core.api.Assertions.assertThat;

import dev.extant.block.DeviceException.Kind;
import dev.extant.block.DeviceException.Operation;
import dev.extant.testkit.CutStates;
import dev.extant.testkit.DelegatingDevice;
import dev.extant.testkit.FaultyDevice;
import dev.extant.testkit.RecordingDevice;
import dev.extant.testkit.Seeds;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random callers on a queue over a device that fails at some point and whose power is cut at some
/// other.
///
/// What must hold: nobody hangs; a write that succeeded is read back; once a write or flush failed,
/// none that begins later succeeds; what was written before a flush that succeeded survives every
/// power cut.
///
/// `-Dextant.stress.rounds=N` makes it longer.
@Timeout(value = 10, unit = TimeUnit.MINUTES)
final class QueueStressTest {
  private static final int CELL = 512;
  private static final int CELLS_PER_CALLER = 64;
  private static final int NR_CALLERS = 24;

  @Test
  void holdsWhatItAcknowledges() throws Exception {
    long seed = Seeds.fixed(20_261_201);
    int rounds = Integer.getInteger("extant.stress.rounds", 60);
    for (int round = 0; round < rounds; round++) {
      new Round(seed + round).run();
    }
  }

  /// One life of a device. Each caller owns cells, and writes ever greater numbers into them.
  private static final class Round {
    final long seed;
    final RamDevice base = new RamDevice("ram", (long) NR_CALLERS * CELLS_PER_CALLER * CELL);
    final RecordingDevice recording =
        new RecordingDevice(new OverlayDevice(DelegatingDevice.withoutClose(base)));
    final FaultyDevice faulty;
    final RequestQueue queue;
    final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    final List<Caller> callers = new ArrayList<>();

    Round(long seed) {
      this.seed = seed;
      SplittableRandom random = new SplittableRandom(seed);
      faulty = new FaultyDevice(recording, seed);
      switch (random.nextInt(4)) {
        case 0 -> faulty.failNth(Operation.WRITE, 1 + random.nextInt(400), Kind.UNKNOWN);
        case 1 -> faulty.failNth(Operation.FLUSH, 1 + random.nextInt(60), Kind.UNKNOWN);
        case 2 -> faulty.failNth(Operation.WRITE, 1 + random.nextInt(400), Kind.NO_SPACE);
        default -> {}
      }
      boolean interruptSafe = random.nextBoolean();
      BlockDevice device =
          new DelegatingDevice(faulty) {
            @Override
            public boolean interruptSafe() {
              return interruptSafe;
            }
          };
      queue = new RequestQueue(device, 1 + random.nextInt(16), 1 + random.nextInt(3));
    }

    void run() throws Exception {
      boolean virtual = seed % 2 == 0;
      try (ExecutorService executor =
          virtual
              ? Executors.newVirtualThreadPerTaskExecutor()
              : Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
        for (int i = 0; i < NR_CALLERS; i++) {
          Caller caller = new Caller(this, i);
          callers.add(caller);
          executor.execute(caller);
        }
      }
      queue.close();
      assertThat(failures).as("seed %d", seed).isEmpty();
      checkCuts();
      base.close();
    }

    /// At each cut every cell has at least the number that was durable by then, and none from the
    /// future.
    private void checkCuts() throws IOException {
      CutStates states = new CutStates(base, recording.log());
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 0; i < 8; i++) {
        long cutTick = random.nextLong(states.lastTick() + 1);
        MemorySegment image = MemorySegment.ofArray(new byte[(int) base.sizeBytes()]);
        try (BlockDevice state = states.materialise(cutTick, i)) {
          state.read(0, image);
        }
        for (Caller caller : callers) {
          caller.check(image, cutTick);
        }
      }
    }
  }

  /// `number` was durable in `cell` at `tick`.
  private record Durable(long cell, int number, long tick) {}

  private static final class Caller implements Runnable {
    private final Round round;
    private final int index;
    private final SplittableRandom random;
    private final int[] lastWritten = new int[CELLS_PER_CALLER];
    private final List<Durable> durables = new ArrayList<>();

    Caller(Round round, int index) {
      this.round = round;
      this.index = index;
      this.random = new SplittableRandom(round.seed * 31 + index);
    }

    @Override
    public void run() {
      boolean failed = false;
      try {
        for (int step = 1; step <= 40; step++) {
          try {
            step(step);
            if (failed) {
              throw new AssertionError("a write or flush succeeded after one had failed");
            }
          } catch (DeviceException e) {
            failed = true;
          }
          if (random.nextInt(8) == 0) {
            Thread.currentThread().interrupt();
          }
        }
      } catch (RuntimeException | Error | ExecutionException | InterruptedException e) {
        round.failures.add(e);
      }
    }

    private void step(int number) throws DeviceException, ExecutionException, InterruptedException {
      int cell = random.nextInt(CELLS_PER_CALLER - 8);
      int count = 1 + random.nextInt(8);
      switch (random.nextInt(4)) {
        case 0 -> {
          round.queue.write(offset(cell), segments(count, number), false);
          written(cell, count, number);
        }
        case 1 -> {
          round.queue.write(offset(cell), segments(count, number), true);
          written(cell, count, number);
          durable(cell, count);
        }
        case 2 -> submit(cell, count, number);
        default -> {
          round.queue.flush();
          durable(0, CELLS_PER_CALLER);
        }
      }
    }

    private void submit(int cell, int count, int number) throws DeviceException {
      List<CompletableFuture<Void>> parts = new ArrayList<>();
      try (Plug plug = round.queue.plug()) {
        for (int i = count - 1; i >= 0; i--) {
          parts.add(plug.submitWrite(offset(cell + i), segments(1, number)));
        }
      }
      DeviceException failure = null;
      for (CompletableFuture<Void> part : parts) {
        Throwable thrown = part.handle((_, e) -> e).join();
        if (thrown instanceof DeviceException e) {
          failure = e;
        } else if (thrown != null) {
          throw new AssertionError(thrown);
        }
      }
      if (failure != null) {
        throw failure;
      }
      written(cell, count, number);
    }

    private void written(int cell, int count, int number) throws DeviceException {
      MemorySegment back = Arena.ofAuto().allocate((long) count * CELL);
      round.queue.read(offset(cell), back);
      for (int i = 0; i < count; i++) {
        lastWritten[cell + i] = number;
        if (back.get(ValueLayout.JAVA_INT, (long) i * CELL) != number) {
          throw new AssertionError("a write is not there");
        }
      }
    }

    private void durable(int cell, int count) {
      long tick = round.recording.ticks();
      for (int i = cell; i < cell + count; i++) {
        durables.add(new Durable(i, lastWritten[i], tick));
      }
    }

    void check(MemorySegment image, long cutTick) {
      for (Durable durable : durables) {
        long at = offset((int) durable.cell());
        int number = image.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        if (durable.tick() <= cutTick) {
          assertThat(number)
              .as("seed %d cut %d caller %d cell %d", round.seed, cutTick, index, durable.cell())
              .isGreaterThanOrEqualTo(durable.number());
        }
      }
    }

    private long offset(int cell) {
      return ((long) index * CELLS_PER_CALLER + cell) * CELL;
    }

    private static List<MemorySegment> segments(int count, int number) {
      List<MemorySegment> segments = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        MemorySegment segment = Arena.ofAuto().allocate(CELL, 4);
        segment.set(ValueLayout.JAVA_INT, 0, number);
        segments.add(segment);
      }
      return segments;
    }
  }
}
