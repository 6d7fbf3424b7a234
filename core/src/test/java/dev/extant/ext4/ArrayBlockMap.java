package dev.extant.ext4;

import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Block maps that are lists of block numbers. Hands out one block at a time, never two neighbours
/// to the same file, and none again.
final class ArrayBlockMap implements BlockMap {
  private final Map<Long, List<Long>> blocks = new HashMap<>();
  private long next = 1;

  /// Blocks that may still be handed out before the disk is "full".
  long allowance;

  ArrayBlockMap(long allowance) {
    this.allowance = allowance;
  }

  List<Long> of(Inode inode) {
    return blocks.computeIfAbsent(inode.ino(), ino -> new ArrayList<>());
  }

  @Override
  public long maxSizeBytes(Inode inode) {
    return Long.MAX_VALUE;
  }

  @Override
  public synchronized Run lookup(Inode inode, long logical, int maxCount) {
    List<Long> list = of(inode);
    return logical < list.size()
        ? new Run(logical, list.get((int) logical), 1, false)
        : new Run(logical, 0, maxCount, false);
  }

  @Override
  public int allocateCredits(Inode inode, int count) {
    return 3;
  }

  @Override
  public synchronized Allocation allocate(Handle handle, Inode inode, long logical, int maxCount)
      throws IOException {
    List<Long> list = of(inode);
    if (logical < list.size()) {
      return new Allocation(lookup(inode, logical, 1), false);
    }
    if (logical != list.size()) {
      throw new IllegalArgumentException("a hole before " + logical);
    }
    if (allowance == 0) {
      throw new FsException(Errno.ENOSPC, "no free block");
    }
    allowance--;
    list.add(next++);
    return new Allocation(lookup(inode, logical, 1), true);
  }

  @Override
  public synchronized boolean punch(
      Handle handle, Inode inode, long fromLogical, long toLogical, boolean metadata) {
    List<Long> list = of(inode);
    if (toLogical < list.size()) {
      throw new IllegalArgumentException("a hole before " + toLogical);
    }
    while (list.size() > fromLogical) {
      list.removeLast();
      allowance++;
    }
    return true;
  }
}
