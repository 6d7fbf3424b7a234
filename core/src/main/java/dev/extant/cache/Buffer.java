package dev.extant.cache;

import java.lang.foreign.MemorySegment;

/// A buffer head: one metadata block in memory. It is not used for file data (see the page cache).
///
/// Its segment is the same for the buffer's whole life. A buffer is handed out pinned by
/// [BufferCache] and must be closed once per hand-out; while it is pinned, dirty, or has an
/// attachment it is never evicted.
///
/// Who may change the bytes, and under which lock, is decided by the owner of the block (ext4) and
/// the journal; the cache only moves them.
public final class Buffer implements AutoCloseable {
  private final BufferCache cache;
  private final long blockNr;
  private final MemorySegment data;

  /// Number of hand-outs not yet closed; guarded by the cache.
  int pins;

  /// Bytes are those of the disk or newer; guarded by the cache.
  boolean upToDate;

  private volatile boolean dirty;
  private volatile boolean verified;
  private volatile Object attachment;

  Buffer(BufferCache cache, long blockNr, MemorySegment data) {
    this.cache = cache;
    this.blockNr = blockNr;
    this.data = data;
  }

  public long blockNr() {
    return blockNr;
  }

  /// The block's bytes, exactly one block long.
  public MemorySegment data() {
    return data;
  }

  /// Must be written home before it may leave the cache. With a journal it is set only once the
  /// block's transaction is in the log.
  public boolean dirty() {
    return dirty;
  }

  public void dirty(boolean value) {
    dirty = value;
  }

  /// The owner checked the block's checksum and structure since it was read.
  public boolean verified() {
    return verified;
  }

  public void verified(boolean value) {
    verified = value;
  }

  /// The journal's state of this buffer, null when no transaction knows it. Owned by the journal.
  public Object attachment() {
    return attachment;
  }

  public void attachment(Object value) {
    attachment = value;
  }

  /// One more hand-out of a buffer that is pinned already.
  public Buffer pin() {
    cache.pin(this);
    return this;
  }

  @Override
  public void close() {
    cache.unpin(this);
  }
}
