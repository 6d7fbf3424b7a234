package dev.extant.journal.format;

import dev.extant.util.Crc32c;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// What decides how the blocks of one log look: block size, width of block numbers, kind of
/// checksums, and the journal's uuid, which seeds the checksums and stands in the first tag of a
/// descriptor.
public final class LogFormat {
  public static final int UUID_SIZE = 16;

  /// The checksum formats of jbd2.
  public enum Checksums {
    NONE,
    /// The commit block holds a CRC-32 over descriptor and data blocks (compat feature).
    V1,
    /// Each block has a CRC-32C; tags hold 16 bits of their block's.
    V2,
    /// As V2, with all 32 bits in the tag.
    V3
  }

  private static final int TAIL_SIZE = 4;

  private final int blockSizeBytes;
  private final boolean wide;
  private final Checksums checksums;
  private final byte[] uuid;
  private final int seed;

  public LogFormat(int blockSizeBytes, boolean wide, Checksums checksums, byte[] uuid) {
    Objects.checkIndex(UUID_SIZE - 1, uuid.length);
    this.blockSizeBytes = blockSizeBytes;
    this.wide = wide;
    this.checksums = checksums;
    this.uuid = uuid.clone();
    this.seed = Crc32c.update(~0, MemorySegment.ofArray(uuid), 0, UUID_SIZE);
  }

  public int blockSizeBytes() {
    return blockSizeBytes;
  }

  /// Block numbers have 64 bits.
  public boolean wide() {
    return wide;
  }

  public Checksums checksums() {
    return checksums;
  }

  public byte[] uuid() {
    return uuid.clone();
  }

  /// Blocks of the log carry a CRC-32C each.
  public boolean blockChecksums() {
    return checksums == Checksums.V2 || checksums == Checksums.V3;
  }

  /// The state with which every CRC-32C of this log starts.
  public int seed() {
    return seed;
  }

  /// Where the tags or the revoke records of a block must end.
  int endOfRecords() {
    return blockChecksums() ? blockSizeBytes - TAIL_SIZE : blockSizeBytes;
  }
}
