package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Superblock;
import dev.extant.journal.Handle;
import dev.extant.journal.Sealer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/// The superblock in memory and the only way to change it. Copies in other groups are left alone,
/// as Linux does.
///
/// Its checksum is sealed once per transaction, after all other blocks (rank 2).
final class SuperblockStore implements AutoCloseable {
  private final Buffer buffer;
  private final MemorySegment superblock;

  private final Sealer sealer =
      new Sealer() {
        @Override
        public int rank() {
          return 2;
        }

        @Override
        public void seal(Buffer changed) {
          Superblock.sealInFirstSector(superblock);
        }
      };

  /// Guards the superblock's bytes.
  private final ReentrantLock lock = new ReentrantLock();

  SuperblockStore(BufferCache buffers) throws IOException {
    int blockSizeBytes = buffers.blockSizeBytes();
    buffer = buffers.read(Superblock.OFFSET / blockSizeBytes);
    superblock = buffer.data().asSlice(Superblock.OFFSET % blockSizeBytes, Superblock.SIZE);
  }

  /// The superblock's bytes, for reading single fields.
  MemorySegment bytes() {
    return superblock;
  }

  /// Changes the superblock within the handle; needs 1 credit.
  void edit(Handle handle, Consumer<MemorySegment> change) throws IOException {
    lock.lock();
    try {
      handle.writeAccess(buffer);
      change.accept(superblock);
      handle.dirty(buffer, sealer);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    buffer.close();
  }
}
