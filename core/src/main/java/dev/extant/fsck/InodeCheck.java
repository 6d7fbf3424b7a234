package dev.extant.fsck;

/// Checks what an inode says of itself, and its block map.
final class InodeCheck implements InodeVisitor {
  private final CheckContext context;

  InodeCheck(CheckContext context) {
    this.context = context;
  }

  @Override
  public void visit(ScannedInode inode) {
    if (!context.checksums().inodeValid(inode.raw(), inode.ino())) {
      context.report(Problem.INODE_CHECKSUM, inode.ino(), 0, "");
    }
  }
}
