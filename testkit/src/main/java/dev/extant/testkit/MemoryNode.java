package dev.extant.testkit;

import dev.extant.vfs.FileType;
import dev.extant.vfs.Node;
import java.util.concurrent.atomic.AtomicBoolean;

/// One reference to an inode of a [MemoryVolume]. Each is closed once; a second time, or use after
/// that, throws [IllegalStateException], so that tests find whoever miscounts.
final class MemoryNode implements Node {
  private final MemoryVolume volume;
  private final MemoryInode inode;
  private final AtomicBoolean closed = new AtomicBoolean();

  MemoryNode(MemoryVolume volume, MemoryInode inode) {
    this.volume = volume;
    this.inode = inode;
  }

  MemoryVolume volume() {
    return volume;
  }

  MemoryInode inode() {
    if (closed.get()) {
      throw new IllegalStateException("a closed reference to inode " + inode.ino + " was used");
    }
    return inode;
  }

  @Override
  public long ino() {
    return inode.ino;
  }

  @Override
  public FileType type() {
    return inode.type;
  }

  @Override
  public Node retain() {
    return volume.retain(inode());
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      throw new IllegalStateException("a reference to inode " + inode.ino + " was closed twice");
    }
    volume.release(inode);
  }
}
