package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.cache.BufferCache;
import dev.extant.ext4.DirectoryBlocks.Role;
import dev.extant.ext4.format.Checksums;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.Feature;
import dev.extant.ext4.format.Features;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.Errno;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The entries of directories: looking them up, listing, and changing them.
///
/// The caller holds the directory's `lock`, shared for looking up and listing, exclusively for
/// changes. Changes are made within the caller's handle; one that throws ENOSPC has changed
/// nothing.
///
/// A directory whose index is damaged can still be read, by going through all of its blocks; the
/// damage is reported. It cannot be changed (EUCLEAN).
final class Directories {
  /// Credits for freeing the block of a directory that could not leave its inode after all.
  private static final int GIVE_BACK_CREDITS = 8;

  private final DirectoryBlocks blocks;
  private final InlineDirectory inline;
  private final LinearDirectory linear;
  private final IndexedDirectory indexed;
  private final CorruptionHandler corruption;
  private final DirHash defaultHash;
  private final boolean indexing;
  private final boolean inlining;
  private final boolean typed;
  private final boolean folding;

  /// Directories whose damaged index was reported.
  private final Set<Long> reported = ConcurrentHashMap.newKeySet();

  /// `defaultHash` has the file system's seed, and is the hash of new indexes.
  Directories(
      BufferCache buffers,
      BlockMap map,
      InodeTable inodes,
      Checksums checksums,
      Features features,
      DirHash defaultHash,
      CorruptionHandler corruption) {
    this.indexing = features.has(Feature.DIR_INDEX);
    this.inlining = features.has(Feature.INLINE_DATA);
    this.typed = features.has(Feature.FILETYPE);
    this.folding = features.has(Feature.CASEFOLD);
    this.defaultHash = defaultHash;
    this.inline = new InlineDirectory(inodes, features.has(Feature.EXTENT), typed);
    this.blocks = new DirectoryBlocks(buffers, map, inodes, checksums, features);
    this.linear = new LinearDirectory(blocks, typed);
    this.indexed = new IndexedDirectory(blocks, defaultHash, typed);
    this.corruption = corruption;
  }

  /// The entry of that name, or null. `.` and `..` are found like any other. Names of an encrypted
  /// directory are given as [EncryptedNames] shows them, those of one that folds case as they are
  /// on disk.
  DirectoryEntry lookup(Inode dir, FileName name) throws IOException {
    checkLength(name);
    if (!blocks.encrypted(dir) || isDots(name)) {
      return lookupStored(dir, name);
    }
    return switch (EncryptedNames.stored(name)) {
      case EncryptedNames.Stored.None() -> null;
      case EncryptedNames.Stored.Whole(FileName stored) -> lookupStored(dir, stored);
      case EncryptedNames.Stored.Shortened stored -> lookupLong(dir, stored);
    };
  }

  private DirectoryEntry lookupLong(Inode dir, EncryptedNames.Stored.Shortened wanted)
      throws IOException {
    List<DirectoryEntry> found = new ArrayList<>(1);
    linear.read(
        dir,
        0,
        (stored, ino, type, next) -> {
          if (wanted.matches(stored)) {
            found.add(entry(ino, type));
          }
          return found.isEmpty();
        });
    return found.isEmpty() ? null : found.getFirst();
  }

  private DirectoryEntry lookupStored(Inode dir, FileName name) throws IOException {
    if (InlineDirectory.covers(dir)) {
      return inline.lookup(dir, name);
    }
    if (!hasIndex(dir)) {
      return linear.lookup(dir, name);
    }
    IndexPath path;
    try {
      path = indexed.seek(dir, name);
    } catch (FsException damage) {
      report(dir, damage);
      return linear.lookupInDamaged(dir, name);
    }
    try (path) {
      return isDots(name) ? indexed.lookupDots(path, name) : indexed.lookup(path, name);
    }
  }

  /// Shows the entries from `cookie` on, first `.` and `..`; see
  /// [dev.extant.vfs.Volume#readDirectory].
  void read(Inode dir, long cookie, DirectoryVisitor visitor) throws IOException {
    if (cookie < 0) {
      throw new FsException(Errno.EINVAL, "no listing has the position " + cookie);
    }
    if (!blocks.encrypted(dir)) {
      readStored(dir, cookie, visitor);
      return;
    }
    DirHash hash = listingHash(dir);
    readStored(
        dir,
        cookie,
        (name, ino, type, next) -> {
          boolean plain = isDots(name);
          long hashes = plain || hash == null ? 0 : hash.of(name);
          FileName shown = plain ? name : EncryptedNames.shown(name.bytes(), hashes);
          return visitor.entry(shown, ino, type, next);
        });
  }

  /// The hash by which the directory is listed, or null.
  private DirHash listingHash(Inode dir) throws IOException {
    if (hasIndex(dir)) {
      return indexed.hash(dir);
    }
    return indexing && blocks.count(dir) == 1 ? defaultHash : null;
  }

  private void readStored(Inode dir, long cookie, DirectoryVisitor visitor) throws IOException {
    if (InlineDirectory.covers(dir)) {
      readInline(dir, cookie, visitor);
      return;
    }
    if (!hasIndex(dir)) {
      if (indexing && blocks.count(dir) == 1) {
        indexed.readSingleBlock(dir, cookie, visitor);
      } else {
        linear.read(dir, cookie, visitor);
      }
      return;
    }
    IndexPath path;
    try {
      path = indexed.openAt(dir, cookie);
    } catch (FsException damage) {
      report(dir, damage);
      // A cookie beyond the directory's size comes from a listing that still used the index.
      if (cookie > RawInode.size(dir.raw)) {
        throw damage;
      }
      linear.read(dir, cookie, visitor);
      return;
    }
    try (path) {
      indexed.read(path, cookie, visitor);
    }
  }

  private void readInline(Inode dir, long cookie, DirectoryVisitor visitor) throws IOException {
    if (indexing) {
      inline.read(dir, defaultHash, cookie, visitor);
    } else {
      inline.read(dir, cookie, visitor);
    }
  }

  private void report(Inode dir, FsException damage) throws FsException {
    if (damage.errno() != Errno.EUCLEAN) {
      throw damage;
    }
    if (reported.add(dir.ino())) {
      corruption.corrupt(damage);
    }
  }

  /// True if there are no names but `.` and `..`.
  boolean isEmpty(Inode dir) throws IOException {
    return InlineDirectory.covers(dir) ? inline.isEmpty(dir) : linear.isEmpty(dir);
  }

  /// Credits that [#add] may need.
  int addCredits(Inode dir) {
    return InlineDirectory.covers(dir)
        ? growCredits(dir) + initialiseCredits() + GIVE_BACK_CREDITS
        : growCredits(dir);
  }

  private int growCredits(Inode dir) {
    if (!indexing) {
      return blocks.appendCredits(dir, 1) + 1;
    }
    // An index gains a leaf and, at most, a node at each level or, when it comes into being, two
    // leaves.
    int levels = blocks.maxIndirectLevels();
    return blocks.appendCredits(dir, 1 + levels) + 2 + levels;
  }

  /// Adds an entry for a name that is not there yet.
  void add(Handle handle, Inode dir, FileName name, long ino, FileType type) throws IOException {
    checkLength(name);
    DirectoryEntry entry = entry(ino, type);
    if (!InlineDirectory.covers(dir)) {
      addInBlocks(handle, dir, name, entry);
    } else if (!inline.add(handle, dir, name, entry)) {
      leaveInode(handle, dir, name, entry);
    }
  }

  /// The directory moves from its inode to a block, and gets the entry.
  private void leaveInode(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    InlineDirectory.Contents contents = inline.takeOut(dir);
    try {
      List<Buffer> appended = blocks.append(handle, dir, 1);
      try {
        Buffer first = appended.getFirst();
        blocks.initialiseTail(first.data());
        inline.fill(dir, contents, first.data(), blocks.entriesEnd());
        blocks.dirty(handle, dir, first, Role.LEAF);
      } finally {
        DirectoryBlocks.closeAll(appended);
      }
      addInBlocks(handle, dir, name, entry);
    } catch (FsException e) {
      blocks.giveBack(handle, dir);
      inline.putBack(handle, dir, contents);
      throw e;
    }
  }

  private void addInBlocks(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    if (hasIndex(dir)) {
      indexed.add(handle, dir, name, entry);
      return;
    }
    dropIndexFlag(handle, dir);
    if (!linear.addWhereRoom(handle, dir, name, entry)) {
      if (indexing && blocks.count(dir) == 1) {
        indexed.addToSingleBlock(handle, dir, name, entry);
      } else {
        linear.addInNewBlock(handle, dir, name, entry);
      }
    }
  }

  /// Without the feature dir_index nobody keeps an index up to date.
  private void dropIndexFlag(Handle handle, Inode dir) throws IOException {
    if (dir.hasFlag(RawInode.EXT4_INDEX_FL)) {
      RawInode.flags(dir.raw, RawInode.flags(dir.raw) & ~RawInode.EXT4_INDEX_FL);
      blocks.updateInode(handle, dir);
    }
  }

  /// Removes the entry of a name. Needs 1 credit.
  void remove(Handle handle, Inode dir, FileName name) throws IOException {
    if (InlineDirectory.covers(dir)) {
      if (!inline.remove(handle, dir, name)) {
        throw absent(dir, name);
      }
      return;
    }
    try (EntryPlace place = find(dir, name)) {
      handle.writeAccess(place.buffer());
      place.slot().remove();
      blocks.dirty(handle, dir, place.buffer(), Role.LEAF);
    }
  }

  /// Points a name to another inode. Needs 1 credit.
  void replace(Handle handle, Inode dir, FileName name, long ino, FileType type)
      throws IOException {
    if (InlineDirectory.covers(dir)) {
      if (!inline.replace(handle, dir, name, entry(ino, type))) {
        throw absent(dir, name);
      }
      return;
    }
    try (EntryPlace place = find(dir, name)) {
      handle.writeAccess(place.buffer());
      place.slot().replace(entry(ino, type));
      blocks.dirty(handle, dir, place.buffer(), Role.LEAF);
    }
  }

  private EntryPlace find(Inode dir, FileName name) throws IOException {
    EntryPlace place;
    if (!hasIndex(dir)) {
      place = linear.find(dir, name);
    } else {
      try (IndexPath path = indexed.seek(dir, name)) {
        place = indexed.find(path, name);
      }
    }
    if (place == null) {
      throw absent(dir, name);
    }
    return place;
  }

  private static FsException absent(Inode dir, FileName name) {
    return new FsException(
        Errno.ENOENT, "no such file or directory in directory " + dir.ino() + ": " + name);
  }

  /// Points `..` to another directory. Needs 1 credit.
  void setParent(Handle handle, Inode dir, long parentIno) throws IOException {
    dir.parentIno = 0;
    if (InlineDirectory.covers(dir)) {
      inline.setParent(handle, dir, parentIno);
    } else if (hasIndex(dir)) {
      indexed.setParent(handle, dir, entry(parentIno, FileType.DIRECTORY));
    } else {
      replace(handle, dir, FileName.of(".."), parentIno, FileType.DIRECTORY);
    }
  }

  /// EUCLEAN if `child`, a directory that has a name in `dir`, has another directory as its `..`.
  /// So nobody who goes down from the root comes to a directory twice. One whose `..` cannot be
  /// read passes, since it cannot be listed either. The caller holds the lock of `dir`.
  void checkParent(Inode dir, Inode child) throws IOException {
    if (child.parentIno == dir.ino() && child != dir) {
      return;
    }
    child.lock.readLock().lock();
    try {
      DirectoryEntry parent;
      try {
        parent = lookup(child, FileName.of(".."));
      } catch (FsException e) {
        if (e.errno() != Errno.EUCLEAN || child == dir) {
          throw e;
        }
        return;
      }
      if (parent == null || parent.ino() != dir.ino() || child == dir) {
        throw DirectoryDamage.of(
            child,
            "it has a name in directory "
                + dir.ino()
                + ", but its .. is "
                + (parent == null ? "missing" : parent.ino()));
      }
      child.parentIno = dir.ino();
    } finally {
      child.lock.readLock().unlock();
    }
  }

  /// Credits for [#initialise], whose directory has no blocks yet: the block, its bitmap and
  /// descriptor, the inode.
  int initialiseCredits() {
    return 4;
  }

  /// Makes a new directory without blocks an empty one: in its inode or, without the feature
  /// inline_data, with a block that has `.` and `..`.
  void initialise(Handle handle, Inode dir, long parentIno) throws IOException {
    if (inlining && inline.initialise(handle, dir, parentIno)) {
      return;
    }
    List<Buffer> appended = blocks.append(handle, dir, 1);
    try {
      Buffer first = appended.getFirst();
      blocks.initialiseLeaf(first.data());
      EntrySlot all = new EntrySlot(first.data(), 0, -1);
      all.insert(FileName.of("."), entry(dir.ino(), FileType.DIRECTORY));
      all.insert(FileName.of(".."), entry(parentIno, FileType.DIRECTORY));
      blocks.dirty(handle, dir, first, Role.LEAF);
    } finally {
      DirectoryBlocks.closeAll(appended);
    }
  }

  /// The index of a directory that folds case is over folded names: it is left aside. Such a file
  /// system is only read.
  private boolean hasIndex(Inode dir) {
    return indexing
        && dir.hasFlag(RawInode.EXT4_INDEX_FL)
        && !(folding && dir.hasFlag(RawInode.EXT4_CASEFOLD_FL));
  }

  private static boolean isDots(FileName name) {
    return name.isDot() || name.isDotDot();
  }

  private DirectoryEntry entry(long ino, FileType type) {
    return new DirectoryEntry(ino, typed ? type.entryCode() : 0);
  }

  private static void checkLength(FileName name) throws FsException {
    if (name.length() > DirEntry.MAX_NAME_LENGTH) {
      throw new FsException(
          Errno.ENAMETOOLONG,
          "a name of " + name.length() + " bytes is longer than " + DirEntry.MAX_NAME_LENGTH);
    }
  }
}
