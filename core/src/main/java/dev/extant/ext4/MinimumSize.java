package dev.extant.ext4;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.util.Bits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// How small a mounted file system can become: an estimate that errs on the large side, since moved
/// files may need more blocks for their block maps.
///
/// While things move, the file system's own blocks stay where they are, also those of groups that
/// are given up afterwards. So it takes steps, each of which leaves the next one less to keep.
final class MinimumSize {
  /// Besides what is in proportion to the data.
  static final int SPARE_CLUSTERS = 64;

  private final Mount mount;
  private final Geometry geometry;
  private final SystemZone zone;
  private final long dataClusters;
  private final List<BlockMap.Run> journal;
  private final int leastGroups;

  /// An earlier step moved the journal, and nobody knows where it is.
  private boolean journalMoved;

  MinimumSize(Mount mount) throws IOException {
    this.mount = mount;
    this.geometry = mount.geometry;
    this.zone = new SystemZone(mount.groups);
    long data = dataClusters();
    int entriesPerNode = geometry.blockSizeBytes() / 12 - 1;
    this.dataClusters = data + SPARE_CLUSTERS + data / entriesPerNode;
    this.journal = journalRuns();
    this.leastGroups = leastGroups();
  }

  /// The least number of blocks.
  long blocks() throws IOException {
    long blocks = geometry.blocksCount();
    int groups = geometry.groupCount();
    while (true) {
      long next = step(groups);
      if (next >= blocks) {
        return blocks;
      }
      blocks = next;
      groups = geometry.groupOfBlock(blocks - 1) + 1;
      journalMoved |= journalEnd() > blocks;
    }
  }

  /// The least number of blocks that can be reached in one step.
  long nextStep() throws IOException {
    return step(geometry.groupCount());
  }

  /// The same from so many groups.
  private long step(int groups) throws IOException {
    long blocks = Math.max(geometry.firstDataBlock() + 1, mmpEnd());
    while (blocks < geometry.blocksCount()) {
      long needed = Math.max(blocksWithJournal(blocks, groups), blocksForGroups(blocks));
      if (needed <= blocks) {
        return blocks;
      }
      blocks = needed;
    }
    return geometry.blocksCount();
  }

  /// What has to lie in front of an end at `blocks`, as a number of blocks. If the journal lies
  /// behind the end, with room for a second one, since it is copied before the old one is given up.
  private long blocksWithJournal(long blocks, int groups) throws IOException {
    long clusters = dataClusters;
    for (int group = 0; group < groups; group++) {
      clusters += systemClusters(group, blocks);
    }
    long needed = geometry.firstDataBlock() + (clusters << geometry.logBlocksPerCluster());
    if (journalMoved) {
      return needed + journal.stream().mapToLong(BlockMap.Run::count).sum();
    }
    return journalEnd() <= blocks
        ? needed
        : needed
            + journal.stream()
                .mapToLong(run -> Math.clamp(blocks - run.blockNr(), 0, run.count()))
                .sum();
  }

  private long journalEnd() {
    return journal.stream().mapToLong(run -> run.blockNr() + run.count()).max().orElse(0);
  }

  /// What the group has in front of an end at `blocks`.
  private long systemClusters(int group, long blocks) throws IOException {
    long clusters = 0;
    if (geometry.firstBlockOfGroup(group) < blocks) {
      clusters += geometry.clusters(mount.groups.layout().frontBlocks(group));
    }
    clusters += mount.groups.blockBitmap(group) < blocks ? 1 : 0;
    clusters += mount.groups.inodeBitmap(group) < blocks ? 1 : 0;
    if (mount.groups.inodeTable(group) < blocks) {
      clusters += geometry.clusters(geometry.inodeTableBlocksPerGroup());
    }
    return clusters;
  }

  /// What the groups in front of an end at `blocks`, and those that inodes need, ask for.
  private long blocksForGroups(long blocks) throws IOException {
    int kept = Math.max(leastGroups, geometry.groupOfBlock(blocks - 1) + 1);
    long needed = 0;
    for (int group = 0; group < kept; group++) {
      needed = Math.max(needed, SizePlan.endOfMetadata(mount.groups, group));
    }
    int last = kept - 1;
    int front = mount.groups.layout().frontBlocks(last) + 2 + geometry.inodeTableBlocksPerGroup();
    long least = geometry.firstBlockOfGroup(last) + front + SizePlan.MIN_DATA_BLOCKS;
    return Math.max(needed, least);
  }

  private long dataClusters() throws IOException {
    long clusters = 0;
    for (int group = 0; group < geometry.groupCount(); group++) {
      int used = geometry.clustersInGroup(group) - mount.groups.freeClusters(group);
      clusters += used - systemClusters(group);
    }
    return clusters;
  }

  /// How many clusters of the group the file system itself uses.
  private int systemClusters(int group) throws IOException {
    MemorySegment bits = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    zone.mark(bits, group);
    return Bits.countSet(bits, 0, geometry.clustersInGroup(group));
  }

  private long mmpEnd() {
    return mount.features.has(Feature.MMP) ? Superblock.mmpBlock(mount.superblock.bytes()) + 1 : 0;
  }

  /// The least number of groups that have room for all inodes.
  private int leastGroups() throws IOException {
    for (int group = geometry.groupCount() - 1; group > 0; group--) {
      if (mount.groups.freeInodes(group) < geometry.inodesPerGroup()) {
        return group + 1;
      }
    }
    return 1;
  }

  private List<BlockMap.Run> journalRuns() throws IOException {
    List<BlockMap.Run> runs = new ArrayList<>();
    if (!mount.features.has(Feature.HAS_JOURNAL)) {
      return runs;
    }
    try (Inode inode = mount.inodes.get(Superblock.journalInode(mount.superblock.bytes()))) {
      long length = RawInode.size(inode.raw) >>> geometry.blockShift();
      for (long logical = 0; logical < length; ) {
        BlockMap.Run run = mount.map.lookup(inode, logical, (int) (length - logical));
        runs.add(run);
        logical += run.count();
      }
    }
    return runs;
  }
}
