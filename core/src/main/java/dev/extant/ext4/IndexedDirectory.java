package dev.extant.ext4;

import dev.extant.cache.Buffer;
import dev.extant.ext4.DirectoryBlocks.Role;
import dev.extant.ext4.format.DirEntry;
import dev.extant.ext4.format.DirHash;
import dev.extant.ext4.format.DxEntries;
import dev.extant.ext4.format.DxRoot;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.FileName;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.List;

/// Directories with an index over the hashes of their names (htree), and those of a single block
/// that get one when the block is full.
///
/// Both are listed in the order of hashes, so that a listing that is under way goes on rightly when
/// the index comes into being.
final class IndexedDirectory {
  private final DirectoryBlocks blocks;
  private final DirHash defaultHash;
  private final boolean typed;

  /// `defaultHash` has the file system's seed, and is the hash of new indexes.
  IndexedDirectory(DirectoryBlocks blocks, DirHash defaultHash, boolean typed) {
    this.blocks = blocks;
    this.defaultHash = defaultHash;
    this.typed = typed;
  }

  /// Opens the index at the first leaf that may hold the name. EUCLEAN if the index is damaged.
  IndexPath seek(Inode dir, FileName name) throws IOException {
    return seek(dir, hash -> DirHash.major(hash.of(name)));
  }

  /// The hash of the directory's index. EUCLEAN if the index is damaged.
  DirHash hash(Inode dir) throws IOException {
    try (IndexPath path = new IndexPath(blocks, dir)) {
      return path.hash(defaultHash);
    }
  }

  private interface Target {
    long major(DirHash hash);
  }

  private IndexPath seek(Inode dir, Target target) throws IOException {
    IndexPath path = new IndexPath(blocks, dir);
    try {
      path.seek(target.major(path.hash(defaultHash)));
      path.leaf();
      return path;
    } catch (IOException e) {
      path.close();
      throw e;
    }
  }

  /// The entry of a name that is not `.` or `..`, from a path that [#seek] gave; null if absent.
  DirectoryEntry lookup(IndexPath path, FileName name) throws IOException {
    try (EntryPlace place = find(path, name)) {
      return place == null ? null : place.slot().entry(typed);
    }
  }

  /// The place of a name's entry, or null. Goes on in the next leaf as long as it may hold names
  /// with the same hash.
  EntryPlace find(IndexPath path, FileName name) throws IOException {
    long major = DirHash.major(path.hash(defaultHash).of(name));
    while (true) {
      Buffer leaf = path.readLeaf();
      boolean found = false;
      try {
        EntryCursor cursor = blocks.entries(path.dir, leaf);
        found = cursor.find(name);
        if (found) {
          return new EntryPlace(leaf, cursor.slot());
        }
      } finally {
        if (!found) {
          leaf.close();
        }
      }
      if (!path.continues(major)) {
        return null;
      }
      path.advance();
    }
  }

  /// `.` or `..`, which the root has.
  DirectoryEntry lookupDots(IndexPath path, FileName name) {
    return rootEntry(path, name.isDot() ? DxRoot.DOT : DxRoot.DOT_DOT);
  }

  private DirectoryEntry rootEntry(IndexPath path, int offset) {
    MemorySegment root = path.root().data();
    return new DirectoryEntry(
        DirEntry.ino(root, offset), typed ? DirEntry.typeCode(root, offset) : 0);
  }

  void setParent(Handle handle, Inode dir, DirectoryEntry parent) throws IOException {
    try (Buffer root = blocks.read(dir, 0, Role.ROOT)) {
      handle.writeAccess(root);
      DirEntry.ino(root.data(), DxRoot.DOT_DOT, parent.ino());
      DirEntry.typeCode(root.data(), DxRoot.DOT_DOT, parent.typeCode());
      blocks.dirty(handle, dir, root, Role.ROOT);
    }
  }

  void add(Handle handle, Inode dir, FileName name, DirectoryEntry entry) throws IOException {
    try (IndexPath path = seek(dir, name);
        Buffer leaf = path.readLeaf()) {
      EntryCursor cursor = blocks.entries(dir, leaf);
      if (cursor.findRoom(DirEntry.recordLength(name.length()))) {
        handle.writeAccess(leaf);
        cursor.slot().insert(name, entry);
        blocks.dirty(handle, dir, leaf, Role.LEAF);
        return;
      }
      HashedEntries entries = new HashedEntries(path.hash(defaultHash), blocks.entries(dir, leaf));
      entries.add(name, entry);
      entries.sort();
      if (entries.totalLength() <= blocks.entriesEnd()) {
        handle.writeAccess(leaf);
        writeLeaf(handle, dir, leaf, entries, 0, entries.count());
      } else {
        split(handle, path, leaf, entries);
      }
    }
  }

  private void split(Handle handle, IndexPath path, Buffer leaf, HashedEntries entries)
      throws IOException {
    Inode dir = path.dir;
    IndexEditor editor = new IndexEditor(handle, path);
    int leafLogical = blocks.count(dir);
    List<Buffer> appended = blocks.append(handle, dir, 1 + editor.nodesNeeded());
    try {
      Iterator<Buffer> fresh = appended.iterator();
      int middle = entries.middle();
      handle.writeAccess(leaf);
      writeLeaf(handle, dir, leaf, entries, 0, middle);
      writeLeaf(handle, dir, fresh.next(), entries, middle, entries.count());
      editor.insert(entries.bound(middle), leafLogical, fresh, leafLogical + 1);
    } finally {
      DirectoryBlocks.closeAll(appended);
    }
  }

  private void writeLeaf(
      Handle handle, Inode dir, Buffer leaf, HashedEntries entries, int from, int to)
      throws IOException {
    leaf.data().fill((byte) 0);
    entries.write(leaf.data(), 0, blocks.entriesEnd(), from, to);
    blocks.initialiseTail(leaf.data());
    blocks.dirty(handle, dir, leaf, Role.LEAF);
  }

  /// Adds an entry to a directory of one block without an index, which it gets if the block is
  /// full.
  void addToSingleBlock(Handle handle, Inode dir, FileName name, DirectoryEntry entry)
      throws IOException {
    try (Buffer first = blocks.read(dir, 0, Role.LEAF)) {
      HashedEntries entries = new HashedEntries(defaultHash, blocks.entries(dir, first));
      if (!entries.hasDots()) {
        throw DirectoryDamage.inBlock(dir, first.blockNr(), "the entries . and .. are missing");
      }
      entries.add(name, entry);
      entries.sort();
      if (entries.totalLength() + 2 * DirEntry.MIN_RECORD_LENGTH <= blocks.entriesEnd()) {
        handle.writeAccess(first);
        first.data().fill((byte) 0);
        int offset = entries.writeDots(first.data());
        entries.write(first.data(), offset, blocks.entriesEnd(), 0, entries.count());
        blocks.initialiseTail(first.data());
        blocks.dirty(handle, dir, first, Role.LEAF);
      } else {
        makeIndex(handle, dir, first, entries);
      }
    }
  }

  private void makeIndex(Handle handle, Inode dir, Buffer first, HashedEntries entries)
      throws IOException {
    boolean oneLeaf = entries.totalLength() <= blocks.entriesEnd();
    List<Buffer> leaves = blocks.append(handle, dir, oneLeaf ? 1 : 2);
    try {
      int middle = oneLeaf ? entries.count() : entries.middle();
      handle.writeAccess(first);
      MemorySegment root = first.data();
      entries.writeDots(root);
      DxRoot.initialise(root, defaultHash.version(), blocks.checksummed());
      writeLeaf(handle, dir, leaves.getFirst(), entries, 0, middle);
      if (!oneLeaf) {
        writeLeaf(handle, dir, leaves.getLast(), entries, middle, entries.count());
        DxEntries.insert(root, DxRoot.ENTRIES, 1, entries.bound(middle), 2);
      }
      blocks.dirty(handle, dir, first, Role.ROOT);
      RawInode.flags(dir.raw, RawInode.flags(dir.raw) | RawInode.EXT4_INDEX_FL);
      blocks.updateInode(handle, dir);
    } finally {
      DirectoryBlocks.closeAll(leaves);
    }
  }

  /// Lists the directory from a cookie on, from a path of [#openAt].
  void read(IndexPath path, long cookie, DirectoryVisitor visitor) throws IOException {
    DirHash hash = path.hash(defaultHash);
    HashOrderListing listing = new HashOrderListing(path.dir, cookie, visitor);
    listing.showDot(rootEntry(path, DxRoot.DOT));
    listing.showDotDot(rootEntry(path, DxRoot.DOT_DOT));
    while (!listing.ended()) {
      long next = path.nextBound();
      readLeaf(path, hash, listing, next);
      if (next == IndexPath.END) {
        listing.showAll();
        return;
      }
      if ((next & 1) == 0) {
        listing.showAll();
      } else {
        listing.showBelow(next & ~1L);
      }
      if (!listing.ended()) {
        path.advance();
      }
    }
  }

  /// Opens the index where a listing from `cookie` begins. EUCLEAN if the index is damaged.
  IndexPath openAt(Inode dir, long cookie) throws IOException {
    return seek(dir, hash -> HashOrderListing.major(cookie));
  }

  private void readLeaf(IndexPath path, DirHash hash, HashOrderListing listing, long next)
      throws IOException {
    long lowest = path.bound() & ~1L;
    long highest = next == IndexPath.END ? Long.MAX_VALUE : (next & 1) == 0 ? next - 1 : next & ~1L;
    try (Buffer leaf = path.readLeaf()) {
      EntryCursor cursor = blocks.entries(path.dir, leaf);
      while (cursor.next()) {
        if (cursor.used()) {
          byte[] name = cursor.name();
          long hashes = hash.of(name);
          long major = DirHash.major(hashes);
          if (major < lowest || major > highest) {
            throw cursor.damage("a name's hash does not belong into this leaf of the index");
          }
          listing.add(hashes, name, cursor.entry(typed));
        }
      }
    }
  }

  /// Lists a directory of one block without an index from a cookie on.
  void readSingleBlock(Inode dir, long cookie, DirectoryVisitor visitor) throws IOException {
    HashOrderListing listing = new HashOrderListing(dir, cookie, visitor);
    DirectoryEntry self = null;
    DirectoryEntry parent = null;
    try (Buffer first = blocks.read(dir, 0, Role.LEAF)) {
      EntryCursor cursor = blocks.entries(dir, first);
      while (cursor.next()) {
        if (!cursor.used()) {
          continue;
        }
        DirectoryEntry entry = cursor.entry(typed);
        if (!cursor.isDots()) {
          byte[] name = cursor.name();
          listing.add(defaultHash.of(name), name, entry);
        } else if (cursor.name().length == 1) {
          self = entry;
        } else {
          parent = entry;
        }
      }
      if (self == null || parent == null) {
        throw DirectoryDamage.inBlock(dir, first.blockNr(), "the entries . and .. are missing");
      }
    }
    listing.showDot(self);
    listing.showDotDot(parent);
    if (!listing.ended()) {
      listing.showAll();
    }
  }
}
