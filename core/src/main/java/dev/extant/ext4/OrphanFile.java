package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Geometry;
import dev.extant.ext4.format.OrphanBlock;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Sealer;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The blocks of the orphan file: slots for inode numbers, in any order (Linux documentation,
/// "Orphan file").
///
/// The feature ORPHAN_PRESENT is set together with the first entry, so that only then a mount or
/// e2fsck looks into the file. All methods run under the lock of [OrphanList].
final class OrphanFile implements AutoCloseable {
  /// More than mke2fs ever makes.
  private static final int MAX_BLOCKS = 1 << 16;

  private static final int UNKNOWN = -1;

  private final SuperblockStore superblock;
  private final BufferCache buffers;
  private final BlockMap blockMap;
  private final Geometry geometry;
  private final Checksums checksums;
  private final Inode inode;
  private final int slotsPerBlock;

  /// By logical block: where it is (0: not looked up yet) and how many of its slots are empty.
  private final long[] blockNrs;

  private final int[] emptySlots;

  /// The slot of each inode number in the file.
  private final Map<Long, Integer> slots = new HashMap<>();

  /// `inode` is the orphan file's own, retained, and closed with this.
  OrphanFile(
      SuperblockStore superblock,
      BufferCache buffers,
      BlockMap blockMap,
      Geometry geometry,
      Checksums checksums,
      Inode inode)
      throws FsException {
    this.superblock = superblock;
    this.buffers = buffers;
    this.blockMap = blockMap;
    this.geometry = geometry;
    this.checksums = checksums;
    this.inode = inode;
    this.slotsPerBlock = OrphanBlock.slots(geometry.blockSizeBytes());
    long blocks = RawInode.size(inode.raw) >>> geometry.blockShift();
    if (blocks < 1 || blocks > MAX_BLOCKS) {
      throw corrupt("it has " + blocks + " blocks");
    }
    this.blockNrs = new long[(int) blocks];
    this.emptySlots = new int[(int) blocks];
    Arrays.fill(emptySlots, UNKNOWN);
  }

  private FsException corrupt(String why) {
    return new FsException(
        Errno.EUCLEAN, "the orphan file (inode " + inode.ino() + ") is corrupt: " + why);
  }

  /// Enters the inode number. False if the file is full. Needs 2 credits.
  boolean add(Handle handle, long ino) throws IOException {
    int first = (int) (ino % blockNrs.length);
    for (int i = 0; i < blockNrs.length; i++) {
      int block = (first + i) % blockNrs.length;
      if (emptySlots[block] != 0) {
        try (Buffer buffer = open(block)) {
          if (emptySlots[block] > 0) {
            enter(handle, buffer, block, ino);
            return true;
          }
        }
      }
    }
    return false;
  }

  private void enter(Handle handle, Buffer buffer, int block, long ino) throws IOException {
    MemorySegment data = buffer.data();
    int slot = 0;
    while (OrphanBlock.inode(data, slot) != 0) {
      slot++;
    }
    handle.writeAccess(buffer);
    OrphanBlock.inode(data, slot, ino);
    handle.dirty(buffer, sealer());
    emptySlots[block]--;
    slots.put(ino, block * slotsPerBlock + slot);
    mark(handle, true);
  }

  /// Clears the slot of an inode number that is in the file. Needs 1 credit.
  void remove(Handle handle, long ino) throws IOException {
    Integer slot = slots.get(ino);
    if (slot == null) {
      throw new IllegalStateException("inode " + ino + " is not in the orphan file");
    }
    int block = slot / slotsPerBlock;
    try (Buffer buffer = open(block)) {
      handle.writeAccess(buffer);
      OrphanBlock.inode(buffer.data(), slot % slotsPerBlock, 0);
      handle.dirty(buffer, sealer());
    }
    emptySlots[block]++;
    slots.remove(ino);
  }

  /// The inode numbers in the file at mount.
  List<Long> load() throws IOException {
    List<Long> numbers = new ArrayList<>();
    if (!marked()) {
      return numbers;
    }
    for (int block = 0; block < blockNrs.length; block++) {
      try (Buffer buffer = open(block)) {
        for (int slot = 0; slot < slotsPerBlock; slot++) {
          long ino = OrphanBlock.inode(buffer.data(), slot);
          if (ino != 0) {
            if (ino < geometry.firstInode() || ino > geometry.inodesCount()) {
              throw corrupt("it names the impossible inode " + ino);
            }
            if (slots.put(ino, block * slotsPerBlock + slot) != null) {
              throw corrupt("it names inode " + ino + " twice");
            }
            numbers.add(ino);
          }
        }
      }
    }
    return numbers;
  }

  /// Takes the mark back if no entry is left. Needs 1 credit.
  void settle(Handle handle) throws IOException {
    if (slots.isEmpty()) {
      mark(handle, false);
    }
  }

  private boolean marked() {
    return Superblock.features(superblock.bytes()).has(Feature.ORPHAN_PRESENT);
  }

  private void mark(Handle handle, boolean value) throws IOException {
    if (marked() != value) {
      superblock.edit(
          handle,
          bytes -> {
            var features = Superblock.features(bytes);
            Superblock.features(
                bytes,
                value
                    ? features.with(Feature.ORPHAN_PRESENT)
                    : features.without(Feature.ORPHAN_PRESENT));
          });
    }
  }

  /// The block, pinned, checked when it is read, its empty slots counted.
  private Buffer open(int block) throws IOException {
    if (blockNrs[block] == 0) {
      BlockMap.Run run = blockMap.lookup(inode, block, 1);
      if (run.hole() || run.unwritten() || !geometry.validDataBlock(run.blockNr())) {
        throw corrupt("its block " + block + " is missing");
      }
      blockNrs[block] = run.blockNr();
    }
    Buffer buffer = buffers.read(blockNrs[block]);
    try {
      if (!buffer.verified()) {
        check(buffer, block);
        buffer.verified(true);
      }
      if (emptySlots[block] == UNKNOWN) {
        int empty = 0;
        for (int slot = 0; slot < slotsPerBlock; slot++) {
          empty += OrphanBlock.inode(buffer.data(), slot) == 0 ? 1 : 0;
        }
        emptySlots[block] = empty;
      }
    } catch (IOException e) {
      buffer.close();
      throw e;
    }
    return buffer;
  }

  private void check(Buffer buffer, int block) throws FsException {
    if (OrphanBlock.magic(buffer.data()) != OrphanBlock.MAGIC) {
      throw corrupt("its block " + block + " has a wrong magic number");
    }
    if (!checksums.orphanBlockValid(buffer.data(), buffer.blockNr(), inodeSeed())) {
      throw corrupt("its block " + block + " has a wrong checksum");
    }
  }

  private int inodeSeed() {
    return checksums.inodeSeed(inode.ino(), RawInode.generation(inode.raw));
  }

  private Sealer sealer() {
    return new Sealer() {
      @Override
      public int rank() {
        return 0;
      }

      @Override
      public void seal(Buffer buffer) {
        checksums.sealOrphanBlock(buffer.data(), buffer.blockNr(), inodeSeed());
      }
    };
  }

  @Override
  public void close() {
    inode.close();
  }
}
