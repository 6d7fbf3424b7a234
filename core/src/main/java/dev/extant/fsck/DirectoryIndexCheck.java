package dev.extant.fsck;

import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.DxTail;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Superblock;
import dev.extant.vfs.FsException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// Checks the index of one directory. While its blocks are visited in any order, this keeps for
/// each logical block what it is and the lowest and highest hash of its names; then [#check] goes
/// down from the root and compares.
///
/// The hash of a name in a directory that ignores case depends on tables of Unicode and, if it is
/// encrypted, on a key: there the range of a leaf's hashes is not checked.
final class DirectoryIndexCheck {
  private static final int SIP_HASH = 6;
  private static final byte NOTHING = 0;
  private static final byte NODE = 1;
  private static final byte LEAF = 2;
  private static final byte REFERENCED = 4;

  /// Above every hash.
  private static final long END = 0xffff_ffffL;

  private final CheckContext context;
  private final CheckedDirectory directory;
  private final DirHash superblockHash;

  private MemorySegment root;
  private DirHash hash;
  private byte[] kinds = new byte[16];
  private int[] lowest = new int[16];
  private int[] highest = new int[16];
  private int size;
  private final Map<Integer, Long> nodes = new HashMap<>();
  private boolean sound = true;

  DirectoryIndexCheck(CheckContext context, CheckedDirectory directory, DirHash superblockHash) {
    this.context = context;
    this.directory = directory;
    this.superblockHash = superblockHash;
  }

  /// The hash that names of new indexes get; its version does not matter, the rest is every
  /// index's.
  static DirHash hashOf(CheckContext context) {
    MemorySegment sb = context.superblock();
    try {
      return new DirHash(DirHash.HALF_MD4, Superblock.unsignedHash(sb), Superblock.hashSeed(sb));
    } catch (FsException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Takes block 0. True if it is a root, so that its entries are only `.` and `..`.
  boolean root(MemorySegment block, long blockNr) {
    if (!context.features().has(Feature.DIR_INDEX)) {
      tell(Problem.HTREE_FLAG, blockNr, "no feature dir_index");
    }
    add(0);
    kinds[0] = REFERENCED;
    if (DxRoot.reserved(block) != 0 || !DxRoot.infoLengthValid(block)) {
      tell(Problem.HTREE_ROOT, blockNr, "reserved field or length of the root's information");
      return false;
    }
    boolean known = checkHashVersion(DxRoot.hashVersion(block), blockNr);
    if ((DxRoot.unusedFlags(block) & 1) != 0) {
      tell(Problem.HTREE_ROOT_FLAG, blockNr, "");
    }
    int levels = DxRoot.indirectLevels(block);
    if (levels > maxLevels()) {
      tell(Problem.HTREE_DEPTH, blockNr, levels + " levels of nodes");
    }
    if (known && levels <= maxLevels() && entriesValid(block, DxRoot.ENTRIES, blockNr)) {
      root = block;
    }
    return true;
  }

  private boolean checkHashVersion(int version, long blockNr) {
    if (directory.casefolded()) {
      boolean sip = version == SIP_HASH;
      if (sip != directory.encrypted() || !sip && !DirHash.known(version)) {
        tell(Problem.HTREE_HASH_VERSION, blockNr, "it is " + version);
        return false;
      }
      return true;
    }
    if (!DirHash.known(version)) {
      tell(Problem.HTREE_HASH_VERSION, blockNr, "it is " + version);
      return false;
    }
    try {
      hash = superblockHash.withVersion(version);
    } catch (FsException e) {
      throw new IllegalStateException(e);
    }
    return true;
  }

  private int maxLevels() {
    return context.features().has(Feature.LARGE_DIR)
        ? DxRoot.MAX_INDIRECT_LEVELS + 1
        : DxRoot.MAX_INDIRECT_LEVELS;
  }

  /// True if the block, which is not the first, is a node of the index; then it is taken.
  boolean node(long logical, MemorySegment block, long blockNr) {
    boolean is =
        DxNode.looksLikeNode(block)
            && DxEntries.limit(block, DxNode.ENTRIES) == DxNode.limit(block, checksums());
    if (!is || !add(logical)) {
      return false;
    }
    kinds[(int) logical] = NODE;
    if (entriesValid(block, DxNode.ENTRIES, blockNr)) {
      nodes.put((int) logical, blockNr);
    }
    return true;
  }

  /// Takes a leaf.
  void leaf(long logical) {
    if (add(logical)) {
      kinds[(int) logical] = LEAF;
      lowest[(int) logical] = -1;
      highest[(int) logical] = 0;
    }
  }

  /// Takes a name of a leaf.
  void name(long logical, byte[] name) {
    if (hash != null && logical < size) {
      int major = (int) DirHash.major(hash.of(name));
      int index = (int) logical;
      lowest[index] = Integer.compareUnsigned(major, lowest[index]) < 0 ? major : lowest[index];
      highest[index] = Integer.compareUnsigned(major, highest[index]) > 0 ? major : highest[index];
    }
  }

  private boolean checksums() {
    return context.checksums().enabled();
  }

  /// Makes room. False if the block is too far behind the others to be kept.
  private boolean add(long logical) {
    if (logical >= kinds.length) {
      if (logical >= 2L * kinds.length || logical >= 1 << 28) {
        return false;
      }
      int length = 2 * kinds.length;
      kinds = Arrays.copyOf(kinds, length);
      lowest = Arrays.copyOf(lowest, length);
      highest = Arrays.copyOf(highest, length);
    }
    size = Math.max(size, (int) logical + 1);
    return true;
  }

  /// Limit, count, order and checksum of a root's or node's entries.
  private boolean entriesValid(MemorySegment block, int base, long blockNr) {
    int room =
        base == DxRoot.ENTRIES
            ? DxRoot.limit(block, checksums())
            : DxNode.limit(block, checksums());
    int limit = DxEntries.limit(block, base);
    int count = DxEntries.count(block, base);
    if (limit != room) {
      tell(Problem.HTREE_LIMIT, blockNr, "it is " + limit + ", should be " + room);
      return false;
    }
    if (count < 1 || count > limit) {
      tell(Problem.HTREE_COUNT, blockNr, "it is " + count + " of " + limit);
      return false;
    }
    if (!DxEntries.ascending(block, base)) {
      tell(Problem.HTREE_ORDER, blockNr, "");
    }
    if (checksums() && !checksumValid(block, base, count)) {
      tell(Problem.HTREE_CHECKSUM, blockNr, "");
    }
    return true;
  }

  private boolean checksumValid(MemorySegment block, int base, int count) {
    int tail = DxTail.offset(block, base);
    int computed =
        context.checksums().directoryIndex(block, directory.checksumSeed, base, count, tail);
    return DxTail.checksum(block, base) == computed;
  }

  /// Compares nodes and leaves with what leads to them, when all blocks were taken.
  void check() {
    if (root == null) {
      return;
    }
    descend(root, DxRoot.ENTRIES, 0, DxRoot.indirectLevels(root), 0, END);
    for (int i = 1; i < size && sound; i++) {
      if (kinds[i] == NODE || kinds[i] == LEAF) {
        tell(Problem.HTREE_UNREFERENCED, 0, "logical block " + i);
      }
    }
  }

  /// `levels` are the levels of nodes below this one; the hashes behind it go from `low` to `high`.
  private void descend(
      MemorySegment block, int base, int logical, int levels, long low, long high) {
    int count = DxEntries.count(block, base);
    for (int i = 0; i < count; i++) {
      long from = i == 0 ? low : DxEntries.hash(block, base, i);
      long to = i + 1 < count ? DxEntries.hash(block, base, i + 1) : high;
      int child = DxEntries.logical(block, base, i);
      if (child >= size || kinds[child] == NOTHING) {
        tell(Problem.HTREE_BLOCK, 0, "logical block " + logical + " names " + child);
        sound = false;
      } else if ((kinds[child] & REFERENCED) != 0) {
        tell(Problem.HTREE_REFERENCED_TWICE, 0, "logical block " + child);
      } else {
        boolean node = kinds[child] == NODE;
        kinds[child] |= REFERENCED;
        if (node != levels > 0) {
          tell(Problem.HTREE_DEPTH, 0, "logical block " + child);
        } else if (node) {
          descendInto(child, levels - 1, from, to);
        } else {
          checkRange(child, from & ~1L, to);
        }
      }
    }
  }

  private void descendInto(int child, int levels, long from, long to) {
    Long blockNr = nodes.get(child);
    MemorySegment block = blockNr == null ? null : context.readBlock(blockNr, directory.ino());
    if (block == null) {
      sound = false;
      return;
    }
    descend(block, DxNode.ENTRIES, child, levels, from, to);
  }

  /// A name whose hash is the first of the next leaf may still be here: the next leaf's hash then
  /// has bit 0 set.
  private void checkRange(int leaf, long from, long to) {
    if (hash == null || Integer.compareUnsigned(lowest[leaf], highest[leaf]) > 0) {
      return;
    }
    if ((lowest[leaf] & 0xffff_ffffL) < from) {
      tell(Problem.HTREE_MIN_HASH, 0, "logical block " + leaf);
    }
    if ((highest[leaf] & 0xffff_ffffL) > to) {
      tell(Problem.HTREE_MAX_HASH, 0, "logical block " + leaf);
    }
  }

  private void tell(Problem problem, long blockNr, String detail) {
    context.report(problem, directory.ino(), blockNr, detail);
  }
}
