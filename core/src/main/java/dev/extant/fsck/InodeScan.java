package dev.extant.fsck;

import java.lang.foreign.MemorySegment;
import java.util.List;

/// Visits every inode in use: reads the tables of all groups, several groups at a time, lets
/// [InodeCheck] judge each inode, and gives it to the visitors in their order.
final class InodeScan {
  private final CheckContext context;
  private final FsckProgress progress;
  private final InodeCheck check;
  private final List<InodeVisitor> visitors;

  InodeScan(
      CheckContext context, FsckProgress progress, InodeCheck check, List<InodeVisitor> visitors) {
    this.context = context;
    this.progress = progress;
    this.check = check;
    this.visitors = List.copyOf(visitors);
  }

  void run() throws CannotCheckException {
    GroupWorkers.run(context, "inodes", progress, this::scanGroup);
  }

  private void scanGroup(int group) {
    FsLayout layout = context.layout();
    long table = context.groups().inodeTable(group);
    int inodes = table == 0 ? 0 : context.groups().scannedInodes(group);
    int perBlock = layout.inodesPerBlock();
    long firstIno = (long) group * layout.inodesPerGroup() + 1;
    for (int index = 0; index < inodes; index += perBlock) {
      MemorySegment block = context.readBlock(table + index / perBlock, 0);
      int count = block == null ? 0 : Math.min(perBlock, inodes - index);
      for (int i = 0; i < count; i++) {
        long at = (long) i * layout.inodeSizeBytes();
        scan(firstIno + index + i, block.asSlice(at, layout.inodeSizeBytes()));
      }
    }
  }

  private void scan(long ino, MemorySegment raw) {
    ScannedInode inode = check.check(ino, raw);
    if (inode != null) {
      for (InodeVisitor visitor : visitors) {
        visitor.visit(inode);
      }
    }
  }
}
