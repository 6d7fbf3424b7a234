package dev.extant.nio;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// The file locks of one file system, by inode. Locks of one JVM must not overlap, even when they
/// are shared.
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

  FileLock lock(FileChannel channel, long ino, long offset, long size, boolean shared) {
    Held lock = new Held(channel, ino, offset, size, shared);
    guard.lock();
    try {
      List<Held> others = byInode.computeIfAbsent(ino, _ -> new ArrayList<>());
      if (others.stream().anyMatch(other -> other.overlaps(offset, size))) {
        throw new OverlappingFileLockException();
      }
      others.add(lock);
      return lock;
    } finally {
      guard.unlock();
    }
  }

  /// Releases what a channel holds of its inode.
  void releaseAll(FileChannel channel, long ino) {
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
