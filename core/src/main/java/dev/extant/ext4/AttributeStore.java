package dev.extant.ext4;

import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrBlock;
import dev.extant.ext4.format.XattrBody;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Where the extended attributes of an inode are: in the inode itself as long as there is room,
/// else in a block, else, with the feature ea_inode, the value in an inode of its own.
///
/// A change is prepared before there is a handle ([#place], [#prepare]) and then made within one
/// ([#apply]). The caller holds the inode's `lock`.
final class AttributeStore {
  /// The attributes in the inode itself and those in its block. Lists are not changed.
  record Placed(List<Xattr> body, List<Xattr> block) {
    static final Placed NONE = new Placed(List.of(), List.of());

    /// Null if there is none of that name.
    Xattr find(XattrKey key) {
      for (List<Xattr> list : List.of(body, block)) {
        for (Xattr xattr : list) {
          if (key.of(xattr)) {
            return xattr;
          }
        }
      }
      return null;
    }

    Placed without(XattrKey key) {
      return new Placed(without(body, key), without(block, key));
    }

    private static List<Xattr> without(List<Xattr> list, XattrKey key) {
      return list.stream().filter(xattr -> !key.of(xattr)).toList();
    }
  }

  /// A change of all attributes from `old` to `now`, with the inodes of values that it concerns.
  record Change(Placed old, Placed now, HeldInodes values) {
    boolean ofBlock() {
      return !old.block.equals(now.block);
    }

    /// What [#apply] needs besides the inode.
    int credits() {
      if (old.equals(now)) {
        return 0;
      }
      return Credits.SUPERBLOCK
          + (ofBlock() ? AttributeBlocks.CREDITS : 0)
          + values.count() * ValueInodes.CREDITS;
    }
  }

  private final Mount mount;
  private final AttributeBlocks blocks;
  private final ValueInodes values;
  private final boolean valuesInInodes;
  private final boolean wideBlockNumbers;

  AttributeStore(Mount mount, AttributeBlocks blocks) {
    this.mount = mount;
    this.blocks = blocks;
    this.values = new ValueInodes(mount);
    this.valuesInInodes = mount.features.has(Feature.EA_INODE);
    this.wideBlockNumbers = mount.features.has(Feature.BIT64);
  }

  /// A quick look: false if the inode has no attributes for sure.
  static boolean mayHaveAny(Inode inode) {
    return RawInode.fileAcl(inode.raw) != 0 || XattrBody.hasMagic(inode.raw);
  }

  /// EUCLEAN if they cannot be read.
  Placed load(Inode inode) throws IOException {
    List<Xattr> body = XattrBody.read(inode.raw, inode.ino());
    long blockNr = blockNr(inode);
    List<Xattr> block = blockNr == 0 ? List.of() : blocks.read(blockNr);
    if (!valuesInInodes) {
      for (List<Xattr> list : List.of(body, block)) {
        if (list.stream().anyMatch(xattr -> xattr.valueInum() != 0)) {
          throw new FsException(
              Errno.EUCLEAN,
              "inode "
                  + inode.ino()
                  + " has an attribute in an inode, without the feature ea_inode");
        }
      }
    }
    return new Placed(body, block);
  }

  /// The inode's block of attributes, 0 for none. Without the feature 64bit the upper half of the
  /// field means nothing.
  long blockNr(Inode inode) {
    long blockNr = RawInode.fileAcl(inode.raw);
    return wideBlockNumbers ? blockNr : blockNr & 0xFFFF_FFFFL;
  }

  /// Moves the inode's block of attributes. Needs [AttributeBlocks#CREDITS] and one for the inode.
  void move(Handle handle, Inode inode) throws IOException {
    RawInode.fileAcl(inode.raw, blocks.move(handle, inode, blockNr(inode)));
    mount.inodes.update(handle, inode, true);
  }

  byte[] value(Inode inode, Xattr xattr, HeldInodes held) throws IOException {
    return xattr.valueInum() == 0 ? xattr.value() : values.read(inode, xattr, held);
  }

  /// `old` with the attribute added or replaced, in an inode whose bytes are `raw`. ENOSPC if it
  /// does not fit. A value in an inode of its own is stored already, as `owner`'s, and in `held`.
  Placed place(
      Inode owner, MemorySegment raw, Placed old, XattrKey key, byte[] value, HeldInodes held)
      throws IOException {
    Placed placed = fit(raw, old, Xattr.of(key.index(), key.name(), value));
    if (placed == null && valuesInInodes && value.length > 0) {
      placed = fit(raw, old, reference(key, 1, value));
      if (placed != null) {
        Inode inode = values.store(owner, value, held);
        placed = fit(raw, old, reference(key, inode.ino(), value));
      }
    }
    if (placed == null) {
      throw new FsException(
          Errno.ENOSPC, "no room for " + value.length + " bytes of an extended attribute");
    }
    return placed;
  }

  private Xattr reference(XattrKey key, long valueInum, byte[] value) {
    int hash = mount.checksums.xattrValueHash(value);
    return Xattr.inInode(key.index(), key.name(), valueInum, value.length, hash);
  }

  private Placed fit(MemorySegment raw, Placed old, Xattr xattr) {
    XattrKey key = new XattrKey(xattr.nameIndex(), xattr.name());
    Placed others = old.without(key);
    List<Xattr> body = with(old.body, key, xattr);
    if (XattrBody.fits(raw, body)) {
      return new Placed(body, others.block);
    }
    List<Xattr> block = with(old.block, key, xattr);
    return XattrBlock.fits(mount.geometry.blockSizeBytes(), block)
        ? new Placed(others.body, block)
        : null;
  }

  /// With the attribute in the place of the one of its name, or at the end.
  private static List<Xattr> with(List<Xattr> list, XattrKey key, Xattr xattr) {
    List<Xattr> changed = new ArrayList<>(list.size() + 1);
    boolean replaced = false;
    for (Xattr there : list) {
      boolean same = key.of(there);
      changed.add(same ? xattr : there);
      replaced |= same;
    }
    if (!replaced) {
      changed.add(xattr);
    }
    return changed;
  }

  /// Opens what [#apply] needs. `held` has the inodes of new values.
  Change prepare(Placed old, Placed now, HeldInodes held) throws IOException {
    Change change = new Change(old, now, held);
    open(old.body, held);
    if (change.ofBlock()) {
      open(old.block, held);
      open(now.block, held);
    }
    return change;
  }

  private void open(List<Xattr> list, HeldInodes held) throws IOException {
    for (Xattr xattr : list) {
      if (xattr.valueInum() != 0) {
        values.open(xattr.valueInum(), held);
      }
    }
  }

  /// Makes the change, all but [InodeTable#update] of the inode. ENOSPC leaves everything as it
  /// was.
  void apply(Handle handle, Inode inode, Change change) throws IOException {
    Placed old = change.old;
    Placed now = change.now;
    if (old.equals(now)) {
      return;
    }
    Map<Long, Integer> references = new HashMap<>();
    long oldNr = blockNr(inode);
    if (change.ofBlock()) {
      AttributeBlocks.Outcome outcome = blocks.replace(handle, inode, oldNr, now.block);
      RawInode.fileAcl(inode.raw, outcome.blockNr());
      count(references, old.block, outcome.released() ? -1 : 0);
      count(references, now.block, outcome.written() ? 1 : 0);
    }
    if (!old.body.equals(now.body)) {
      XattrBody.write(inode.raw, now.body);
      count(references, old.body, -1);
      count(references, now.body, 1);
    }
    addBlocks(inode, occupied(now) - occupied(old));
    for (Map.Entry<Long, Integer> entry : references.entrySet()) {
      if (entry.getValue() != 0) {
        values.addReferences(handle, change.values.find(entry.getKey()), entry.getValue());
      }
    }
    if (now.body.size() + now.block.size() > 0) {
      announceFeature(handle);
    }
  }

  private static void count(Map<Long, Integer> references, List<Xattr> list, int each) {
    for (Xattr xattr : list) {
      if (xattr.valueInum() != 0) {
        references.merge(xattr.valueInum(), each, Integer::sum);
      }
    }
  }

  /// Blocks in i_blocks of the owner: its block of attributes, and values in inodes as if they were
  /// its own.
  private long occupied(Placed placed) {
    long clusters = placed.block.isEmpty() ? 0 : 1;
    for (List<Xattr> list : List.of(placed.body, placed.block)) {
      for (Xattr xattr : list) {
        if (xattr.valueInum() != 0) {
          clusters += clusters(xattr.valueSize());
        }
      }
    }
    return clusters * mount.geometry.blocksPerCluster();
  }

  private long clusters(long sizeBytes) {
    int blockSizeBytes = mount.geometry.blockSizeBytes();
    return mount.geometry.clusters((int) ((sizeBytes + blockSizeBytes - 1) / blockSizeBytes));
  }

  private void addBlocks(Inode inode, long count) {
    if (count == 0) {
      return;
    }
    inode.mapLock.writeLock().lock();
    try {
      BlockCount.add(inode.raw, count, mount.geometry.blockSizeBytes());
    } finally {
      inode.mapLock.writeLock().unlock();
    }
  }

  /// Sets ext_attr in the superblock, and the revision that has features, if that is missing.
  private void announceFeature(Handle handle) throws IOException {
    if (!Superblock.features(mount.superblock.bytes()).has(Feature.EXT_ATTR)) {
      mount.superblock.edit(handle, AttributeStore::announce);
    }
  }

  private static void announce(MemorySegment superblock) {
    if (Superblock.revision(superblock) == 0) {
      Superblock.inodeSize(superblock, RawInode.GOOD_OLD_INODE_SIZE);
      Superblock.firstInode(superblock, Superblock.GOOD_OLD_FIRST_INO);
      Superblock.revision(superblock, Superblock.REVISION_DYNAMIC);
    }
    Superblock.features(superblock, Superblock.features(superblock).with(Feature.EXT_ATTR));
  }

  /// For an inode that is being freed: gives values in inodes back, in as many handles as it takes,
  /// and takes them out of the inode and of a block that is its own.
  void releaseValues(Inode inode) throws IOException {
    if (!valuesInInodes || inode.hasFlag(RawInode.EXT4_EA_INODE_FL)) {
      return;
    }
    long blockNr = blockNr(inode);
    boolean ownBlock = blockNr != 0 && blocks.claim(blockNr);
    Placed all = load(inode);
    Placed left = ownBlock ? all : new Placed(all.body, List.of());
    for (Xattr xattr = anyInInode(left); xattr != null; xattr = anyInInode(left)) {
      XattrKey key = new XattrKey(xattr.nameIndex(), xattr.name());
      Placed fewer = ownBlock ? left.without(key) : new Placed(left.without(key).body, List.of());
      releaseValue(inode, xattr, left, fewer);
      left = fewer;
    }
  }

  private static Xattr anyInInode(Placed placed) {
    for (List<Xattr> list : List.of(placed.body, placed.block)) {
      for (Xattr xattr : list) {
        if (xattr.valueInum() != 0) {
          return xattr;
        }
      }
    }
    return null;
  }

  private void releaseValue(Inode inode, Xattr xattr, Placed old, Placed now) throws IOException {
    try (HeldInodes held = new HeldInodes()) {
      values.open(xattr.valueInum(), held);
      Change change = new Change(old, now, held);
      try (Handle handle = mount.start(Credits.INODE + change.credits())) {
        apply(handle, inode, change);
        mount.inodes.update(handle, inode, true);
      }
    }
  }

  /// For an inode that is being freed: leaves its block. Needs [AttributeBlocks#CREDITS].
  void dropBlock(Handle handle, Inode inode) throws IOException {
    long blockNr = blockNr(inode);
    if (blockNr != 0) {
      blocks.drop(handle, blockNr);
      RawInode.fileAcl(inode.raw, 0);
    }
  }
}
