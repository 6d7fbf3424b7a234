package dev.extant.mkfs;

import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import java.lang.foreign.MemorySegment;

/// Makes blocks of the directories of a new file system. An instance fills one block; entries go
/// one behind the other, and the last reaches to the end.
final class NewDirectory {
  private final MemorySegment block;
  private final int typeCode;
  private final boolean checksummed;
  private final int end;

  /// Where the last entry begins.
  private int last;

  NewDirectory(int blockSizeBytes, Features features) {
    this.block = MemorySegment.ofArray(new byte[blockSizeBytes]);
    this.typeCode = features.has(Feature.FILETYPE) ? FileType.DIRECTORY.entryCode() : 0;
    this.checksummed = features.has(Feature.METADATA_CSUM);
    this.end = checksummed ? DirTail.offset(block) : blockSizeBytes;
    DirEntry.putUnused(block, 0, end);
  }

  /// Adds a subdirectory, `.` or `..`.
  NewDirectory add(String name, int ino) {
    int used = DirEntry.usedLength(block, last);
    if (used > 0) {
      DirEntry.recLen(block, last, used);
      last += used;
    }
    DirEntry.put(block, last, end - last, ino, typeCode, FileName.of(name));
    return this;
  }

  /// The block with its checksum.
  MemorySegment seal(Checksums checksums, int inodeSeed) {
    if (checksummed) {
      DirTail.initialise(block);
      DirTail.checksum(block, checksums.directoryLeaf(block, inodeSeed, end));
    }
    return block;
  }
}
