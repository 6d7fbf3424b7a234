package dev.extant.fsck;

import dev.extant.ext4.format.RawInode;
import dev.extant.ext4.format.Superblock;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// The links that each inode says it has, and the references to it that were found: entries of
/// directories, or extended attributes whose value it holds. Four bytes an inode, in chunks that
/// are made when first touched. For any number of threads.
final class LinkCounts implements InodeVisitor {
  /// A directory may have one link, for too many, above this many.
  private static final int MAX_DIRECTORY_LINKS = 65_000;

  /// Both counts have 16 bits; this one means this many or more.
  private static final int MAX_COUNT = 0xffff;

  private static final int CHUNK_SHIFT = 14;
  private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(int[].class);

  private final CheckContext context;
  private final AtomicReferenceArray<int[]> chunks;

  LinkCounts(CheckContext context) {
    this.context = context;
    int count = Math.toIntExact((context.layout().inodesCount() >>> CHUNK_SHIFT) + 1);
    this.chunks = new AtomicReferenceArray<>(count);
  }

  @Override
  public void visit(ScannedInode inode) {
    int[] words = words(inode.ino());
    WORDS.getAndBitwiseOr(words, inChunk(inode.ino()), RawInode.linksCount(inode.raw()));
  }

  /// Counts a reference to an inode, whose number lies within the file system.
  void addReference(long ino) {
    int[] words = words(ino);
    int index = inChunk(ino);
    int old;
    do {
      old = (int) WORDS.getVolatile(words, index);
      if (old >>> 16 == MAX_COUNT) {
        return;
      }
    } while (!WORDS.compareAndSet(words, index, old, old + (1 << 16)));
  }

  int references(long ino) {
    int[] words = chunks.get((int) (ino >>> CHUNK_SHIFT));
    return words == null ? 0 : (int) WORDS.getVolatile(words, inChunk(ino)) >>> 16;
  }

  /// Compares the counts, when all references are counted.
  void check() {
    for (int chunk = 0; chunk < chunks.length(); chunk++) {
      int[] words = chunks.get(chunk);
      for (int i = 0; words != null && i < words.length; i++) {
        if (words[i] != 0) {
          check(((long) chunk << CHUNK_SHIFT) + i, words[i] & MAX_COUNT, words[i] >>> 16);
        }
      }
    }
  }

  private void check(long ino, int links, int references) {
    InodeStates inodes = context.inodes();
    if (!inodes.used(ino) || special(ino)) {
      return;
    }
    if (inodes.has(ino, InodeStates.EA_INODE) && AttributeInodes.possible(context, ino)) {
      checkAttributeInode(ino, references);
    } else if (references == 0) {
      if (links > 0 && !inodes.directory(ino)) {
        context.report(Problem.INODE_UNATTACHED, ino, 0, "it has " + links + " links");
      }
    } else if (links != expected(ino, references) && !uncounted(ino, links)) {
      String text = "it is " + links + ", should be " + expected(ino, references);
      context.report(Problem.LINK_COUNT, ino, 0, text);
    }
  }

  private int expected(long ino, int references) {
    boolean many = context.inodes().directory(ino) && references > MAX_DIRECTORY_LINKS;
    return many ? 1 : references;
  }

  /// An indexed directory that had too many subdirectories to count them keeps the count 1 when it
  /// has fewer.
  private boolean uncounted(long ino, int links) {
    if (links != 1 || !context.inodes().directory(ino)) {
      return false;
    }
    MemorySegment raw = context.readInode(ino);
    return raw != null && RawInode.hasFlag(raw, RawInode.EXT4_INDEX_FL);
  }

  private void checkAttributeInode(long ino, int references) {
    if (references == 0) {
      context.report(Problem.INODE_UNATTACHED, ino, 0, "it holds the value of no attribute");
      return;
    }
    MemorySegment raw = context.readInode(ino);
    if (raw == null || references == MAX_COUNT || lustre(raw)) {
      return;
    }
    long refcount = AttributeInodes.refcount(raw);
    if (refcount != references) {
      String text = "it is " + refcount + ", should be " + references;
      context.report(Problem.EA_INODE_REFCOUNT, ino, 0, text);
    }
  }

  private boolean lustre(MemorySegment raw) {
    long owner = AttributeInodes.owner(raw);
    MemorySegment ownerRaw = context.readInode(owner);
    return ownerRaw != null
        && AttributeInodes.isLustre(raw, new ScannedInode(owner, ownerRaw, true));
  }

  /// True if no directory has an entry for it.
  private boolean special(long ino) {
    return ino != Superblock.ROOT_INO && ino < context.layout().firstInode()
        || SpecialInodes.isHidden(context, ino);
  }

  private int[] words(long ino) {
    int chunk = (int) (ino >>> CHUNK_SHIFT);
    int[] words = chunks.get(chunk);
    if (words == null) {
      int[] fresh = new int[1 << CHUNK_SHIFT];
      words = chunks.compareAndSet(chunk, null, fresh) ? fresh : chunks.get(chunk);
    }
    return words;
  }

  private static int inChunk(long ino) {
    return (int) ino & (1 << CHUNK_SHIFT) - 1;
  }
}
