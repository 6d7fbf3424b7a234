package dev.extant.mkfs;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.GroupLayout;
import dev.extant.ext4.format.MmpBlock;
import dev.extant.ext4.format.OrphanBlock;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.format.JournalSuperblock;
import dev.extant.util.Le;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.BiFunction;

/// The inodes that every new file system has, with their blocks: the root directory, lost+found,
/// the resize inode, the journal, the orphan file, and the reserved ones that hold nothing.
final class SystemFiles {
  private static final int BAD_BLOCKS_INO = 1;
  private static final int LOST_AND_FOUND_INO = 11;
  private static final int ORPHAN_FILE_INO = 12;
  private static final int LOST_AND_FOUND_BYTES = 16 << 10;

  /// lost+found has no more blocks than an ext2 inode names directly.
  private static final int LOST_AND_FOUND_BLOCKS = 12;

  private static final int MIN_ORPHAN_FILE_BLOCKS = 32;
  private static final int MAX_ORPHAN_FILE_BLOCKS = 512;
  private static final int DIRECT_BLOCKS = 12;
  private static final int I_BLOCK_DOUBLE_INDIRECT = RawInode.I_BLOCK + 4 * 13;

  private final Plan plan;
  private final Geometry geometry;
  private final int blockSizeBytes;
  private final MemorySegment superblock;
  private final Checksums checksums;
  private final UsedBlocks used;
  private final BlockWriter writer;
  private final TreeMap<Integer, MemorySegment> inodes = new TreeMap<>();

  SystemFiles(Plan plan, UsedBlocks used, BlockWriter writer) {
    this.plan = plan;
    this.geometry = plan.geometry();
    this.blockSizeBytes = geometry.blockSizeBytes();
    this.superblock = plan.superblock();
    this.checksums = new Checksums(superblock);
    this.used = used;
    this.writer = writer;
  }

  /// How many blocks they take at least, before any is taken; a long journal may need a few more
  /// for its extent tree.
  long blocksNeeded() {
    long needed =
        wholeClusters(1) + wholeClusters(lostAndFoundBlocks()) + withMap(plan.journalBlocks());
    if (plan.features().has(Feature.RESIZE_INODE)) {
      needed++;
    }
    if (plan.features().has(Feature.ORPHAN_FILE)) {
      needed += withMap(orphanFileBlocks());
    }
    if (plan.features().has(Feature.MMP)) {
      needed += wholeClusters(1);
    }
    return needed;
  }

  private long withMap(long count) {
    return plan.features().has(Feature.EXTENT)
        ? wholeClusters(count)
        : count + PointerMap.indirectBlocks(count, blockSizeBytes);
  }

  private int lostAndFoundBlocks() {
    return Math.clamp(LOST_AND_FOUND_BYTES / blockSizeBytes, 2, LOST_AND_FOUND_BLOCKS);
  }

  private int orphanFileBlocks() {
    return Math.clamp(
        geometry.blocksCount() / 4096, MIN_ORPHAN_FILE_BLOCKS, MAX_ORPHAN_FILE_BLOCKS);
  }

  /// Makes all of them: takes and writes their blocks, and notes in the superblock where they are.
  /// The inodes are sealed.
  TreeMap<Integer, MemorySegment> make() throws IOException {
    for (int ino = 1; ino < Superblock.GOOD_OLD_FIRST_INO; ino++) {
      inodes.put(ino, NewInode.empty(superblock));
    }
    RawInode.accessed(inodes.get(BAD_BLOCKS_INO), Superblock.mkfsTime(superblock));
    RawInode.changed(inodes.get(BAD_BLOCKS_INO), Superblock.mkfsTime(superblock));
    RawInode.modified(inodes.get(BAD_BLOCKS_INO), Superblock.mkfsTime(superblock));
    makeRoot();
    makeLostAndFound();
    if (plan.features().has(Feature.RESIZE_INODE)) {
      makeResizeInode();
    }
    if (plan.features().has(Feature.ORPHAN_FILE)) {
      makeOrphanFile();
    }
    if (plan.features().has(Feature.MMP)) {
      makeMmpBlock();
    }
    if (plan.journalBlocks() > 0) {
      makeJournal();
    }
    inodes.forEach((ino, inode) -> checksums.sealInode(inode, ino));
    return inodes;
  }

  private MemorySegment newInode(int ino, FileType type, int permissions, int links) {
    MemorySegment inode = NewInode.of(superblock, type.modeBits() | permissions, links);
    inodes.put(ino, inode);
    return inode;
  }

  private void makeRoot() throws IOException {
    MemorySegment inode = newInode(Superblock.ROOT_INO, FileType.DIRECTORY, 0755, 3);
    RawInode.uid(inode, plan.options().rootUid());
    RawInode.gid(inode, plan.options().rootGid());
    NewDirectory entries =
        new NewDirectory(blockSizeBytes, plan.features())
            .add(".", Superblock.ROOT_INO)
            .add("..", Superblock.ROOT_INO)
            .add("lost+found", LOST_AND_FOUND_INO);
    int seed = checksums.inodeSeed(Superblock.ROOT_INO, 0);
    List<UsedBlocks.Run> runs = allocate(Superblock.ROOT_INO, inode, 0, 1);
    writeEach(runs, (index, blockNr) -> entries.seal(checksums, seed));
  }

  private void makeLostAndFound() throws IOException {
    MemorySegment inode = newInode(LOST_AND_FOUND_INO, FileType.DIRECTORY, 0700, 2);
    int seed = checksums.inodeSeed(LOST_AND_FOUND_INO, 0);
    List<UsedBlocks.Run> runs = allocate(LOST_AND_FOUND_INO, inode, 0, lostAndFoundBlocks());
    writeEach(
        runs,
        (index, blockNr) -> {
          NewDirectory block = new NewDirectory(blockSizeBytes, plan.features());
          if (index == 0) {
            block.add(".", LOST_AND_FOUND_INO).add("..", Superblock.ROOT_INO);
          }
          return block.seal(checksums, seed);
        });
  }

  private void makeOrphanFile() throws IOException {
    MemorySegment inode = newInode(ORPHAN_FILE_INO, FileType.REGULAR, 0600, 1);
    int seed = checksums.inodeSeed(ORPHAN_FILE_INO, 0);
    List<UsedBlocks.Run> runs = allocate(ORPHAN_FILE_INO, inode, 0, orphanFileBlocks());
    writeEach(
        runs,
        (index, blockNr) -> {
          MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
          Le.put32(block, 4L * OrphanBlock.slots(blockSizeBytes), OrphanBlock.MAGIC);
          checksums.sealOrphanBlock(block, blockNr, seed);
          return block;
        });
    Superblock.orphanFileInode(superblock, ORPHAN_FILE_INO);
  }

  private void makeMmpBlock() throws IOException {
    MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
    MmpBlock.initialise(block, Superblock.mmpUpdateInterval(superblock));
    MmpBlock.time(block, Superblock.mkfsTime(superblock));
    checksums.sealMmpBlock(block);
    long blockNr = allocate(0, 1).getFirst().blockNr();
    writer.write(blockNr, block);
    Superblock.mmpBlock(superblock, blockNr);
  }

  /// In the middle, so that the way to it is short from everywhere.
  private void makeJournal() throws IOException {
    MemorySegment inode = newInode(Superblock.JOURNAL_INO, FileType.REGULAR, 0600, 1);
    int middle = geometry.groupOfBlock(geometry.firstDataBlock() + geometry.blocksCount() / 2);
    long goal = geometry.firstBlockOfGroup(Math.min(middle, geometry.groupCount() - 1));
    List<UsedBlocks.Run> runs = allocate(Superblock.JOURNAL_INO, inode, goal, plan.journalBlocks());
    for (UsedBlocks.Run run : runs) {
      writer.clear(run.blockNr(), run.count());
    }
    writer.write(runs.getFirst().blockNr(), journalSuperblock());
    Superblock.journalInode(superblock, Superblock.JOURNAL_INO);
    Superblock.backUpJournal(superblock, inode);
  }

  private MemorySegment journalSuperblock() {
    MemorySegment block = MemorySegment.ofArray(new byte[blockSizeBytes]);
    byte[] uuid = superblock.asSlice(0x68, 16).toArray(ValueLayout.JAVA_BYTE);
    JournalSuperblock.initialise(block, blockSizeBytes, plan.journalBlocks(), uuid, 0);
    return block;
  }

  /// The resize inode maps, through its double-indirect block, each block reserved for descriptors
  /// as an indirect block, and in it the same block's backups in the other groups. Its place in the
  /// double-indirect block is its index in the descriptor table, modulo the places.
  private void makeResizeInode() throws IOException {
    MemorySegment inode = newInode(Superblock.RESIZE_INO, FileType.REGULAR, 0600, 1);
    int reserved = Superblock.reservedGdtBlocks(superblock);
    int perBlock = blockSizeBytes / 4;
    long doubleIndirect = allocate(0, 1).getFirst().blockNr();
    MemorySegment top = MemorySegment.ofArray(new byte[blockSizeBytes]);
    List<Long> backups = backupOffsets();
    int inTable = GroupLayout.descriptorBlocks(geometry);
    for (int i = 0; i < reserved; i++) {
      long blockNr = geometry.firstDataBlock() + 1 + inTable + i;
      Le.put32(top, 4L * ((inTable + i) % perBlock), blockNr);
      MemorySegment indirect = MemorySegment.ofArray(new byte[blockSizeBytes]);
      for (int k = 0; k < backups.size(); k++) {
        Le.put32(indirect, 4L * k, blockNr + backups.get(k));
      }
      writer.write(blockNr, indirect);
    }
    writer.write(doubleIndirect, top);
    Le.put32(inode, I_BLOCK_DOUBLE_INDIRECT, doubleIndirect);
    long mapped = DIRECT_BLOCKS + perBlock + (long) perBlock * perBlock;
    RawInode.size(inode, mapped * blockSizeBytes);
    NewInode.blocks(inode, 1 + (long) reserved * (1 + backups.size()), blockSizeBytes);
  }

  /// How far behind the primary copies the backups lie.
  private List<Long> backupOffsets() {
    List<Long> offsets = new ArrayList<>();
    for (int group = 1; group < geometry.groupCount(); group++) {
      if (plan.layout().hasSuperblock(group)) {
        offsets.add((long) group * geometry.blocksPerGroup());
      }
    }
    return offsets;
  }

  /// Takes blocks for a file and stores its size and where they are. The file's own blocks lie
  /// together; those of its block map come behind them.
  private List<UsedBlocks.Run> allocate(int ino, MemorySegment inode, long goal, long count)
      throws IOException {
    List<UsedBlocks.Run> runs = allocate(goal, count);
    FileMap map =
        plan.features().has(Feature.EXTENT)
            ? new ExtentMap(runs, blockSizeBytes, checksums, checksums.inodeSeed(ino, 0))
            : new PointerMap(runs, blockSizeBytes);
    int needed = map.blocksNeeded();
    if (needed < 0) {
      throw Mkfs.failure(Errno.ENOSPC, writer.deviceName(), "its journal would be in pieces");
    }
    List<Long> mapBlocks = new ArrayList<>();
    for (int i = 0; i < needed; i++) {
      mapBlocks.add(allocate(runs.getLast().end(), 1).getFirst().blockNr());
    }
    for (MapBlock block : map.store(inode, mapBlocks)) {
      writer.write(block.blockNr(), block.block());
    }
    RawInode.size(inode, count * blockSizeBytes);
    long whole = wholeClusters(count) + needed * (long) geometry.blocksPerCluster();
    NewInode.blocks(inode, whole, blockSizeBytes);
    return runs;
  }

  private long wholeClusters(long blocks) {
    long perCluster = geometry.blocksPerCluster();
    return (blocks + perCluster - 1) / perCluster * perCluster;
  }

  private List<UsedBlocks.Run> allocate(long goal, long count) throws FsException {
    List<UsedBlocks.Run> runs = used.takeAny(goal, count);
    if (runs == null) {
      throw Mkfs.failure(
          Errno.ENOSPC,
          writer.deviceName(),
          geometry.blocksCount() + " blocks are too few for its own files");
    }
    return runs;
  }

  /// Writes each block of a file, given its index in the file and its block number.
  private void writeEach(
      List<UsedBlocks.Run> runs, BiFunction<Integer, Long, MemorySegment> content)
      throws IOException {
    int index = 0;
    for (UsedBlocks.Run run : runs) {
      for (long blockNr = run.blockNr(); blockNr < run.end(); blockNr++) {
        writer.write(blockNr, content.apply(index++, blockNr));
      }
    }
  }
}
