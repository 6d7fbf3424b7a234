package dev.extant.journal;

import dev.extant.cache.Buffer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/// Random handles on the home blocks of a [Bed], and beside them what the blocks must hold after
/// each transaction.
///
/// A block is free, metadata (changed through the journal) or data (written in place, once, before
/// the transaction that allocates it commits). A freed block becomes data only when the freeing is
/// durable; metadata again at any time.
final class JournalModel {
  enum Use {
    FREE,
    METADATA,
    DATA
  }

  record Content(Use use, long value) {
    static final Content NONE = new Content(Use.FREE, 0);
  }

  /// `tid` was durable at `tick`.
  record Acknowledgement(long tid, long tick) {}

  /// The clock of acknowledgements.
  interface Ticks {
    long now();
  }

  private final Bed bed;
  private final Ticks ticks;
  private final Random random;
  private final Content[] blocks;
  private final long[] freedIn;
  private final TreeMap<Long, Content[]> states = new TreeMap<>();
  private final List<Acknowledgement> acknowledgements = new ArrayList<>();
  private long lastValue;

  JournalModel(Bed bed, int blockCount, Ticks ticks, Random random) {
    this.bed = bed;
    this.ticks = ticks;
    this.random = random;
    this.blocks = new Content[blockCount];
    java.util.Arrays.fill(blocks, Content.NONE);
    this.freedIn = new long[blockCount];
    states.put(0L, blocks.clone());
  }

  /// Does so many operations, each a handle of some changes, with a commit now and then.
  void run(int operations) throws IOException {
    for (int i = 0; i < operations; i++) {
      long tid = operation();
      int then = random.nextInt(8);
      if (then == 0) {
        acknowledge(bed.journal.commit(tid), tid);
      } else if (then < 3) {
        bed.journal.commit(tid);
      } else if (then == 3 && random.nextInt(20) == 0) {
        bed.journal.checkpoint();
      }
    }
  }

  private void acknowledge(CompletableFuture<Void> durable, long tid) {
    durable.join();
    acknowledgements.add(new Acknowledgement(tid, ticks.now()));
  }

  private long operation() throws IOException {
    int changes = 1 + random.nextInt(5);
    try (Handle handle = bed.journal.start(changes)) {
      for (int i = 0; i < changes; i++) {
        change(handle, random.nextInt(blocks.length));
      }
      states.put(handle.tid(), blocks.clone());
      return handle.tid();
    }
  }

  private void change(Handle handle, int index) throws IOException {
    long value = ++lastValue;
    switch (blocks[index].use) {
      case FREE -> {
        boolean freeingDurable = bed.journal.committed(freedIn[index]);
        if (freeingDurable && random.nextBoolean()) {
          handle.orderedData(() -> bed.writeHome(index, value));
          blocks[index] = new Content(Use.DATA, value);
        } else {
          try (Buffer buffer = bed.cache.fresh(bed.home(index))) {
            handle.createAccess(buffer);
            Bed.fill(buffer.data(), value);
            handle.dirty(buffer);
          }
          blocks[index] = new Content(Use.METADATA, value);
        }
      }
      case METADATA -> {
        if (random.nextInt(3) == 0) {
          forget(handle, index);
        } else {
          bed.put(handle, index, value);
          blocks[index] = new Content(Use.METADATA, value);
        }
      }
      case DATA -> free(handle, index);
    }
  }

  private void forget(Handle handle, int index) throws IOException {
    if (random.nextBoolean()) {
      handle.forget(bed.home(index), null);
    } else {
      try (Buffer buffer = bed.cache.read(bed.home(index))) {
        handle.forget(bed.home(index), buffer);
      }
    }
    free(handle, index);
  }

  private void free(Handle handle, int index) {
    blocks[index] = Content.NONE;
    freedIn[index] = handle.tid();
  }

  /// The newest tid that was acknowledged before the tick.
  long acknowledgedAt(long tick) {
    long tid = 0;
    for (Acknowledgement acknowledgement : acknowledgements) {
      if (acknowledgement.tick <= tick) {
        tid = Math.max(tid, acknowledgement.tid);
      }
    }
    return tid;
  }

  /// Fails unless the device holds exactly what it must after transaction `tid`.
  void check(Bed recovered, long tid, String where) throws IOException {
    Map.Entry<Long, Content[]> state = states.floorEntry(tid);
    Content[] expected = state.getValue();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wanted = arena.allocate(Bed.BLOCK, 8);
      for (int i = 0; i < expected.length; i++) {
        if (expected[i].use != Use.FREE) {
          Bed.fill(wanted, expected[i].value);
          MemorySegment found = recovered.bytesOnDevice(i);
          if (found.mismatch(wanted) >= 0) {
            throw new AssertionError(
                where
                    + ": home block "
                    + i
                    + " should be "
                    + expected[i]
                    + " as of transaction "
                    + tid
                    + " but begins with "
                    + found.get(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, 0));
          }
        }
      }
    }
  }
}
