package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.DirectoryBlocks.Role;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxRoot;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A way through the index of a directory, from the root to a leaf. Its blocks are pinned until it
/// is closed.
///
/// A leaf's *bound* is the lowest major hash in it. With bit 0 set it is a continuation: names with
/// just that hash are in the leaf before, too. The first leaf's bound is 0.
final class IndexPath implements AutoCloseable {
  /// Stands for the bound of a leaf behind the last.
  static final long END = -1;

  final DirectoryBlocks blocks;
  final Inode dir;
  private final int blockCount;
  private final Buffer[] nodes;
  private final int[] positions;

  /// How often [#advance] was called.
  private int advances;

  /// Opens the root. EUCLEAN if it is none.
  IndexPath(DirectoryBlocks blocks, Inode dir) throws IOException {
    this.blocks = blocks;
    this.dir = dir;
    this.blockCount = blocks.count(dir);
    this.nodes = new Buffer[blocks.maxIndirectLevels() + 1];
    this.positions = new int[nodes.length];
    this.nodes[0] = blocks.read(dir, 0, Role.ROOT);
  }

  int hashVersion() {
    return DxRoot.hashVersion(nodes[0].data());
  }

  /// The hash that the root says, with the file system's seed.
  DirHash hash(DirHash defaults) throws FsException {
    return defaults.withVersion(hashVersion());
  }

  Buffer root() {
    return nodes[0];
  }

  /// The level of the nodes that point to leaves; the root's is 0.
  int bottom() {
    return DxRoot.indirectLevels(nodes[0].data());
  }

  Buffer node(int level) {
    return nodes[level];
  }

  int position(int level) {
    return positions[level];
  }

  static Role role(int level) {
    return level == 0 ? Role.ROOT : Role.NODE;
  }

  static int base(int level) {
    return role(level).base();
  }

  /// Goes to the first leaf that may hold names with this major hash.
  void seek(long major) throws IOException {
    positions[0] = DxEntries.find(nodes[0].data(), base(0), major);
    for (int level = 1; level <= bottom(); level++) {
      open(level);
      positions[level] = DxEntries.find(nodes[level].data(), base(level), major);
    }
  }

  /// Opens the node that the level above points to.
  private void open(int level) throws IOException {
    Buffer opened = blocks.read(dir, child(level - 1), Role.NODE);
    if (nodes[level] != null) {
      nodes[level].close();
    }
    nodes[level] = opened;
    positions[level] = 0;
  }

  private int child(int level) throws FsException {
    MemorySegment data = nodes[level].data();
    int logical = DxEntries.logical(data, base(level), positions[level]);
    if (logical < 1 || logical >= blockCount) {
      throw DirectoryDamage.at(
          dir,
          nodes[level].blockNr(),
          base(level) + DxEntries.ENTRY_SIZE * positions[level],
          "the index names logical block " + logical + " of " + blockCount);
    }
    return logical;
  }

  /// The leaf's logical block.
  int leaf() throws FsException {
    return child(bottom());
  }

  /// The leaf, checked and pinned.
  Buffer readLeaf() throws IOException {
    return blocks.read(dir, leaf(), Role.LEAF);
  }

  long bound() {
    for (int level = bottom(); level >= 0; level--) {
      if (positions[level] > 0) {
        return DxEntries.hash(nodes[level].data(), base(level), positions[level]);
      }
    }
    return 0;
  }

  /// The bound of the next leaf, or [#END].
  long nextBound() {
    int level = levelWithNext();
    return level < 0 ? END : DxEntries.hash(nodes[level].data(), base(level), positions[level] + 1);
  }

  private int levelWithNext() {
    int level = bottom();
    while (level >= 0
        && positions[level] + 1 >= DxEntries.count(nodes[level].data(), base(level))) {
      level--;
    }
    return level;
  }

  /// Goes to the next leaf; there must be one. EUCLEAN if that is more leaves than the directory
  /// has blocks, as in an index that names a block twice.
  void advance() throws IOException {
    if (++advances >= blockCount) {
      throw DirectoryDamage.of(dir, "its index has more leaves than the directory has blocks");
    }
    int level = levelWithNext();
    positions[level]++;
    while (++level <= bottom()) {
      open(level);
    }
  }

  /// True if names with this major hash may go on in the next leaf.
  boolean continues(long major) {
    return nextBound() == (major | 1);
  }

  @Override
  public void close() {
    for (Buffer node : nodes) {
      if (node != null) {
        node.close();
      }
    }
  }
}
