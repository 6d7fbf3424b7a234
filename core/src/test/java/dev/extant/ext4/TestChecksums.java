package dev.extant.ext4;

import dev.extant.ext4.format.Checksums;
import dev.extant.util.Le;
import java.lang.foreign.MemorySegment;

/// The checksums of a file system with or without metadata_csum.
final class TestChecksums {
  private TestChecksums() {}

  static Checksums create() {
    MemorySegment superblock = MemorySegment.ofArray(new byte[1024]);
    Le.put32(superblock, 0x64, 0x400);
    Checksums checksums = new Checksums(superblock);
    if (!checksums.enabled()) {
      throw new IllegalStateException("no metadata_csum");
    }
    return checksums;
  }

  static Checksums disabled() {
    return new Checksums(MemorySegment.ofArray(new byte[1024]));
  }
}
