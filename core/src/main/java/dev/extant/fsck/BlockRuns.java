package dev.extant.fsck;

/// A list of runs of numbers as text, e.g. `-(7--9) +12 …`, of limited length.
final class BlockRuns {
  private static final int MAX_RUNS = 12;

  private final StringBuilder text = new StringBuilder();
  private int count;
  private int sign;
  private long start;
  private long length;

  static String text(long start, long length) {
    return length == 1 ? Long.toString(start) : "(" + start + "--" + (start + length - 1) + ")";
  }

  /// The next number, with +1 or -1.
  void add(long number, int numberSign) {
    if (numberSign != sign || number != start + length) {
      end();
      sign = numberSign;
      start = number;
    }
    length++;
  }

  private void end() {
    if (length > 0) {
      if (count < MAX_RUNS) {
        text.append(sign > 0 ? " +" : " -").append(text(start, length));
      }
      count++;
      length = 0;
    }
  }

  /// All that was added; empty if nothing was.
  String finish() {
    end();
    return text.toString().strip() + (count > MAX_RUNS ? " …" : "");
  }
}
