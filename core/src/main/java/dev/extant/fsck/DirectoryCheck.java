package dev.extant.fsck;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.RawInode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/// Checks the directories: their entries and indexes, and how they hang together. Gathers them
/// while the inodes are visited.
final class DirectoryCheck implements InodeVisitor {
  private final CheckContext context;
  private final LinkCounts links;
  private final EncryptionPolicies policies;
  private final DirectoryList directories = new DirectoryList();

  DirectoryCheck(CheckContext context, LinkCounts links, EncryptionPolicies policies) {
    this.context = context;
    this.links = links;
    this.policies = policies;
  }

  @Override
  public void visit(ScannedInode inode) {
    if (inode.directory()) {
      directories.add(inode.ino());
    } else if (inode.has(RawInode.EXT4_INDEX_FL)) {
      context.report(Problem.HTREE_FLAG, inode.ino(), 0, "it is no directory");
    }
  }

  /// Checks all directories that were gathered.
  void run(FsckProgress progress) throws CannotCheckException {
    directories.sort();
    DirectoryTree tree = new DirectoryTree(context, directories);
    DirHash hash = DirectoryIndexCheck.hashOf(context);
    AtomicLong sharedBlocks = new AtomicLong();
    GroupWorkers.run(
        context,
        "directories",
        progress,
        group -> {
          FsLayout layout = context.layout();
          long first = (long) group * layout.inodesPerGroup() + 1;
          int limit = directories.lowerBound(first + layout.inodesPerGroup());
          NameSet names = new NameSet();
          DirectoryEntryCheck entries = new DirectoryEntryCheck(context, tree, links, policies);
          for (int i = directories.lowerBound(first); i < limit; i++) {
            CheckedDirectory directory = open(i, names);
            if (directory != null) {
              new DirectoryWalk(context, directory, entries, hash, sharedBlocks).run();
            }
          }
        });
    tree.check();
  }

  private CheckedDirectory open(int index, NameSet names) {
    long ino = directories.ino(index);
    MemorySegment raw = context.readInode(ino);
    if (raw == null) {
      return null;
    }
    names.clear();
    return new CheckedDirectory(context, new ScannedInode(ino, raw, true), index, names);
  }
}
