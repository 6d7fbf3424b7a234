package dev.extant.journal;

import dev.extant.cache.Buffer;

/// Finishes a block just before its transaction is written, e.g. stores its checksum.
///
/// Runs on the commit thread while no handle is open, so it needs no lock. It may change the buffer
/// it is given, and other buffers that the same transaction has dirtied and whose sealer has a
/// higher [#rank].
public interface Sealer {
  int LAST_RANK = 2;

  /// Sealers of lower rank run first. Bitmaps (whose checksums lie in descriptors) are 0,
  /// descriptors 1, the superblock 2.
  int rank();

  void seal(Buffer buffer);
}
