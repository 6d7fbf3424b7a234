package dev.extant.journal;

import dev.extant.journal.format.BlockTag;
import dev.extant.journal.format.CommitBlock;
import dev.extant.journal.format.DescriptorBlock;
import dev.extant.journal.format.LogFormat;
import dev.extant.journal.format.RevokeBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The blocks of the committing transaction as they will stand in the log, one after another:
/// revoke blocks, then descriptor blocks each followed by its copies, then the commit block. Off
/// heap, reused from commit to commit. Used by the commit thread alone.
final class LogImage implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 20;

  private final LogFormat format;
  private final LogSpace space;
  private final int blockSizeBytes;
  private final int blocksPerChunk;
  private final Arena arena = Arena.ofShared();
  private final List<MemorySegment> chunks = new ArrayList<>();
  private long[] revokes = new long[0];
  private long[] homes = new long[64];
  private int copies;

  LogImage(LogFormat format, LogSpace space) {
    this.format = format;
    this.space = space;
    this.blockSizeBytes = format.blockSizeBytes();
    this.blocksPerChunk = CHUNK_BYTES / blockSizeBytes;
  }

  /// Begins a new transaction, which revokes the given blocks.
  void begin(long[] revokedBlocks) {
    revokes = revokedBlocks;
    copies = 0;
  }

  /// Takes a copy of a block.
  void add(long blockNr, MemorySegment bytes) {
    if (copies == homes.length) {
      homes = Arrays.copyOf(homes, copies * 2);
    }
    homes[copies] = blockNr;
    block(indexOfCopy(copies)).copyFrom(bytes);
    copies++;
  }

  int blockCount() {
    return space.blocks(copies, revokes.length);
  }

  private int revokeBlocks() {
    return Math.ceilDiv(revokes.length, space.revokeCapacity());
  }

  private int indexOfCopy(int copy) {
    return revokeBlocks() + copy + copy / space.descriptorCapacity() + 1;
  }

  private MemorySegment block(int index) {
    int chunk = index / blocksPerChunk;
    while (chunk >= chunks.size()) {
      chunks.add(arena.allocate(CHUNK_BYTES, 4096));
    }
    long offset = (long) (index % blocksPerChunk) * blockSizeBytes;
    return chunks.get(chunk).asSlice(offset, blockSizeBytes);
  }

  /// Makes the blocks that are not copies, and escapes the copies that look like such a block.
  void complete(long tid, Instant time) {
    for (int i = 0; i < revokeBlocks(); i++) {
      int from = i * space.revokeCapacity();
      int to = Math.min(from + space.revokeCapacity(), revokes.length);
      RevokeBlock.write(format, block(i), tid, revokes, from, to);
    }
    List<BlockTag> tags = new ArrayList<>();
    for (int from = 0; from < copies; from += space.descriptorCapacity()) {
      tags.clear();
      int to = Math.min(from + space.descriptorCapacity(), copies);
      for (int copy = from; copy < to; copy++) {
        MemorySegment bytes = block(indexOfCopy(copy));
        boolean escaped = BlockTag.escape(bytes);
        int checksum = format.blockChecksums() ? BlockTag.checksum(format, (int) tid, bytes) : 0;
        tags.add(new BlockTag(homes[copy], escaped, false, checksum));
      }
      DescriptorBlock.write(format, block(indexOfCopy(from) - 1), tid, tags);
    }
    CommitBlock.write(format, commitBlock(), tid, time, 0);
  }

  MemorySegment commitBlock() {
    return block(blockCount() - 1);
  }

  /// Writes all but the commit block to the log, whose circle is from `first` to `end`, from
  /// `start` on, and waits.
  void write(LogDevice log, long first, long end, long start) throws IOException {
    int count = blockCount() - 1;
    if (count == 0) {
      return;
    }
    LogDevice.Writes writes = log.new Writes();
    long at = start;
    for (int done = 0; done < count; ) {
      int inChunk = blocksPerChunk - done % blocksPerChunk;
      int run = (int) Math.min(Math.min(inChunk, count - done), end - at);
      long offset = (long) (done % blocksPerChunk) * blockSizeBytes;
      MemorySegment source =
          chunks.get(done / blocksPerChunk).asSlice(offset, (long) run * blockSizeBytes);
      writes.add(at, source);
      done += run;
      at = at + run == end ? first : at + run;
    }
    writes.run();
  }

  @Override
  public void close() {
    arena.close();
  }
}
