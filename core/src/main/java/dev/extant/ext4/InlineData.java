package dev.extant.ext4;

import dev.extant.ext4.format.InlineArea;
import dev.extant.ext4.format.RawInode;
import dev.extant.journal.Handle;
import dev.extant.journal.Journal;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The content of regular files that lies in the inode itself (Linux documentation, "Inline Data").
///
/// A file without content begins here if it can, and leaves the inode for good when it outgrows it.
///
/// Invariants:
/// 1. A file whose content is in its inode has no blocks and no pages.
/// 2. The content changes like other metadata, in one handle with size and times; so an fsync needs
///    the inode's transaction only.
/// 3. Leaving the inode and getting the first block happen in one handle, which orders the block's
///    content before its commit whatever the data mode is: what was durable in the inode stays so.
/// 4. Bytes behind what the inode holds, up to the file's size, are zero. Linux leaves such files.
///
/// Callers hold the inode's `lock`, for reading or, to change something, for writing.
final class InlineData {
  private final Journal journal;
  private final InodeTable inodes;
  private final ModificationTimes times;
  private final boolean extents;

  /// `extents`: the file system has extents, so that a file without blocks has an empty tree.
  InlineData(Journal journal, InodeTable inodes, ModificationTimes times, boolean extents) {
    this.journal = journal;
    this.inodes = inodes;
    this.times = times;
    this.extents = extents;
  }

  boolean covers(Inode inode) {
    return inode.hasFlag(RawInode.EXT4_INLINE_DATA_FL);
  }

  /// True if the inode has room for a content of that length.
  boolean fits(Inode inode, long sizeBytes) throws IOException {
    return sizeBytes <= InlineArea.capacity(inode.raw, inode.ino());
  }

  /// Reads the whole target, which does not reach beyond the end of the file.
  void read(Inode inode, long offset, MemorySegment target) throws IOException {
    byte[] content = InlineArea.read(inode.raw, inode.ino());
    long count = Math.clamp(content.length - offset, 0, target.byteSize());
    MemorySegment.copy(
        MemorySegment.ofArray(content), Math.min(offset, content.length), target, 0, count);
    target.asSlice(count).fill((byte) 0);
  }

  /// Writes into a file that is here or, if it is empty, may come here; its content then fits.
  void write(Inode inode, long offset, MemorySegment source) throws IOException {
    long size = Math.max(RawInode.size(inode.raw), offset + source.byteSize());
    byte[] content = content(inode, size);
    MemorySegment.copy(
        source, ValueLayout.JAVA_BYTE, 0, content, (int) offset, (int) source.byteSize());
    store(inode, content);
  }

  /// Sets the size of a file that is here; it then fits.
  void truncate(Inode inode, long sizeBytes) throws IOException {
    store(inode, content(inode, sizeBytes));
  }

  /// The content cut off or filled up with zeroes to that size.
  private byte[] content(Inode inode, long sizeBytes) throws IOException {
    byte[] content = new byte[(int) sizeBytes];
    if (covers(inode)) {
      byte[] old = InlineArea.read(inode.raw, inode.ino());
      int count = (int) Math.min(Math.min(old.length, RawInode.size(inode.raw)), content.length);
      System.arraycopy(old, 0, content, 0, count);
    }
    return content;
  }

  private void store(Inode inode, byte[] content) throws IOException {
    try (Handle handle = journal.start(FileData.INODE_CREDITS)) {
      InlineArea.store(inode.raw, inode.ino(), content);
      RawInode.size(inode.raw, content.length);
      ModificationTimes.apply(inode.raw, times.now());
      inodes.update(handle, inode, true);
    }
  }

  /// The next data (or hole) at or behind `offset`, which is before the end of the file; -1 if
  /// there is none.
  long seek(Inode inode, long offset, boolean data) throws IOException {
    long size = RawInode.size(inode.raw);
    long end = Math.min(size, InlineArea.read(inode.raw, inode.ino()).length);
    if (data) {
      return offset < end ? offset : -1;
    }
    return Math.max(offset, end);
  }

  /// How a file that leaves its inode gets its first block, in a handle that
  /// [BlockMap#allocateCredits] is enough for, if it runs `departure` first.
  interface FirstBlock {
    void fill(byte[] content, Departure departure) throws IOException;
  }

  /// The change of the inode, within the handle.
  interface Departure {
    /// Makes the inode one that maps blocks and has none.
    void leave() throws IOException;

    /// Undoes that, where there is no block to be had.
    void stay(Handle handle) throws IOException;
  }

  /// Moves the content to a block of the file; does nothing if it is not here. The size stays. On a
  /// full disk ENOSPC, and the file stays as it is.
  void leave(Inode inode, FirstBlock block) throws IOException {
    if (!covers(inode)) {
      return;
    }
    byte[] held = InlineArea.read(inode.raw, inode.ino());
    int length = (int) Math.min(held.length, RawInode.size(inode.raw));
    Departure departure = departure(inode);
    if (length > 0) {
      block.fill(content(inode, length), departure);
    } else {
      try (Handle handle = journal.start(FileData.INODE_CREDITS)) {
        departure.leave();
        inodes.update(handle, inode, true);
      }
    }
  }

  private Departure departure(Inode inode) {
    MemorySegment before = MemorySegment.ofArray(inode.raw.toArray(ValueLayout.JAVA_BYTE));
    return new Departure() {
      @Override
      public void leave() throws IOException {
        InlineArea.remove(inode.raw, inode.ino());
        if (extents) {
          ExtentTree.initialise(inode.raw);
        }
      }

      @Override
      public void stay(Handle handle) throws IOException {
        inode.raw.copyFrom(before);
        inodes.update(handle, inode, true);
      }
    };
  }
}
