package dev.extant.mkfs;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// Makes blocks of the directories of a new file system (Linux documentation, "Directory Entries",
/// linear). An instance fills one block; entries go one behind the other.
final class NewDirectory {
  private static final int TAIL_SIZE = 12;
  private static final int TYPE_DIRECTORY = 2;

  private final MemorySegment block;
  private final boolean types;
  private final boolean checksummed;

  /// Where the last entry begins, which reaches to the end; -1 before the first.
  private int last = -1;

  NewDirectory(int blockSizeBytes, Features features) {
    this.block = MemorySegment.ofArray(new byte[blockSizeBytes]);
    this.types = features.has(Feature.FILETYPE);
    this.checksummed = features.has(Feature.METADATA_CSUM);
  }

  private int end() {
    return (int) block.byteSize() - (checksummed ? TAIL_SIZE : 0);
  }

  /// Adds a subdirectory, `.` or `..`.
  NewDirectory add(String name, int ino) {
    int at = 0;
    if (last >= 0) {
      int used = recordLength(Le.u8(block, last + 6));
      Le.put16(block, last + 4, used);
      at = last + used;
    }
    byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
    Le.put32(block, at, ino);
    Le.put16(block, at + 4, end() - at);
    Le.put8(block, at + 6, bytes.length);
    Le.put8(block, at + 7, types ? TYPE_DIRECTORY : 0);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, block, at + 8, bytes.length);
    last = at;
    return this;
  }

  private static int recordLength(int nameLength) {
    return nameLength + 8 + 3 & ~3;
  }

  /// The block with its checksum. Without any entry it is one unused record.
  MemorySegment seal(Checksums checksums, int inodeSeed) {
    if (last < 0) {
      Le.put16(block, 4, end());
    }
    if (checksummed) {
      Le.put16(block, end() + 4, TAIL_SIZE);
      Le.put8(block, end() + 7, 0xDE);
      Le.put32(block, end() + 8, checksums.directoryLeaf(block, inodeSeed, end()));
    }
    return block;
  }
}
