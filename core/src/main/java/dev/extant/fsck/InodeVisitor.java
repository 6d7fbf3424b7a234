package dev.extant.fsck;

/// A check that sees every inode in use, in any order and on several threads at once.
@FunctionalInterface
interface InodeVisitor {
  void visit(ScannedInode inode);
}
