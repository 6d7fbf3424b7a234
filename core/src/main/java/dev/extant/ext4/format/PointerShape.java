package dev.extant.ext4.format;

/// Which logical block is found through which pointers (Linux documentation, "Direct/Indirect Block
/// Addressing"): i_block has 12 direct pointers and one each to a single, a double and a triple
/// indirect block. Immutable.
public final class PointerShape {
  public static final int DIRECT = 12;
  public static final int MAX_DEPTH = 3;

  /// Pointers have 32 bits.
  public static final long MAX_BLOCKS = 1L << 32;

  private static final long MAX_LOGICAL_BLOCKS = 1L << 32;
  private static final int SECTOR_BYTES = 512;

  private final int blockSizeBytes;
  private final int pointersPerBlock;

  /// By depth: the first logical block that has so many indirect blocks on its way; then the first
  /// that has no place at all.
  private final long[] first = new long[MAX_DEPTH + 2];

  public PointerShape(int blockSizeBytes) {
    this.blockSizeBytes = blockSizeBytes;
    this.pointersPerBlock = blockSizeBytes / 4;
    first[1] = DIRECT;
    for (int depth = 1; depth <= MAX_DEPTH; depth++) {
      first[depth + 1] = first[depth] + power(depth);
    }
    // Logical block numbers have 32 bits, and the last one is not used.
    first[MAX_DEPTH + 1] = Math.min(first[MAX_DEPTH + 1], MAX_LOGICAL_BLOCKS - 1);
  }

  public int pointersPerBlock() {
    return pointersPerBlock;
  }

  /// How many logical blocks a pointer stands for that has `depth` indirect blocks below it.
  public long power(int depth) {
    long power = 1;
    for (int i = 0; i < depth; i++) {
      power *= pointersPerBlock;
    }
    return power;
  }

  /// How many indirect blocks are on the way to a logical block below [#limit].
  public int depth(long logical) {
    int depth = 0;
    while (logical >= first[depth + 1]) {
      depth++;
    }
    return depth;
  }

  public long firstOfDepth(int depth) {
    return first[depth];
  }

  /// The first logical block that no file can have.
  public long limit() {
    return first[MAX_DEPTH + 1];
  }

  /// The size of the largest file: so that each block has a pointer and, with 32 bits of i_blocks
  /// (no huge_file), all its blocks fit into that, with the indirect ones of a file that leaves no
  /// room for them.
  public long maxSizeBytes(boolean hugeFile) {
    long most = hugeFile ? Long.MAX_VALUE : 0xffff_ffffL / (blockSizeBytes / SECTOR_BYTES);
    long blocks = limit();
    if (blocks + indirectBlocks(blocks) > most) {
      blocks = most - indirectBlocks(most);
    }
    return blocks * blockSizeBytes;
  }

  /// The indirect blocks of a file of `count` blocks without holes.
  public long indirectBlocks(long count) {
    long blocks = 0;
    for (int depth = 1; depth <= MAX_DEPTH; depth++) {
      long mapped = Math.clamp(count - first[depth], 0, first[depth + 1] - first[depth]);
      for (int below = 1; below <= depth; below++) {
        blocks += (mapped + power(below) - 1) / power(below);
      }
    }
    return blocks;
  }
}
