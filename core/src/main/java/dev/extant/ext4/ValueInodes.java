package dev.extant.ext4;

import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.ValueInode;
import dev.extant.ext4.format.Xattr;
import dev.extant.ext4.format.XattrBody;
import dev.extant.ext4.format.XattrEntry;
import dev.extant.journal.Handle;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// Values of extended attributes that are in inodes of their own (feature ea_inode). Such an inode
/// has no name; attributes with the same value share it, and it counts them.
///
/// States: new or left (no links, an orphan: its last reference frees it, and so does a mount after
/// a crash), used (one link, as many references as attributes have it).
///
/// These inodes have no attributes themselves, and no other `lock` is taken under theirs: so it may
/// be taken while that of the owner, whose attribute it is, is held.
final class ValueInodes {
  /// How many are remembered for sharing.
  private static final int MAX_KNOWN = 1024;

  /// One inode that gets or loses references.
  static final int CREDITS = Credits.INODE + Credits.ORPHAN;

  private final Mount mount;

  /// Guards links and references of these inodes. Taken within handles, before the orphan list's.
  private final ReentrantLock lock = new ReentrantLock();

  /// An inode whose value has that checksum, those asked for longest ago first. It may be gone.
  /// Guarded by `lock`.
  private final Map<Integer, Long> known = new LinkedHashMap<>(16, 0.75f, true);

  ValueInodes(Mount mount) {
    this.mount = mount;
  }

  /// The inode of a value. EUCLEAN if it is none.
  Inode open(long ino, HeldInodes held) throws IOException {
    Inode there = held.find(ino);
    if (there != null) {
      return there;
    }
    Inode inode = held.add(mount.inodes.get(ino));
    boolean holdsValue =
        inode.type() == FileType.REGULAR
            && inode.hasFlag(RawInode.EXT4_EA_INODE_FL)
            && RawInode.fileAcl(inode.raw) == 0
            && !XattrBody.hasMagic(inode.raw);
    if (!holdsValue) {
      throw new FsException(
          Errno.EUCLEAN, "inode " + ino + " does not hold the value of an extended attribute");
    }
    return inode;
  }

  /// The value of an attribute of `owner`, whose `lock` is held. EUCLEAN if it is not as long as
  /// the attribute says or one of the checksums is wrong.
  byte[] read(Inode owner, Xattr xattr, HeldInodes held) throws IOException {
    Inode inode = open(xattr.valueInum(), held);
    byte[] value = content(inode);
    if (value == null || value.length != xattr.valueSize()) {
      throw corrupt(owner, xattr, "is not " + xattr.valueSize() + " bytes long");
    }
    int hash = mount.checksums.xattrValueHash(value);
    if (ValueInode.hash(inode.raw) == hash && XattrEntry.hashValid(xattr, hash)) {
      remember(hash, inode.ino());
    } else if (!ValueInode.ofLustre(inode.raw, owner.raw, owner.ino())) {
      throw corrupt(owner, xattr, "has a wrong checksum");
    }
    return value;
  }

  private static FsException corrupt(Inode owner, Xattr xattr, String why) {
    return new FsException(
        Errno.EUCLEAN,
        "inode "
            + owner.ino()
            + ": the value of an extended attribute in inode "
            + xattr.valueInum()
            + " "
            + why);
  }

  /// Null if it is too long for a value.
  private byte[] content(Inode inode) throws IOException {
    long size = RawInode.size(inode.raw);
    if (size > ExtendedAttributes.MAX_VALUE_BYTES) {
      return null;
    }
    byte[] value = new byte[(int) size];
    mount.files.read(inode, 0, MemorySegment.ofArray(value));
    return value;
  }

  /// An inode with that value: one that is in use or, until [#addReferences], an orphan. `owner`
  /// says who it belongs to and where it goes. The caller holds no handle.
  Inode store(Inode owner, byte[] value, HeldInodes held) throws IOException {
    int hash = mount.checksums.xattrValueHash(value);
    Inode shared = find(hash, value, held);
    if (shared != null) {
      return shared;
    }
    int credits = Credits.ALLOCATE_INODE + Credits.ORPHAN + 2 * Credits.INODE;
    Inode inode = held.add(mount.retryWhenFull(credits, handle -> make(handle, owner, hash)));
    if (mount.files.write(inode, 0, MemorySegment.ofArray(value)) < value.length) {
      throw new FsException(
          Errno.ENOSPC, "no room for " + value.length + " bytes of an extended attribute");
    }
    remember(hash, inode.ino());
    return inode;
  }

  private Inode make(Handle handle, Inode owner, int hash) throws IOException {
    long ino = mount.inodeAllocator.allocate(handle, owner, FileType.REGULAR.modeBits());
    int generation = mount.inodeAllocator.nextGeneration();
    MemorySegment raw = mount.newInodes.prepareValue(owner, generation, mount.now());
    ValueInode.hash(raw, hash);
    Inode inode = mount.inodes.create(handle, ino, raw);
    mount.orphans.add(handle, inode);
    return inode;
  }

  private void remember(int hash, long ino) {
    lock.lock();
    try {
      known.put(hash, ino);
      if (known.size() > MAX_KNOWN) {
        known.remove(known.keySet().iterator().next());
      }
    } finally {
      lock.unlock();
    }
  }

  private Inode find(int hash, byte[] value, HeldInodes held) throws IOException {
    Long ino = known(hash);
    if (ino == null) {
      return null;
    }
    Inode inode;
    try {
      inode = open(ino, held);
    } catch (FsException e) {
      // It is gone, and its number may be another file's.
      return null;
    }
    boolean same = ValueInode.hash(inode.raw) == hash && Arrays.equals(content(inode), value);
    return same ? inode : null;
  }

  private Long known(int hash) {
    lock.lock();
    try {
      return known.get(hash);
    } finally {
      lock.unlock();
    }
  }

  /// So many attributes more (or, negative, fewer) have the value. The first makes it a used inode,
  /// the last an orphan. Needs [#CREDITS].
  void addReferences(Handle handle, Inode inode, int count) throws IOException {
    lock.lock();
    try {
      MemorySegment raw = inode.raw;
      boolean used = RawInode.linksCount(raw) > 0;
      long references = (used ? ValueInode.references(raw) : 0) + count;
      if (references < 0) {
        throw new FsException(
            Errno.EUCLEAN,
            "inode " + inode.ino() + " is corrupt: more attributes have its value than it counts");
      }
      ValueInode.references(raw, references);
      RawInode.linksCount(raw, references > 0 ? 1 : 0);
      if (references == 0) {
        mount.orphans.add(handle, inode);
      } else if (!used) {
        mount.orphans.remove(handle, inode);
      }
      mount.inodes.update(handle, inode, true);
    } finally {
      lock.unlock();
    }
  }
}
