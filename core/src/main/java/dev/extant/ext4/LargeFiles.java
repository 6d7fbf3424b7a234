package dev.extant.ext4;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/// Gives a file system the feature large_file before its first file has more than 31 bits of size,
/// as Linux does: whoever does not know it would take such a file for a shorter one.
final class LargeFiles implements FileData.SizeListener {
  private static final long MOST_WITHOUT = Integer.MAX_VALUE;

  private final SuperblockStore superblock;
  private final Journal journal;
  private final ReentrantLock lock = new ReentrantLock();

  /// The superblock has the feature, and the handle that gave it is closed.
  private volatile boolean allowed;

  LargeFiles(SuperblockStore superblock, Journal journal) {
    this.superblock = superblock;
    this.journal = journal;
    this.allowed = Superblock.features(superblock.bytes()).has(Feature.LARGE_FILE);
  }

  @Override
  public void willReach(long sizeBytes) throws IOException {
    if (sizeBytes <= MOST_WITHOUT || allowed) {
      return;
    }
    lock.lock();
    try {
      if (!allowed) {
        try (Handle handle = journal.start(1)) {
          superblock.edit(handle, LargeFiles::give);
        }
        allowed = true;
      }
    } finally {
      lock.unlock();
    }
  }

  /// Revision 0 has no features, and its numbers for what revision 1 says itself.
  private static void give(MemorySegment bytes) {
    if (Superblock.revision(bytes) == 0) {
      Superblock.revision(bytes, Superblock.REVISION_DYNAMIC);
      Superblock.firstInode(bytes, Superblock.GOOD_OLD_FIRST_INO);
      Superblock.inodeSize(bytes, RawInode.GOOD_OLD_INODE_SIZE);
    }
    Superblock.features(bytes, Superblock.features(bytes).with(Feature.LARGE_FILE));
  }
}
