package dev.extant.fsck;

/// How to check: on how many threads, and how many findings to keep (more are only counted).
public record FsckOptions(int threads, int maxFindings) {
  public FsckOptions {
    if (threads < 1 || maxFindings < 1) {
      throw new IllegalArgumentException("threads and maxFindings must be positive");
    }
  }

  public static FsckOptions defaults() {
    return new FsckOptions(Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 8), 10_000);
  }

  public FsckOptions withThreads(int count) {
    return new FsckOptions(count, maxFindings);
  }
}
