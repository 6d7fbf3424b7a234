package dev.extant.ext4;

import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.format.JournalSuperblock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Moves the journal in front of a block, such that at any moment there is one journal that
/// everybody finds, and each block has one owner.
///
/// 1. In a mount, the journal's file becomes longer behind the log's end: by room for the log in
///    its new place, and for the blocks of a second block map ([#lengthen]).
/// 2. Unmounted, with the log empty, the new place becomes an empty log, the second map is written,
///    in which the new place comes first and what the first map uses is the end of the file; then
///    one sector, that of the inode, makes it the file's map ([#change]).
/// 3. In a mount, which logs to the new place, the file is cut off behind the log ([#shorten]).
///
/// A file that is longer than its log is what a power cut leaves, and what everybody accepts.
final class JournalMove {
  private static final int CREDITS = 64;
  private static final int SECTOR_BYTES = 512;
  private static final long ZERO_BYTES = 1L << 20;

  private final Mount mount;
  private final Geometry geometry;
  private final Inode inode;
  private final long length;
  private final int clusterBlocks;

  /// How long the file is by the second map that was built last, in blocks.
  private long secondLength;

  /// What step 2 writes.
  private record Plan(
      List<BlockMap.Run> newPlace,
      long oldFirst,
      BuiltMap map,
      long inodeOffset,
      MemorySegment inode) {}

  private JournalMove(Mount mount, Inode inode) throws IOException {
    this.mount = mount;
    this.geometry = mount.geometry;
    this.inode = inode;
    this.clusterBlocks = geometry.blocksPerCluster();
    MemorySegment log = MemorySegment.ofArray(new byte[geometry.blockSizeBytes()]);
    mount.queue.read(mount.map.lookup(inode, 0, 1).blockNr() << geometry.blockShift(), log);
    long used = JournalSuperblock.lengthBlocks(log);
    this.length = Math.min((used + clusterBlocks - 1) & -(long) clusterBlocks, end());
  }

  private long end() {
    return RawInode.size(inode.raw) >>> geometry.blockShift();
  }

  interface Work<T> {
    T run(JournalMove move) throws IOException;
  }

  /// Runs `work` on the journal of a mount.
  static <T> T in(Mount mount, Work<T> work) throws IOException {
    try (Inode inode = mount.inodes.get(Superblock.journalInode(mount.superblock.bytes()))) {
      return work.run(new JournalMove(mount, inode));
    }
  }

  /// Step 1, if something of the journal lies at or behind `limit`; null otherwise. ENOSPC if there
  /// is no room.
  Step prepare(long limit) throws IOException {
    shorten();
    boolean outside = false;
    for (BlockMap.Run run : runs(0, length)) {
      outside |= run.blockNr() + run.count() > limit;
    }
    for (long node : mount.map.relocation(inode).nodes(inode)) {
      outside |= node >= limit;
    }
    if (!outside) {
      return null;
    }
    mount.blocks.limit(Math.min(limit, frontmost()));
    Plan plan = lengthen();
    return edit -> change(edit, plan);
  }

  /// The end of the first groups that have room for another journal and its map: so that it is not
  /// moved again when the file system becomes still smaller.
  private long frontmost() throws IOException {
    long wanted = geometry.clusters((int) length) + MinimumSize.SPARE_CLUSTERS;
    wanted += wanted / (geometry.blockSizeBytes() / 12);
    int group = 0;
    while (group < geometry.groupCount() && wanted > 0) {
      wanted -= mount.groups.freeClusters(group++);
    }
    return geometry.firstBlockOfGroup(group);
  }

  /// Step 2.
  interface Step {
    void run(OfflineEdit edit) throws IOException;
  }

  private List<BlockMap.Run> runs(long from, long end) throws IOException {
    List<BlockMap.Run> runs = new ArrayList<>();
    for (long logical = from; logical < end; ) {
      BlockMap.Run run = mount.map.lookup(inode, logical, (int) (end - logical));
      runs.add(run);
      logical += run.count();
    }
    return runs;
  }

  private Plan lengthen() throws IOException {
    extendTo(2 * length);
    int poolClusters = 1;
    while (true) {
      extendTo(2 * length + (long) poolClusters * clusterBlocks);
      BuiltMap map = secondMap();
      if (map.needed() <= poolClusters) {
        return plan(map);
      }
      poolClusters = map.needed();
    }
  }

  private void extendTo(long end) throws IOException {
    while (end() < end) {
      long at = end();
      int count = (int) Math.min(end - at, geometry.blocksPerGroup());
      int credits = Math.max(mount.map.allocateCredits(inode, count), CREDITS);
      try (Handle handle = mount.start(Math.min(credits, mount.journal.maxCredits()))) {
        BlockMap.Run run = mount.map.allocate(handle, inode, at, count).run();
        RawInode.size(inode.raw, at + run.count() << geometry.blockShift());
        mount.inodes.update(handle, inode, true);
      }
    }
  }

  /// New place, old place, the blocks of the map of now, and what the new map leaves of the pool.
  private BuiltMap secondMap() throws IOException {
    List<Long> pool = clusterStarts(runs(2 * length, end()));
    BuiltMap map = build(pool, 0);
    return map.needed() > pool.size() ? map : build(pool, map.needed());
  }

  private BuiltMap build(List<Long> pool, int reserved) throws IOException {
    List<BlockMap.Run> runs = new ArrayList<>();
    long at = append(runs, 0, runs(length, 2 * length));
    at = append(runs, at, runs(0, length));
    Set<Long> nodes = mount.map.relocation(inode).nodes(inode);
    List<Long> rest = new ArrayList<>(nodes.stream().map(this::startOfCluster).toList());
    rest.addAll(pool.subList(Math.min(reserved, pool.size()), pool.size()));
    for (long blockNr : rest) {
      at = append(runs, at, List.of(new BlockMap.Run(0, blockNr, clusterBlocks, false)));
    }
    secondLength = at;
    int blockSizeBytes = geometry.blockSizeBytes();
    if (!inode.hasFlag(RawInode.EXT4_EXTENTS_FL)) {
      return BuiltMap.ofPointers(blockSizeBytes, runs, pool);
    }
    int seed = mount.checksums.inodeSeed(inode.ino(), RawInode.generation(inode.raw));
    return BuiltMap.ofExtents(blockSizeBytes, runs, pool, mount.checksums, seed);
  }

  private static long append(List<BlockMap.Run> runs, long at, List<BlockMap.Run> more) {
    long logical = at;
    for (BlockMap.Run run : more) {
      runs.add(new BlockMap.Run(logical, run.blockNr(), run.count(), false));
      logical += run.count();
    }
    return logical;
  }

  private List<Long> clusterStarts(List<BlockMap.Run> runs) {
    List<Long> starts = new ArrayList<>();
    for (BlockMap.Run run : runs) {
      for (int i = 0; i < run.count(); i += clusterBlocks) {
        starts.add(run.blockNr() + i);
      }
    }
    return starts;
  }

  private long startOfCluster(long blockNr) {
    return blockNr - (blockNr - geometry.firstDataBlock()) % clusterBlocks;
  }

  private Plan plan(BuiltMap map) throws IOException {
    MemorySegment raw = MemorySegment.ofArray(new byte[geometry.inodeSizeBytes()]);
    raw.copyFrom(inode.raw);
    raw.asSlice(RawInode.I_BLOCK, RawInode.I_BLOCK_SIZE).copyFrom(map.root);
    RawInode.size(raw, secondLength << geometry.blockShift());
    mount.checksums.sealInode(raw, inode.ino());
    long table = mount.groups.inodeTable(geometry.groupOfInode(inode.ino()));
    long index = geometry.inodeIndexInGroup(inode.ino());
    long offset = (table << geometry.blockShift()) + index * geometry.inodeSizeBytes();
    long oldFirst = mount.map.lookup(inode, 0, 1).blockNr();
    return new Plan(runs(length, 2 * length), oldFirst, map, offset, raw);
  }

  private static void change(OfflineEdit edit, Plan plan) throws IOException {
    int blockSizeBytes = edit.buffers.blockSizeBytes();
    for (BlockMap.Run run : plan.newPlace) {
      long from = run.blockNr() * blockSizeBytes;
      long bytes = (long) run.count() * blockSizeBytes;
      for (long done = 0; done < bytes; done += ZERO_BYTES) {
        edit.queue.writeZeroes(from + done, Math.min(ZERO_BYTES, bytes - done));
      }
    }
    MemorySegment log = MemorySegment.ofArray(new byte[blockSizeBytes]);
    edit.queue.read(plan.oldFirst * blockSizeBytes, log);
    edit.queue.write(plan.newPlace.getFirst().blockNr() * blockSizeBytes, List.of(log), false);
    for (var node : plan.map.nodes.entrySet()) {
      edit.queue.write(node.getKey() * blockSizeBytes, List.of(node.getValue()), false);
    }
    edit.queue.flush();
    // All that changes of the inode lies in its first 132 bytes, and so in one sector.
    long at = plan.inodeOffset & -(long) SECTOR_BYTES;
    MemorySegment sector = MemorySegment.ofArray(new byte[SECTOR_BYTES]);
    edit.queue.read(at, sector);
    long inSector = plan.inodeOffset - at;
    long count = Math.min(plan.inode.byteSize(), SECTOR_BYTES - inSector);
    MemorySegment.copy(plan.inode, 0, sector, inSector, count);
    edit.queue.write(at, List.of(sector), true);
    edit.queue.flush();
  }

  /// Step 3: the file ends where the log ends.
  void shorten() throws IOException {
    boolean shorter = end() > length;
    while (end() > length) {
      long target = Math.max(length, end() - geometry.blocksPerGroup() / 2);
      try (Handle handle = mount.start(Math.min(CREDITS, mount.journal.maxCredits()))) {
        boolean done = mount.map.truncate(handle, inode, target, false);
        long end = done ? target : lastMapped(target);
        RawInode.size(inode.raw, end << geometry.blockShift());
        mount.inodes.update(handle, inode, true);
      }
    }
    if (shorter) {
      try (Handle handle = mount.start(Credits.SUPERBLOCK)) {
        mount.superblock.edit(handle, sb -> Superblock.backUpJournal(sb, inode.raw));
      }
    }
  }

  /// Behind the last block that the file has, from `from` on.
  private long lastMapped(long from) throws IOException {
    long end = from;
    for (BlockMap.Run run : runs(from, end())) {
      end = run.hole() ? end : run.logical() + run.count();
    }
    return end;
  }
}
