package dev.extant.journal;

import dev.extant.block.DeviceException;
import dev.extant.journal.JournalException.Kind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// Reads and writes blocks of the journal, in as few transfers as the pieces of the journal allow.
final class LogDevice {
  private final JournalPlace place;
  private final int blockSizeBytes;

  /// Pieces in order: piece `i` holds the log blocks from `logical[i]` up to `logical[i + 1]`,
  /// which are device blocks from `physical[i]` on.
  private final long[] logical;

  private final long[] physical;

  private LogDevice(JournalPlace place, long[] logical, long[] physical) {
    this.place = place;
    this.blockSizeBytes = place.blockSizeBytes();
    this.logical = logical;
    this.physical = physical;
  }

  /// The first `lengthBlocks` blocks of the journal.
  static LogDevice open(JournalPlace place, long lengthBlocks) throws IOException {
    long[] logical = new long[8];
    long[] physical = new long[8];
    int count = 0;
    long expected = -1;
    for (long block = 0; block < lengthBlocks; block++) {
      long at = place.location().physicalBlock(block);
      if (at <= 0 || at >= place.fileSystemBlocks()) {
        throw new JournalException(
            Kind.CORRUPT,
            place.name()
                + ": block "
                + block
                + " of the journal is said to be block "
                + at
                + ", outside the file system");
      }
      if (at != expected) {
        if (count + 1 == logical.length) {
          logical = Arrays.copyOf(logical, count * 2 + 2);
          physical = Arrays.copyOf(physical, count * 2 + 2);
        }
        logical[count] = block;
        physical[count++] = at;
      }
      expected = at + 1;
    }
    logical[count] = lengthBlocks;
    return new LogDevice(place, Arrays.copyOf(logical, count + 1), Arrays.copyOf(physical, count));
  }

  JournalPlace place() {
    return place;
  }

  int blockSizeBytes() {
    return blockSizeBytes;
  }

  String name() {
    return place.name();
  }

  private int piece(long logBlock) {
    int found = Arrays.binarySearch(logical, logBlock);
    return found >= 0 ? found : -found - 2;
  }

  /// Fills `target` with the blocks from `logBlock` on.
  void read(long logBlock, MemorySegment target) throws DeviceException {
    long done = 0;
    long count = target.byteSize() / blockSizeBytes;
    while (done < count) {
      int piece = piece(logBlock + done);
      long run = Math.min(count - done, logical[piece + 1] - logBlock - done);
      long at = physical[piece] + logBlock + done - logical[piece];
      place
          .queue()
          .read(at * blockSizeBytes, target.asSlice(done * blockSizeBytes, run * blockSizeBytes));
      done += run;
    }
  }

  /// Transfers that together write a run of log blocks.
  final class Writes {
    private final List<Long> offsets = new ArrayList<>();
    private final List<List<MemorySegment>> sources = new ArrayList<>();
    private long nextOffset = -1;

    /// Adds the blocks in `source`, which belong to the log blocks from `logBlock` on.
    void add(long logBlock, MemorySegment source) {
      long done = 0;
      long count = source.byteSize() / blockSizeBytes;
      while (done < count) {
        int piece = piece(logBlock + done);
        long run = Math.min(count - done, logical[piece + 1] - logBlock - done);
        long offset = (physical[piece] + logBlock + done - logical[piece]) * blockSizeBytes;
        if (offset != nextOffset) {
          offsets.add(offset);
          sources.add(new ArrayList<>());
        }
        sources.getLast().add(source.asSlice(done * blockSizeBytes, run * blockSizeBytes));
        nextOffset = offset + run * blockSizeBytes;
        done += run;
      }
    }

    /// Writes and waits; the first failure is thrown once all have ended.
    void run() throws IOException {
      if (offsets.size() == 1) {
        place.queue().write(offsets.getFirst(), sources.getFirst(), false);
        return;
      }
      List<CompletableFuture<Void>> writes = new ArrayList<>();
      for (int i = 0; i < offsets.size(); i++) {
        writes.add(place.queue().submitWrite(offsets.get(i), sources.get(i)));
      }
      awaitAll(writes);
    }
  }

  /// Writes one block and waits; durable on return with `fua`.
  void writeBlock(long logBlock, MemorySegment block, boolean fua) throws DeviceException {
    int piece = piece(logBlock);
    long at = physical[piece] + logBlock - logical[piece];
    place.queue().write(at * blockSizeBytes, List.of(block), fua);
  }

  void flush() throws DeviceException {
    place.queue().flush();
  }

  /// Waits for all the writes; the first failure is thrown once all have ended.
  private static void awaitAll(List<CompletableFuture<Void>> writes) throws IOException {
    Throwable first = null;
    for (CompletableFuture<Void> write : writes) {
      try {
        write.join();
      } catch (CompletionException e) {
        first = first == null ? e.getCause() : first;
      }
    }
    if (first instanceof IOException e) {
      throw e;
    }
    if (first != null) {
      throw new IllegalStateException("a write to the log ended strangely", first);
    }
  }
}
