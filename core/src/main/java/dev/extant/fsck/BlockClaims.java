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

  private final long firstBlock;
  private final int shift;
  private final AtomicReferenceArray<long[]> once;
  private final AtomicReferenceArray<long[]> twice;
  private final AtomicBoolean shared = new AtomicBoolean();

  private BlockClaims(long firstBlock, int shift, long count) {
    this.firstBlock = firstBlock;
    this.shift = shift;
    int chunks = Math.toIntExact((count >>> CHUNK_SHIFT) + 1);
    this.once = new AtomicReferenceArray<>(chunks);
    this.twice = new AtomicReferenceArray<>(chunks);
  }

  /// For the clusters of a file system.
  static BlockClaims ofClusters(FsLayout layout) {
    return new BlockClaims(
        layout.firstDataBlock(), layout.clusterShift(), layout.clustersCount() + 1);
  }

  /// For its blocks, also where clusters are larger.
  static BlockClaims ofBlocks(FsLayout layout) {
    return new BlockClaims(0, 0, layout.blocksCount() + 1);
  }

  private long clusterOf(long blockNr) {
    return blockNr - firstBlock >>> shift;
  }

  /// Claims the clusters of a run of blocks, which lies within the file system. True if somebody
  /// else had one of them.
  boolean claim(long blockNr, long count) {
    return count > 0 && claimClusters(clusterOf(blockNr), clusterOf(blockNr + count - 1) + 1);
  }

  /// Claims the clusters of a run for something that may share them: no other claim is noticed.
  void claimQuietly(long blockNr, long count) {
    long limit = clusterOf(blockNr + count - 1) + 1;
    for (long at = clusterOf(blockNr); count > 0 && at < limit; at++) {
      int bit = inChunk(at);
      WORDS.getAndBitwiseOr(words(once, (int) (at >>> CHUNK_SHIFT)), bit >>> 6, 1L << bit);
    }
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
    return test(once, clusterOf(blockNr));
  }

  boolean claimedTwice(long blockNr) {
    return test(twice, clusterOf(blockNr));
  }

  /// 64 bits, of the clusters from this one on, with 1 for each that is claimed.
  long claimedWord(long cluster) {
    return word(once, cluster);
  }

  /// True if a block of the run is claimed.
  boolean anyClaimed(long blockNr, long count) {
    return any(once, blockNr, count);
  }

  /// True if a block of the run is claimed twice.
  boolean anyClaimedTwice(long blockNr, long count) {
    return any(twice, blockNr, count);
  }

  private boolean any(AtomicReferenceArray<long[]> chunks, long blockNr, long count) {
    long limit = clusterOf(blockNr + count - 1) + 1;
    for (long at = clusterOf(blockNr); at < limit; at += Long.SIZE) {
      long mask = limit - at >= Long.SIZE ? -1L : (1L << limit - at) - 1;
      if ((word(chunks, at) & mask) != 0) {
        return true;
      }
    }
    return false;
  }

  private static long word(AtomicReferenceArray<long[]> chunks, long cluster) {
    int within = (int) cluster & 63;
    long low = alignedWord(chunks, cluster >>> 6) >>> within;
    return within == 0 ? low : low | alignedWord(chunks, (cluster >>> 6) + 1) << 64 - within;
  }

  private static long alignedWord(AtomicReferenceArray<long[]> chunks, long index) {
    int chunk = (int) (index / CHUNK_WORDS);
    long[] words = chunk < chunks.length() ? chunks.get(chunk) : null;
    return words == null ? 0 : (long) WORDS.getVolatile(words, (int) (index % CHUNK_WORDS));
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
