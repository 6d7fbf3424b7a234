package dev.extant.fsck;

import dev.extant.ext4.format.Superblock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.concurrent.locks.ReentrantLock;

/// How the directories hang together: for each the inode of its `..`, and the directory that has an
/// entry for it. Filled by any number of threads, then checked by one.
final class DirectoryTree {
  private static final VarHandle INOS = MethodHandles.arrayElementVarHandle(int[].class);
  private static final int NONE = 0;

  private final CheckContext context;
  private final DirectoryList directories;
  private final int[] dotDots;

  /// The smallest of the directories that have an entry.
  private final int[] parents;

  private final ReentrantLock lock = new ReentrantLock();

  /// Directories with more than one entry. Guarded by lock.
  private final BitSet shared = new BitSet();

  DirectoryTree(CheckContext context, DirectoryList directories) {
    this.context = context;
    this.directories = directories;
    this.dotDots = new int[directories.size()];
    this.parents = new int[directories.size()];
  }

  /// What `..` of a directory says.
  void dotDot(int index, long ino) {
    dotDots[index] = (int) ino;
  }

  /// The directory `parent` has an entry for the directory `ino`, which is not `.` or `..`.
  void entry(long ino, long parent) {
    int index = directories.indexOf(ino);
    if (index < 0) {
      return;
    }
    int old;
    do {
      old = (int) INOS.getVolatile(parents, index);
      if (old != NONE) {
        share(index);
        if (Integer.compareUnsigned(old, (int) parent) <= 0) {
          return;
        }
      }
    } while (!INOS.compareAndSet(parents, index, old, (int) parent));
  }

  private void share(int index) {
    lock.lock();
    try {
      shared.set(index);
    } finally {
      lock.unlock();
    }
  }

  /// Reports what is wrong, when all entries were met.
  void check() {
    int root = directories.indexOf(Superblock.ROOT_INO);
    Reach reach = new Reach(root);
    for (int i = 0; i < directories.size(); i++) {
      if (i == root) {
        checkRoot(root);
      } else {
        checkDirectory(i, reach);
      }
    }
  }

  private void checkRoot(int root) {
    if (dotDots[root] != Superblock.ROOT_INO) {
      report(Problem.DIRECTORY_PARENT, root, "it is " + dotDot(root) + ", should be 2");
    }
  }

  private void checkDirectory(int index, Reach reach) {
    if (parents[index] == NONE) {
      report(Problem.DIRECTORY_UNCONNECTED, index, "no directory has an entry for it");
      return;
    }
    if (reach.closesLoop(index)) {
      report(Problem.DIRECTORY_UNCONNECTED, index, "its parents are a loop");
    }
    if (shared.get(index)) {
      report(Problem.DIRECTORY_LINKED_TWICE, index, "the first is in directory " + parent(index));
    }
    if (dotDots[index] != parents[index]) {
      String text = "it is " + dotDot(index) + ", should be " + parent(index);
      report(Problem.DIRECTORY_PARENT, index, text);
    }
  }

  /// What is known of the ways up.
  private final class Reach {
    /// The way up was followed: it ends at the root, at a directory without entry, or in a loop.
    private final BitSet followed = new BitSet();

    private final BitSet onTheWay = new BitSet();

    Reach(int root) {
      if (root >= 0) {
        followed.set(root);
      }
    }

    /// True for the first directory whose way up is found to run into a certain loop.
    boolean closesLoop(int start) {
      int at = start;
      while (at >= 0 && !followed.get(at) && !onTheWay.get(at)) {
        onTheWay.set(at);
        at = directories.indexOf(parent(at));
      }
      boolean loop = at >= 0 && onTheWay.get(at);
      for (int on = start; on >= 0 && onTheWay.get(on); on = directories.indexOf(parent(on))) {
        onTheWay.clear(on);
        followed.set(on);
      }
      return loop;
    }
  }

  private long dotDot(int index) {
    return dotDots[index] & 0xffff_ffffL;
  }

  private long parent(int index) {
    return parents[index] & 0xffff_ffffL;
  }

  private void report(Problem problem, int index, String detail) {
    context.report(problem, directories.ino(index), 0, detail);
  }
}
