package dev.extant.ext4;

import dev.extant.ext4.format.DirHash;
import dev.extant.util.Crc32c;
import dev.extant.vfs.DirectoryVisitor;
import dev.extant.vfs.FileName;
import dev.extant.vfs.FileType;
import dev.extant.vfs.FsException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Shows the entries of a directory in the order of their hashes, from a cookie on.
///
/// An entry's *key* is a function of its name alone: 31 bits of major hash, 24 bits of minor hash
/// (or, where that is 0 as in legacy hashes, of a checksum), and 8 bits of 0. In their place comes
/// the entry's rank, by name, among those with the same key; with more than 256 the directory
/// cannot be listed (EUCLEAN). So the order holds while names come and go and leaves are split,
/// except among names of one key.
///
/// Cookies: 0 begins with `.`, 1 with `..`, and `FIRST + k` with the first entry whose key and rank
/// are not below k.
///
/// Entries are given in leaf by leaf; those with the last hash of a leaf wait if the next leaf may
/// have more of them.
final class HashOrderListing {
  private static final long FIRST = 2;
  private static final int RANKS = 1 << 8;

  private record Item(long key, FileName name, DirectoryEntry entry) {}

  private final Inode dir;
  private final long cookie;
  private final long start;
  private final DirectoryVisitor visitor;
  private final List<Item> waiting = new ArrayList<>();
  private boolean ended;

  HashOrderListing(Inode dir, long cookie, DirectoryVisitor visitor) {
    this.dir = dir;
    this.cookie = cookie;
    this.start = start(cookie);
    this.visitor = visitor;
  }

  /// The lowest major hash that a listing from `cookie` on wants.
  static long major(long cookie) {
    return start(cookie) >>> 31 & ~1L;
  }

  private static long start(long cookie) {
    return Math.max(0, cookie - FIRST);
  }

  /// True if the visitor wants no more.
  boolean ended() {
    return ended;
  }

  void showDot(DirectoryEntry self) {
    if (cookie < 1) {
      show(FileName.of("."), self, 1);
    }
  }

  void showDotDot(DirectoryEntry parent) {
    if (cookie < FIRST && !ended) {
      show(FileName.of(".."), parent, FIRST);
    }
  }

  /// Takes an entry in. `hash` is that of its name: see [DirHash].
  void add(long hash, byte[] name, DirectoryEntry entry) {
    long minor = DirHash.minor(hash);
    if (minor == 0) {
      minor = Integer.toUnsignedLong(Crc32c.update(~0, name));
    }
    long key = DirHash.major(hash) << 31 | minor & -RANKS;
    if (key >= (start & -RANKS)) {
      waiting.add(new Item(key, FileName.of(name), entry));
    }
  }

  void showAll() throws FsException {
    showBelow(Long.MAX_VALUE >>> 31);
  }

  /// Shows the entries whose major hash is below `major`; the others go on waiting.
  void showBelow(long major) throws FsException {
    waiting.sort(Comparator.comparingLong(Item::key).thenComparing(Item::name));
    int shown = 0;
    int rank = 0;
    while (!ended && shown < waiting.size() && waiting.get(shown).key() < major << 31) {
      Item item = waiting.get(shown);
      rank = shown > 0 && waiting.get(shown - 1).key() == item.key() ? rank + 1 : 0;
      if (rank == RANKS) {
        throw DirectoryDamage.of(dir, "more than " + RANKS + " names have the same hash");
      }
      long position = item.key() | rank;
      if (position >= start) {
        show(item.name(), item.entry(), FIRST + position + 1);
      }
      shown++;
    }
    waiting.subList(0, shown).clear();
  }

  private void show(FileName name, DirectoryEntry entry, long next) {
    FileType type = FileType.ofEntryCode(entry.typeCode());
    ended = !visitor.entry(name, entry.ino(), type, next);
  }
}
