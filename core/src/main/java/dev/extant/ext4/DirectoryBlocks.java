package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DirTail;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxNode;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.DxTail;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Sealer;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The blocks of directories: where they are, whether they are sound, how they grow.
///
/// A block's checksum is verified once after it was read and sealed once per commit, both here. The
/// structure of index blocks is checked at every use, since a damaged directory may show the same
/// block in two roles; the entries of leaves are checked by [EntryCursor].
final class DirectoryBlocks {
  /// What a block of a directory is.
  enum Role {
    /// A block of entries.
    LEAF(0),
    /// Block 0 of an indexed directory.
    ROOT(DxRoot.ENTRIES),
    /// A block of the index below the root.
    NODE(DxNode.ENTRIES);

    private final int base;

    Role(int base) {
      this.base = base;
    }

    /// Where the index's entries begin.
    int base() {
      return base;
    }
  }

  private static final int MAX_BLOCKS = 0x0fff_ffff;

  /// Without the feature large_dir.
  private static final long MAX_SMALL_SIZE_BYTES = Integer.MAX_VALUE;

  private final BufferCache buffers;
  private final BlockMap map;
  private final InodeTable inodes;
  private final Checksums checksums;
  private final boolean large;
  private final boolean encrypting;
  private final int blockSize;

  DirectoryBlocks(
      BufferCache buffers,
      BlockMap map,
      InodeTable inodes,
      Checksums checksums,
      Features features) {
    this.buffers = buffers;
    this.map = map;
    this.inodes = inodes;
    this.checksums = checksums;
    this.large = features.has(Feature.LARGE_DIR);
    this.encrypting = features.has(Feature.ENCRYPT);
    this.blockSize = buffers.blockSizeBytes();
  }

  /// The most levels of nodes that an index may have between its root and its leaves.
  int maxIndirectLevels() {
    return large ? DxRoot.MAX_INDIRECT_LEVELS_LARGE_DIR : DxRoot.MAX_INDIRECT_LEVELS;
  }

  /// Where the entries of a leaf end.
  int entriesEnd() {
    return checksums.enabled() ? blockSize - DirTail.SIZE : blockSize;
  }

  int blockSizeBytes() {
    return blockSize;
  }

  boolean checksummed() {
    return checksums.enabled();
  }

  /// The number of the directory's blocks, at least 1, and no more than the device has, since there
  /// are no holes among them.
  int count(Inode dir) throws FsException {
    long size = RawInode.size(dir.raw);
    long count = size / blockSize;
    if (size % blockSize != 0
        || count < 1
        || count > Math.min(MAX_BLOCKS, buffers.deviceBlocks())) {
      throw DirectoryDamage.of(dir, "its size is " + size);
    }
    return (int) count;
  }

  /// A block of the directory in the role that it is known to have, checked and pinned.
  Buffer read(Inode dir, int logical, Role role) throws IOException {
    Buffer buffer = buffers.read(blockNr(dir, logical));
    try {
      check(dir, buffer, role);
      return buffer;
    } catch (FsException e) {
      buffer.close();
      throw e;
    }
  }

  /// A block for who goes through all entries whatever their order, pinned: checked as a leaf
  /// unless it seems to be a part of the index, which then shows no entries but `.` and `..`. See
  /// [#entries].
  Buffer readAny(Inode dir, int logical) throws IOException {
    Buffer buffer = buffers.read(blockNr(dir, logical));
    if (dir.hasFlag(RawInode.EXT4_INDEX_FL) && looksLikeIndex(buffer.data(), logical)) {
      return buffer;
    }
    try {
      check(dir, buffer, Role.LEAF);
      return buffer;
    } catch (FsException e) {
      buffer.close();
      throw e;
    }
  }

  /// The entries that an index block seems to have reach to its very end, those of a leaf with
  /// checksums never do. A tail says nothing: where Linux made the root of a full leaf, the leaf's
  /// is still there.
  private static boolean looksLikeIndex(MemorySegment data, int logical) {
    return logical == 0 ? DxRoot.looksLikeRoot(data) : DxNode.looksLikeNode(data);
  }

  /// The entries of a block in any role.
  EntryCursor entries(Inode dir, Buffer buffer) {
    MemorySegment data = buffer.data();
    boolean tail =
        checksums.enabled()
            && DirTail.present(data)
            && !DxRoot.looksLikeRoot(data)
            && !DxNode.looksLikeNode(data);
    return new EntryCursor(dir, buffer, tail ? entriesEnd() : blockSize, encrypted(dir));
  }

  /// Its names are encrypted, so that they may be any bytes.
  boolean encrypted(Inode dir) {
    return encrypting && dir.hasFlag(RawInode.EXT4_ENCRYPT_FL);
  }

  private long blockNr(Inode dir, int logical) throws IOException {
    BlockMap.Run run = map.lookup(dir, logical, 1);
    if (run.hole() || run.unwritten()) {
      throw DirectoryDamage.of(dir, "logical block " + logical + " is a hole");
    }
    return run.blockNr();
  }

  private void check(Inode dir, Buffer buffer, Role role) throws FsException {
    MemorySegment data = buffer.data();
    if (role != Role.LEAF) {
      checkIndexBlock(dir, buffer, role);
    } else if (checksums.enabled() && !DirTail.present(data)) {
      throw DirectoryDamage.inBlock(dir, buffer.blockNr(), "the checksum's tail is missing");
    }
    if (buffer.verified()) {
      return;
    }
    if (checksums.enabled() && checksum(data, inodeSeed(dir), role) != stored(data, role)) {
      throw DirectoryDamage.inBlock(dir, buffer.blockNr(), "the checksum is wrong");
    }
    if (role != Role.LEAF && !DxEntries.ascending(data, role.base())) {
      throw DirectoryDamage.inBlock(dir, buffer.blockNr(), "the index is not in order");
    }
    buffer.verified(true);
  }

  private void checkIndexBlock(Inode dir, Buffer buffer, Role role) throws FsException {
    MemorySegment data = buffer.data();
    int limit;
    if (role == Role.ROOT) {
      checkRoot(dir, buffer);
      limit = DxRoot.limit(data, checksums.enabled());
    } else {
      if (!DxNode.looksLikeNode(data)) {
        throw DirectoryDamage.inBlock(dir, buffer.blockNr(), "it is not a node of the index");
      }
      limit = DxNode.limit(data, checksums.enabled());
    }
    int count = DxEntries.count(data, role.base());
    if (DxEntries.limit(data, role.base()) != limit || count < 1 || count > limit) {
      throw DirectoryDamage.at(
          dir,
          buffer.blockNr(),
          role.base(),
          "the index has " + count + " entries and room for " + DxEntries.limit(data, role.base()));
    }
  }

  private void checkRoot(Inode dir, Buffer buffer) throws FsException {
    MemorySegment data = buffer.data();
    if (!DxRoot.looksLikeRoot(data)) {
      throw DirectoryDamage.inBlock(dir, buffer.blockNr(), "it is not the root of an index");
    }
    if (!DxRoot.infoLengthValid(data)
        || !DirHash.known(DxRoot.hashVersion(data))
        || DxRoot.indirectLevels(data) > maxIndirectLevels()) {
      throw DirectoryDamage.inBlock(
          dir,
          buffer.blockNr(),
          "the root of the index has hash version "
              + DxRoot.hashVersion(data)
              + ", "
              + DxRoot.indirectLevels(data)
              + " indirect levels and an info length of "
              + DxRoot.infoLength(data));
    }
  }

  private int inodeSeed(Inode dir) {
    return checksums.inodeSeed(dir.ino(), RawInode.generation(dir.raw));
  }

  private int checksum(MemorySegment data, int inodeSeed, Role role) {
    if (role == Role.LEAF) {
      return checksums.directoryLeaf(data, inodeSeed, DirTail.offset(data));
    }
    return checksums.directoryIndex(
        data,
        inodeSeed,
        role.base(),
        DxEntries.count(data, role.base()),
        DxTail.offset(data, role.base()));
  }

  private static int stored(MemorySegment data, Role role) {
    return role == Role.LEAF ? DirTail.checksum(data) : DxTail.checksum(data, role.base());
  }

  /// The announced change of a block was made; its checksum is sealed at the commit.
  void dirty(Handle handle, Inode dir, Buffer buffer, Role role) throws IOException {
    handle.dirty(buffer, checksums.enabled() ? new ChecksumSealer(inodeSeed(dir), role) : null);
  }

  private final class ChecksumSealer implements Sealer {
    private final int inodeSeed;
    private final Role role;

    ChecksumSealer(int inodeSeed, Role role) {
      this.inodeSeed = inodeSeed;
      this.role = role;
    }

    @Override
    public int rank() {
      return 0;
    }

    @Override
    public void seal(Buffer buffer) {
      MemorySegment data = buffer.data();
      int checksum = checksum(data, inodeSeed, role);
      if (role == Role.LEAF) {
        DirTail.checksum(data, checksum);
      } else {
        DxTail.checksum(data, role.base(), checksum);
      }
    }
  }

  /// Makes a block one without entries.
  void initialiseLeaf(MemorySegment data) {
    DirEntry.putUnused(data, 0, entriesEnd());
    initialiseTail(data);
  }

  void initialiseTail(MemorySegment data) {
    if (checksums.enabled()) {
      DirTail.initialise(data);
    }
  }

  /// Credits for [#append] of up to `count` blocks, for each its place in the map and itself, and
  /// for giving all but the last back.
  int appendCredits(Inode dir, int count) {
    return (2 * count - 1) * map.allocateCredits(dir, 1) + count + 1;
  }

  /// Adds `count` zeroed blocks at the end of the directory, for which create access is given; all
  /// of them or, if that fails, none. The caller fills them, calls [#dirty], and closes them.
  List<Buffer> append(Handle handle, Inode dir, int count) throws IOException {
    long first = RawInode.size(dir.raw) / blockSize;
    long most = large ? (long) MAX_BLOCKS * blockSize : MAX_SMALL_SIZE_BYTES;
    if ((first + count) * blockSize > most) {
      throw new FsException(
          Errno.ENOSPC, "directory " + dir.ino() + " is as large as a directory can be");
    }
    List<Long> blockNrs = allocate(handle, dir, first, count);
    List<Buffer> appended = new ArrayList<>(count);
    for (long blockNr : blockNrs) {
      Buffer buffer = buffers.fresh(blockNr);
      appended.add(buffer);
      handle.createAccess(buffer);
    }
    RawInode.size(dir.raw, (first + count) * blockSize);
    inodes.update(handle, dir, true);
    return appended;
  }

  private List<Long> allocate(Handle handle, Inode dir, long first, int count) throws IOException {
    List<Long> blockNrs = new ArrayList<>(count);
    try {
      while (blockNrs.size() < count) {
        BlockMap.Run run =
            map.allocate(handle, dir, first + blockNrs.size(), count - blockNrs.size()).run();
        for (int i = 0; i < run.count(); i++) {
          blockNrs.add(run.blockNr() + i);
        }
      }
    } catch (FsException e) {
      if (!blockNrs.isEmpty() && !map.truncate(handle, dir, first, true)) {
        throw DirectoryDamage.of(dir, "blocks behind its end could not be given back");
      }
      throw e;
    }
    return blockNrs;
  }

  /// Frees all blocks of a directory that has a few at most.
  void giveBack(Handle handle, Inode dir) throws IOException {
    if (!map.truncate(handle, dir, 0, true)) {
      throw DirectoryDamage.of(dir, "its new blocks could not be given back");
    }
  }

  /// Stores the directory's inode, whose flags were changed.
  void updateInode(Handle handle, Inode dir) throws IOException {
    inodes.update(handle, dir, true);
  }

  static void closeAll(List<Buffer> appended) {
    appended.forEach(Buffer::close);
  }
}
