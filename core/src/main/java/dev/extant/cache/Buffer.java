package dev.extant.cache;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;

/// A buffer head: one metadata block in memory. It is not used for file data (see the page cache).
///
/// Its segment is the same for the buffer's whole life. A buffer is handed out pinned by
/// [BufferCache] and must be closed once per hand-out; while it is pinned, dirty, or has an
/// attachment it is never evicted (I8).
///
/// Who may change the bytes, and under which lock, is decided by the owner of the block (ext4) and
/// the journal; the cache only moves them.
public final class Buffer implements AutoCloseable {
  private static final VarHandle PINS;
  private static final VarHandle ATTACHMENT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      PINS = lookup.findVarHandle(Buffer.class, "pins", int.class);
      ATTACHMENT = lookup.findVarHandle(Buffer.class, "attachment", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final BufferCache cache;
  private final long blockNr;
  private final MemorySegment data;

  /// The next buffer of the same hash chain; guarded by the stripe's lock.
  Buffer next;

  /// The read in flight, null when there is none; written under the stripe's lock.
  volatile CompletableFuture<Void> loading;

  /// Bytes are those of the disk or newer; written under the stripe's lock.
  volatile boolean upToDate;

  /// False once the buffer has left the cache's table; written under the stripe's lock.
  volatile boolean mapped = true;

  /// Left the cache's table while it was pinned: whoever closes it last gives its memory back.
  /// (Evicting gives back the memory itself, maybe before who closed it last goes on.)
  volatile boolean abandoned;

  /// Was handed out since the eviction hand came by last.
  volatile boolean referenced;

  /// Number of hand-outs not yet closed. Grows from zero only under the stripe's lock, so that who
  /// holds the lock and sees zero may evict.
  private volatile int pins;

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

  /// Sets the attachment if there is none yet; returns the one that is there afterwards.
  public Object attachIfAbsent(Object value) {
    Object there = ATTACHMENT.compareAndExchange(this, null, value);
    return there == null ? value : there;
  }

  /// One more hand-out of a buffer that is pinned already.
  public Buffer pin() {
    PINS.getAndAdd(this, 1);
    return this;
  }

  boolean evictable() {
    // Pins first: an attachment or a dirty mark made while pinned is seen once the pin is gone.
    return pins == 0 && !dirty && attachment == null;
  }

  /// Waits for the read in flight, if there is one.
  void awaitLoaded() throws IOException {
    CompletableFuture<Void> read = loading;
    if (read != null) {
      BufferCache.join(read);
    }
  }

  @Override
  public void close() {
    int before = (int) PINS.getAndAdd(this, -1);
    if (before <= 0) {
      PINS.getAndAdd(this, 1);
      throw new IllegalStateException("buffer of block " + blockNr + " closed too often");
    }
    if (before == 1 && abandoned) {
      cache.recycle(this);
    }
  }
}
