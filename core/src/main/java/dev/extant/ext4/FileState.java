package dev.extant.ext4;

import dev.extant.cache.AddressSpace;
import dev.extant.cache.PageCache;
import dev.extant.journal.Handle;
import dev.extant.journal.OrderedData;
import java.io.IOException;

/// What [FileData] knows of one inode in memory: its pages, and which transaction orders them.
final class FileState implements OrderedData {
  final AddressSpace space;
  final AddressSpace.Mapper mapper;

  /// The newest transaction whose commit must come after the dirty pages (I2); guarded by the
  /// inode's `lock`.
  private long orderedTid;

  FileState(Inode inode, PageCache pages, BlockMap map) {
    this.space = new AddressSpace(pages);
    this.mapper =
        (index, maxCount) -> {
          BlockMap.Run run = map.lookup(inode, index, maxCount);
          return new AddressSpace.Mapping(run.unwritten() ? 0 : run.blockNr(), run.count());
        };
  }

  long orderedTid() {
    return orderedTid;
  }

  /// The handle's transaction must not commit before the pages dirty now are on the device.
  void orderBy(Handle handle) {
    handle.orderedData(this);
    orderedTid = handle.tid();
  }

  @Override
  public void writeOrdered() throws IOException {
    space.writeDirty();
  }
}
