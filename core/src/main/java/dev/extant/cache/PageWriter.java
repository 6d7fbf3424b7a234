package dev.extant.cache;

import dev.extant.block.Plug;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// Writes one batch of pages: in the order of their blocks, neighbours in one transfer. A device
/// that needs stable pages (I5) gets copies made at submit.
final class PageWriter {
  private static final Comparator<Page> BY_BLOCK = Comparator.comparingLong(page -> page.blockNr);

  private final PageCache cache;
  private final int blockSizeBytes;
  private final boolean copies;
  private final BitSet written = new BitSet();
  private IOException failure;

  PageWriter(PageCache cache) {
    this.cache = cache;
    this.blockSizeBytes = cache.blockSizeBytes();
    this.copies = cache.queue().device().stablePagesRequired();
  }

  /// A transfer under way: pages `first` to `end` of the batch; `scratch` is null unless copied.
  private record Run(int first, int end, MemorySegment scratch, CompletableFuture<Void> done) {}

  /// Sorts the batch, writes it and waits. Errors are kept for [#failure].
  void write(List<Page> batch) {
    batch.sort(BY_BLOCK);
    int end = endOfRun(batch, 0);
    if (end == batch.size()) {
      writeOnCaller(batch, end);
      return;
    }
    List<Run> runs = new ArrayList<>();
    try (Plug plug = cache.queue().plug()) {
      for (int first = 0; first < batch.size(); first = end) {
        end = endOfRun(batch, first);
        MemorySegment scratch = copies ? cache.takeScratch() : null;
        long offset = batch.get(first).blockNr * blockSizeBytes;
        CompletableFuture<Void> done =
            plug.submitWrite(offset, sources(batch, first, end, scratch));
        runs.add(new Run(first, end, scratch, done));
      }
    }
    for (Run run : runs) {
      try {
        run.done.join();
        written.set(run.first, run.end);
      } catch (CompletionException e) {
        fail(e.getCause() instanceof IOException io ? io : new IOException(e.getCause()));
      } finally {
        giveBack(run.scratch);
      }
    }
  }

  /// A single transfer needs nobody else.
  private void writeOnCaller(List<Page> batch, int end) {
    MemorySegment scratch = copies ? cache.takeScratch() : null;
    try {
      long offset = batch.get(0).blockNr * blockSizeBytes;
      cache.queue().write(offset, sources(batch, 0, end, scratch), false);
      written.set(0, end);
    } catch (IOException e) {
      fail(e);
    } finally {
      giveBack(scratch);
    }
  }

  private int endOfRun(List<Page> batch, int first) {
    int most = copies ? PageCache.SCRATCH_BYTES / blockSizeBytes : batch.size();
    int end = first + 1;
    while (end < batch.size()
        && end - first < most
        && batch.get(end).blockNr == batch.get(end - 1).blockNr + 1) {
      end++;
    }
    return end;
  }

  private List<MemorySegment> sources(List<Page> batch, int first, int end, MemorySegment scratch) {
    List<MemorySegment> sources = new ArrayList<>(end - first);
    for (int i = first; i < end; i++) {
      MemorySegment data = batch.get(i).data();
      if (scratch == null) {
        sources.add(data);
      } else {
        MemorySegment.copy(data, 0, scratch, (long) (i - first) * blockSizeBytes, blockSizeBytes);
      }
    }
    if (scratch != null) {
      sources.add(scratch.asSlice(0, (long) (end - first) * blockSizeBytes));
    }
    return sources;
  }

  private void giveBack(MemorySegment scratch) {
    if (scratch != null) {
      cache.giveScratch(scratch);
    }
  }

  private void fail(IOException e) {
    if (failure == null) {
      failure = e;
    } else {
      failure.addSuppressed(e);
    }
  }

  /// Page `index` of the sorted batch is on the device.
  boolean written(int index) {
    return written.get(index);
  }

  /// The first error, or null.
  IOException failure() {
    return failure;
  }
}
