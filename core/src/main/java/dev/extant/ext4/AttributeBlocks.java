package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.XattrBlock;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/// The shared blocks of extended attributes, as far as deleting their owners needs them.
final class AttributeBlocks {
  private final Checksums checksums;

  /// Two inodes may share one block.
  private final ReentrantLock lock = new ReentrantLock();

  AttributeBlocks(Checksums checksums) {
    this.checksums = checksums;
  }

  /// One inode less uses the block. True if that was the last one: the caller frees the block.
  boolean dropReference(Handle handle, Buffer buffer) throws IOException {
    lock.lock();
    try {
      if (!XattrBlock.hasMagic(buffer.data())) {
        throw new FsException(
            Errno.EUCLEAN, "block " + buffer.blockNr() + " is not an extended attribute block");
      }
      long references = XattrBlock.refcount(buffer.data());
      if (references <= 1) {
        return true;
      }
      handle.writeAccess(buffer);
      XattrBlock.refcount(buffer.data(), references - 1);
      checksums.sealXattrBlock(buffer.data(), buffer.blockNr());
      handle.dirty(buffer);
      return false;
    } finally {
      lock.unlock();
    }
  }
}
