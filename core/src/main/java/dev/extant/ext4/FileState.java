package dev.extant.ext4;

import dev.extant.cache.AddressSpace;
import dev.extant.cache.PageCache;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import dev.extant.journal.OrderedData;
import java.io.IOException;

/// What [FileData] knows of one inode in memory: its pages, and which transaction orders them.
final class FileState implements OrderedData {
  final AddressSpace space;
  final AddressSpace.Mapper mapper;

  /// The newest two transactions whose commit must come after data of this file (I2). There are no
  /// more than two that are not durable: the running one and the committing one. Guarded by the
  /// inode's `lock`.
  private long orderedTid;

  private long previousOrderedTid;

  FileState(Inode inode, PageCache pages, BlockMap map) {
    this.space = new AddressSpace(pages);
    this.mapper =
        (index, maxCount) -> {
          BlockMap.Run run = map.lookup(inode, index, maxCount);
          return new AddressSpace.Mapping(run.unwritten() ? 0 : run.blockNr(), run.count());
        };
  }

  /// The handle's transaction must not commit before the pages dirty now are on the device.
  void orderBy(Handle handle) {
    handle.orderedData(this);
    if (handle.tid() != orderedTid) {
      previousOrderedTid = orderedTid;
      orderedTid = handle.tid();
    }
  }

  /// A transaction other than `tid` that is not durable yet shows data of this file.
  boolean orderedByOther(long tid, Journal journal) {
    return pendingOther(orderedTid, tid, journal) || pendingOther(previousOrderedTid, tid, journal);
  }

  private static boolean pendingOther(long ordered, long tid, Journal journal) {
    return ordered != 0 && ordered != tid && !journal.committed(ordered);
  }

  @Override
  public void writeOrdered() throws IOException {
    space.writeDirty();
  }
}
