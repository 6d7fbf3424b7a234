package dev.extant.images;

import java.io.IOException;

/// Tests that have a long form, which `-Dextant.long=true` asks for.
final class LongRuns {
  static final boolean WANTED = Boolean.getBoolean("extant.long");

  private LongRuns() {}

  /// Prints a line in long runs, for figures that somebody wants to keep.
  static void tell(String format, Object... arguments) {
    if (WANTED) {
      System.out.println(format.formatted(arguments));
    }
  }

  /// What the action took is told.
  static void timed(String what, Action action) throws IOException {
    long begin = System.nanoTime();
    action.run();
    tell("%s: %.1f s", what, (System.nanoTime() - begin) / 1e9);
  }

  interface Action {
    void run() throws IOException;
  }
}
