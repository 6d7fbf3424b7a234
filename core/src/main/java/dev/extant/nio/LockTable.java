package dev.extant.nio;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// The file locks of one file system, by inode, whatever kind of channel took them. Locks are held
/// on behalf of the JVM, so they must not overlap, even when they are shared, and nobody ever waits
/// for one.
final class LockTable {
  private final ReentrantLock guard = new ReentrantLock();

  /// Guarded by `guard`; no list is empty.
  private final Map<Long, List<Held>> byInode = new HashMap<>();

  /// A lock that a channel got.
  private final class Held extends FileLock {
    private final long ino;

    /// Guarded by `guard`.
    private boolean released;

    Held(FileChannel channel, long ino, long offset, long size, boolean shared) {
      super(channel, offset, size, shared);
      this.ino = ino;
    }

    Held(AsynchronousFileChannel channel, long ino, long offset, long size, boolean shared) {
      super(channel, offset, size, shared);
      this.ino = ino;
    }

    @Override
    public boolean isValid() {
      guard.lock();
      try {
        return !released;
      } finally {
        guard.unlock();
      }
    }

    @Override
    public void release() throws IOException {
      if (!acquiredBy().isOpen()) {
        throw new ClosedChannelException();
      }
      guard.lock();
      try {
        remove(this);
      } finally {
        guard.unlock();
      }
    }
  }

  /// A size of 0 reaches up to any end of the file.
  ///
  /// @throws OverlappingFileLockException if a channel of this JVM, this one too, holds a part
  FileLock lock(FileChannel channel, long ino, long offset, long size, boolean shared) {
    return add(new Held(channel, ino, offset, effective(offset, size), shared));
  }

  /// The same for the other kind of channel.
  FileLock lock(AsynchronousFileChannel channel, long ino, long offset, long size, boolean shared) {
    return add(new Held(channel, ino, offset, effective(offset, size), shared));
  }

  private static long effective(long offset, long size) {
    return size == 0 && offset >= 0 ? Long.MAX_VALUE - offset : size;
  }

  private FileLock add(Held lock) {
    guard.lock();
    try {
      List<Held> held = byInode.getOrDefault(lock.ino, List.of());
      if (held.stream().anyMatch(other -> other.overlaps(lock.position(), lock.size()))) {
        throw new OverlappingFileLockException();
      }
      byInode.computeIfAbsent(lock.ino, _ -> new ArrayList<>()).add(lock);
      return lock;
    } finally {
      guard.unlock();
    }
  }

  /// Releases what a channel holds of its inode.
  void releaseAll(Channel channel, long ino) {
    guard.lock();
    try {
      byInode.getOrDefault(ino, List.of()).stream()
          .filter(lock -> lock.acquiredBy() == channel)
          .toList()
          .forEach(this::remove);
    } finally {
      guard.unlock();
    }
  }

  /// Caller holds `guard`.
  private void remove(Held lock) {
    lock.released = true;
    List<Held> locks = byInode.get(lock.ino);
    if (locks != null && locks.remove(lock) && locks.isEmpty()) {
      byInode.remove(lock.ino);
    }
  }
}
