package dev.extant.cli;

import java.io.IOException;
import java.util.Locale;

/// A line on a terminal that shows how far a long piece of work is; nothing in the first two
/// seconds, and nothing at all elsewhere.
final class Progress implements AutoCloseable {
  private static final long QUIET_NANOS = 2_000_000_000L;
  private static final long STEP_NANOS = 200_000_000L;
  private static final int BAR_WIDTH = 30;

  /// Tells how many bytes there are in all. Asked once, and only if the bar is shown.
  interface Total {
    long bytes() throws IOException;
  }

  private final Console console;
  private final Total total;
  private final long startNanos = System.nanoTime();
  private long nextNanos = startNanos + QUIET_NANOS;
  private long totalBytes = -1;
  private long doneBytes;
  private long doneFiles;
  private boolean shown;

  Progress(Console console, Total total) {
    this.console = console;
    this.total = total;
  }

  void bytesDone(long bytes) throws IOException {
    doneBytes += bytes;
    showIfDue();
  }

  void fileDone() throws IOException {
    doneFiles++;
    showIfDue();
  }

  private void showIfDue() throws IOException {
    if (!console.terminal() || System.nanoTime() < nextNanos) {
      return;
    }
    if (totalBytes < 0) {
      totalBytes = Math.max(1, total.bytes());
    }
    double part = Math.min(1, (double) doneBytes / totalBytes);
    int filled = (int) (part * BAR_WIDTH);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    console
        .err()
        .printf(
            Locale.ROOT,
            "\r[%s%s] %3.0f %%  %,d files  %s  %s/s ",
            "#".repeat(filled),
            ".".repeat(BAR_WIDTH - filled),
            part * 100,
            doneFiles,
            Sizes.human(doneBytes),
            Sizes.human((long) (doneBytes / seconds)));
    console.err().flush();
    shown = true;
    nextNanos = System.nanoTime() + STEP_NANOS;
  }

  /// Takes the line away.
  @Override
  public void close() {
    if (shown) {
      console.err().print("\r\u001b[K");
      console.err().flush();
    }
  }
}
