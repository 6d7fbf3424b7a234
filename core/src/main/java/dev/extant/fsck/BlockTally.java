package dev.extant.fsck;

/// Claims the blocks of one inode and counts them, while its map is walked.
///
/// With bigalloc, neighbouring blocks of one cluster count once if they are neighbours in the file
/// too.
final class BlockTally implements FileBlocks.Visitor {
  private static final int MAX_PROBLEMS = 12;

  private final CheckContext context;
  private final ScannedInode inode;
  private final int clusterMask;
  private long clusters;
  private long lastLogical = -1;
  private long lastWritten = -1;
  private long previousCluster = -1;
  private long previousLogicalCluster = -1;
  private int problems;

  BlockTally(CheckContext context, ScannedInode inode) {
    this.context = context;
    this.inode = inode;
    this.clusterMask = context.layout().clusterBlocks() - 1;
  }

  /// Blocks that the inode takes, in whole clusters.
  long blocks() {
    return clusters << context.layout().clusterShift();
  }

  /// The last logical block that is mapped; -1 for none.
  long lastLogical() {
    return lastLogical;
  }

  /// The last one with content; -1 for none.
  long lastWritten() {
    return lastWritten;
  }

  int problems() {
    return problems;
  }

  @Override
  public void data(long logical, long blockNr, long count, boolean unwritten) {
    lastLogical = Math.max(lastLogical, logical + count - 1);
    if (unwritten) {
      if (inode.directory()) {
        problem(Problem.DIRECTORY_UNWRITTEN, blockNr, "logical block " + logical);
      }
    } else {
      lastWritten = Math.max(lastWritten, logical + count - 1);
    }
    if (clusterMask == 0) {
      clusters += count;
      context.claims().claim(blockNr, count);
    } else {
      claimClusters(logical, blockNr, count);
    }
  }

  private void claimClusters(long logical, long blockNr, long count) {
    FsLayout layout = context.layout();
    if ((logical & clusterMask) != (blockNr - layout.firstDataBlock() & clusterMask)) {
      problem(Problem.CLUSTER_ALIGNMENT, blockNr, "logical block " + logical);
    }
    long from = layout.clusterOf(blockNr);
    long limit = layout.clusterOf(blockNr + count - 1) + 1;
    if (from == previousCluster && logical >>> layout.clusterShift() == previousLogicalCluster) {
      from++;
    }
    clusters += limit - from;
    context.claims().claimClusters(from, limit);
    previousCluster = limit - 1;
    previousLogicalCluster = logical + count - 1 >>> layout.clusterShift();
  }

  @Override
  public void map(long blockNr) {
    clusters++;
    context.claims().claim(blockNr, 1);
    if (context.metadata().claimed(blockNr)) {
      problem(Problem.METADATA_COLLISION, blockNr, "");
    }
  }

  @Override
  public boolean follow(long blockNr) {
    return !context.metadata().claimed(blockNr);
  }

  @Override
  public void problem(Problem problem, long blockNr, String detail) {
    problems++;
    if (problems <= MAX_PROBLEMS) {
      context.report(problem, inode.ino(), blockNr, detail);
    }
    if (problems == MAX_PROBLEMS) {
      context.report(Problem.TOO_MANY_ILLEGAL_BLOCKS, inode.ino(), 0, "");
    }
  }
}
