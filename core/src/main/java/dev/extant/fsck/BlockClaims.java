package dev.extant.fsck;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// Which clusters somebody says are his, and which more than one does: two bits a cluster, in
/// chunks that are made when first touched. For any number of threads, without locks.
final class BlockClaims {
  private static final int CHUNK_SHIFT = 15;
  private static final int CHUNK_WORDS = (1 << CHUNK_SHIFT) / Long.SIZE;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

  private final FsLayout layout;
  private final AtomicReferenceArray<long[]> once;
  private final AtomicReferenceArray<long[]> twice;
  private final AtomicBoolean shared = new AtomicBoolean();

  BlockClaims(FsLayout layout) {
    this.layout = layout;
    int chunks = Math.toIntExact((layout.clustersCount() >>> CHUNK_SHIFT) + 1);
    this.once = new AtomicReferenceArray<>(chunks);
    this.twice = new AtomicReferenceArray<>(chunks);
  }

  /// Claims the clusters of a run of blocks, which lies within the file system. True if somebody
  /// else had one of them.
  boolean claim(long blockNr, long count) {
    return count > 0
        && claimClusters(layout.clusterOf(blockNr), layout.clusterOf(blockNr + count - 1) + 1);
  }

  /// The same in clusters, to `limit`, exclusive.
  boolean claimClusters(long from, long limit) {
    boolean already = false;
    for (long at = from; at < limit; ) {
      int chunk = (int) (at >>> CHUNK_SHIFT);
      long end = Math.min(limit, (long) chunk + 1 << CHUNK_SHIFT);
      already |= claimInChunk(chunk, inChunk(at), (int) (end - ((long) chunk << CHUNK_SHIFT)));
      at = end;
    }
    return already;
  }

  private boolean claimInChunk(int chunk, int from, int limit) {
    long[] words = words(once, chunk);
    boolean already = false;
    for (int at = from; at < limit; ) {
      int word = at >>> 6;
      long mask = -1L << at & (limit - (word << 6) >= 64 ? -1L : (1L << limit) - 1);
      long both = (long) WORDS.getAndBitwiseOr(words, word, mask) & mask;
      if (both != 0) {
        already = true;
        shared.set(true);
        WORDS.getAndBitwiseOr(words(twice, chunk), word, both);
      }
      at = word + 1 << 6;
    }
    return already;
  }

  boolean claimed(long blockNr) {
    return test(once, layout.clusterOf(blockNr));
  }

  boolean claimedTwice(long blockNr) {
    return test(twice, layout.clusterOf(blockNr));
  }

  boolean clusterClaimed(long cluster) {
    return test(once, cluster);
  }

  boolean clusterClaimedTwice(long cluster) {
    return test(twice, cluster);
  }

  /// True if any cluster is claimed twice.
  boolean anyShared() {
    return shared.get();
  }

  private static boolean test(AtomicReferenceArray<long[]> chunks, long cluster) {
    long[] words = chunks.get((int) (cluster >>> CHUNK_SHIFT));
    int bit = inChunk(cluster);
    return words != null && ((long) WORDS.getVolatile(words, bit >>> 6) >>> bit & 1) != 0;
  }

  private static int inChunk(long cluster) {
    return (int) cluster & (1 << CHUNK_SHIFT) - 1;
  }

  private static long[] words(AtomicReferenceArray<long[]> chunks, int chunk) {
    long[] words = chunks.get(chunk);
    if (words == null) {
      long[] fresh = new long[CHUNK_WORDS];
      words = chunks.compareAndSet(chunk, null, fresh) ? fresh : chunks.get(chunk);
    }
    return words;
  }
}
