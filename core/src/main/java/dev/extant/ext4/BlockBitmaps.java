package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Geometry;
import dev.extant.util.Bits;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The block bitmaps of the groups, checked when they are read. All methods run under the group's
/// lock.
///
/// A bitmap that is wrong is reported once and its group is left alone from then on: nobody can
/// tell which blocks are free.
final class BlockBitmaps {
  private final BufferCache buffers;
  private final GroupTable table;
  private final SystemZone systemZone;
  private final Geometry geometry;
  private final Checksums checksums;
  private final CorruptionHandler corruption;

  BlockBitmaps(
      BufferCache buffers,
      GroupTable table,
      SystemZone systemZone,
      Checksums checksums,
      CorruptionHandler corruption) {
    this.buffers = buffers;
    this.table = table;
    this.systemZone = systemZone;
    this.geometry = table.geometry();
    this.checksums = checksums;
    this.corruption = corruption;
  }

  /// A group's bitmap; `buffer` is null as long as it was never written, `bits` is right in any
  /// case.
  record View(Buffer buffer, MemorySegment bits) implements AutoCloseable {
    boolean initialised() {
      return buffer != null;
    }

    @Override
    public void close() {
      if (buffer != null) {
        buffer.close();
      }
    }
  }

  /// EUCLEAN if the bitmap is wrong; the group is marked then.
  View open(BlockGroup group) throws IOException {
    if (group.blockBitmapDamaged) {
      throw new FsException(
          Errno.EUCLEAN, "the block bitmap of group " + group.number + " is corrupt");
    }
    if (table.blockBitmapUninitialised(group.number)) {
      return new View(null, initial(group));
    }
    Buffer buffer = buffers.read(table.blockBitmap(group.number));
    try {
      if (!buffer.verified()) {
        if (!checksums.blockBitmapValid(table.descriptor(group.number), buffer.data(), geometry)) {
          throw damage(group, "its checksum is wrong");
        }
        check(group, buffer.data());
        buffer.verified(true);
      }
    } catch (IOException e) {
      buffer.close();
      throw e;
    }
    return new View(buffer, buffer.data());
  }

  /// The bits that an uninitialised bitmap stands for: the file system's own blocks are in use, and
  /// what lies behind a short last group.
  private MemorySegment initial(BlockGroup group) throws IOException {
    MemorySegment bits = MemorySegment.ofArray(new long[geometry.blockSizeBytes() >>> 3]);
    int blocks = geometry.blocksInGroup(group.number);
    systemZone.mark(bits, group.number);
    Bits.setRange(bits, geometry.clusters(blocks), geometry.blockSizeBytes() * 8);
    check(group, bits);
    return bits;
  }

  private void check(BlockGroup group, MemorySegment bits) throws IOException {
    long first = geometry.firstBlockOfGroup(group.number);
    int blocks = geometry.blocksInGroup(group.number);
    boolean[] freeSystemBlock = new boolean[1];
    systemZone.forEachIn(
        first,
        blocks,
        (blockNr, count) -> {
          int from = (int) (blockNr - first);
          int limit = geometry.clusters(from + count);
          freeSystemBlock[0] |=
              Bits.nextClear(bits, from >>> geometry.logBlocksPerCluster(), limit) < limit;
        });
    if (freeSystemBlock[0]) {
      throw damage(group, "it shows blocks of the file system itself as free");
    }
    int clusters = geometry.clusters(blocks);
    int free = clusters - Bits.countSet(bits, 0, clusters);
    int expected = table.freeClusters(group.number);
    if (free != expected) {
      throw damage(group, "it has " + free + " free bits, the descriptor says " + expected);
    }
  }

  private FsException damage(BlockGroup group, String what) {
    group.blockBitmapDamaged = true;
    FsException damage =
        new FsException(
            Errno.EUCLEAN, "the block bitmap of group " + group.number + " is corrupt: " + what);
    corruption.corrupt(damage);
    return damage;
  }
}
